/** Sites in trouble, names that lead nowhere, a machine at its limits, and content seen before. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { crawl } from "../../src/crawl/library.ts";
import type { Resolver } from "../../src/fetch/resolver.ts";
import { NO_TRAFFIC, type Transport } from "../../src/fetch/transport.ts";
import {
  crawlInVirtualTime,
  crawlSites,
  html,
  realPagesIn,
  realSite,
  type Reply,
  startTestSite,
  type TestSite,
} from "./crawl-sites.ts";
import { patientClock } from "../../src/base/patient-clock.suite.ts";

/** The loops' minutes are over in moments; servers and time-outs keep real time. */
const HURRY = 50;
/** A busy machine may see a request so much later than the one after it. */
const SEEN_LATE_MS = 25;
const REAL_PAGES = 50;
const real = realSite(REAL_PAGES);

function startRealSite(): Promise<TestSite> {
  return startTestSite(({ path }) => real(path));
}

const reset: Reply = (response) => void response.socket?.resetAndDestroy();

/** A port where no listener. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("H18: a site that asks for patience gets it, and its page is fetched in the end", () => {
  const past = "Mon, 01 Jan 2001 00:00:00 GMT";
  for (const [status, after, leastMs] of [
    [429, "1", 1_000],
    [503, "2", 2_000],
    [429, "soon", 500],
    [503, past, 500],
    [503, undefined, 500],
    [429, "-5", 500],
  ] as const)
    test(`H18: status ${status} with Retry-After ${after ?? "absent"}`, async () => {
      let asks = 0;
      const busy: Reply = { status, headers: after === undefined ? {} : { "retry-after": after } };
      await using site = await startTestSite(({ path }) => {
        if (path === "/robots.txt" || path === "/sitemap.xml") return undefined;
        if (path === "/busy") return ++asks <= 2 ? busy : html();
        return path === "/" ? html("/busy", "/other") : html();
      });
      const hurry = 10;
      const { result, reasons } = await crawlSites(
        [`${site.origin}/`],
        { retriesMax: 2 },
        { hurry },
      );
      assert.equal(reasons.get(`${site.origin}/busy`), "ok");
      assert.equal(result.urls.failed, 0);
      const times = site.asked.filter(({ path }) => path === "/busy").map(({ atMs }) => atMs);
      assert.equal(times.length, 3);
      for (const [index, atMs] of times.entries()) {
        const before = times[index - 1];
        if (before !== undefined)
          assert.ok((atMs - before + SEEN_LATE_MS) * hurry >= leastMs, times.join());
      }
    });

  test("H18: URLs that are busy for ever end by that, and hold up no other", async () => {
    await using site = await startTestSite(({ path }) => {
      if (path === "/robots.txt" || path === "/sitemap.xml") return undefined;
      return path === "/" ? html("/1", "/2", "/3") : { status: 429 };
    });
    await using other = await startRealSite();
    const seeds = [`${site.origin}/`, `${other.origin}/`];
    const report = await crawlSites(seeds, {}, { hurry: HURRY });
    assert.equal(realPagesIn(report, other.origin), REAL_PAGES);
    assert.equal(report.result.outcomes["http_429"], 3);
    assert.equal(report.result.complete, true);
    assert.ok(site.asked.length < 40, `${site.asked.length} requests`);
  });
});

describe("hosts that fail", () => {
  test("H18: one URL that is always busy costs its site nothing else", async () => {
    for (const status of [503, 429]) {
      const links = Array.from({ length: 100 }, (_, index) => `/page/${index}`);
      await using site = await startTestSite(({ path }) => {
        if (path === "/robots.txt" || path === "/sitemap.xml") return undefined;
        if (path === "/bad") return { status };
        return path === "/" ? html("/bad", ...links) : html();
      });
      // Its pages are alike, and learning would leave most of them out.
      const settings = { traps: "off" } as const;
      const { result, reasons } = await crawlSites([`${site.origin}/`], settings, { hurry: HURRY });
      assert.equal(result.pages, 101);
      assert.equal(reasons.get(`${site.origin}/bad`), `http_${status}`);
      assert.equal(site.paths().filter((path) => path === "/bad").length, 2, "its attempts");
    }
  });

  test("H19: 5xx for every page leaves them pending, and other hosts are complete", async () => {
    const links = Array.from({ length: 500 }, (_, index) => `/broken/${index}`);
    await using broken = await startTestSite(({ path }) => {
      if (path === "/robots.txt" || path === "/sitemap.xml") return undefined;
      return path === "/" ? html(...links) : { status: 500 };
    });
    await using other = await startRealSite();
    const seeds = [`${broken.origin}/`, `${other.origin}/`];
    const report = await crawlSites(seeds, {}, { hurry: HURRY });
    assert.equal(realPagesIn(report, other.origin), REAL_PAGES);
    const { urls, complete, stoppedBy } = report.result;
    assert.deepEqual([urls.failed, urls.pending], [0, links.length]);
    assert.deepEqual([complete, stoppedBy], [false, "1 site could not be reached"]);
    assert.ok(broken.asked.length < 60, `${broken.asked.length} requests to a dead host`);
  });

  test("H19: a host that recovers after its rest is crawled to the end", async () => {
    let asks = 0;
    await using site = await startTestSite(({ path }) => {
      if (path === "/robots.txt" || path === "/sitemap.xml") return undefined;
      return ++asks > 10 && asks < 33 ? { status: 502 } : real(path);
    });
    const changes = { retriesMax: 5, patienceMs: 1_000_000 };
    const report = await crawlSites([`${site.origin}/`], changes, { hurry: HURRY });
    assert.equal(realPagesIn(report, site.origin), REAL_PAGES);
  });

  test("T2: a host that refuses connections keeps its URLs pending", async () => {
    const origin = `http://127.0.0.1:${await closedPort()}`;
    const seeds = Array.from({ length: 200 }, (_, index) => `${origin}/${index}`);
    await using other = await startRealSite();
    const report = await crawlSites([...seeds, `${other.origin}/`], {}, { hurry: HURRY });
    assert.equal(realPagesIn(report, other.origin), REAL_PAGES);
    const { urls, complete, unreachable } = report.result;
    assert.deepEqual([urls.pending, complete], [seeds.length, false]);
    assert.equal(unreachable.count, 1);
    assert.equal(unreachable.first[0]?.reason, "connect_refused");
  });

  test("T2: without a robots.txt to ask for, probes become rare after three refusals", async () => {
    const origin = `http://127.0.0.1:${await closedPort()}`;
    const seeds = Array.from({ length: 200 }, (_, index) => `${origin}/${index}`);
    let tries = 0;
    const report = await crawlSites(
      seeds,
      { ignoreRobots: true },
      { hurry: HURRY, wrapTransport: (transport) => counting(transport, () => tries++) },
    );
    assert.equal(report.result.urls.pending, 200);
    assert.ok(tries <= 20, `${tries} tries`);
  });

  test("T3: pages that reset every connection end, since robots.txt is served", async () => {
    await using site = await startTestSite(({ path }) =>
      path === "/robots.txt" ? undefined : path === "/" ? html("/1", "/2", "/3", "/4") : reset,
    );
    const { result } = await crawlSites([`${site.origin}/`], {}, { hurry: HURRY });
    assert.equal(result.urls.failed, 4);
    assert.equal(result.urls.pending, 0);
  });
});

describe("names", () => {
  test("D1: a name that does not exist settles all URLs of its host by one look-up", async () => {
    const lookUps = new Map<string, number>();
    await using other = await startRealSite();
    const resolver: Resolver = {
      resolve: (host) => {
        lookUps.set(host, (lookUps.get(host) ?? 0) + 1);
        return Promise.resolve(
          host === "gone.example"
            ? { kind: "failed", reason: "dns_nxdomain", detail: "no such name" }
            : { kind: "addresses", addresses: ["127.0.0.1"] },
        );
      },
    };
    const seeds = Array.from({ length: 1_000 }, (_, index) => `http://gone.example/${index}`);
    const alive = `http://alive.example:${other.port}`;
    const report = await crawlSites([...seeds, `${alive}/`], {}, { resolver });
    assert.equal(report.result.outcomes["dns_nxdomain"], seeds.length);
    assert.equal(realPagesIn(report, alive), REAL_PAGES);
    assert.equal(lookUps.get("gone.example"), 1);
  });

  for (const [id, host, reason] of [
    ["D1", "gone.example", "dns_nxdomain"],
    ["D10", "10.1.2.3", "ssrf_blocked"],
  ] as const)
    test(`${id}: links on every page to a host that is never asked end as ${reason}`, async () => {
      await using site = await startTestSite(({ path }) => {
        const links = Array.from({ length: 5 }, (_, index) => `http://${host}${path}${index}`);
        const page = real(path);
        return page === undefined ? undefined : page + html(...links);
      });
      const resolver: Resolver = {
        resolve: (name) =>
          Promise.resolve(
            name === host
              ? { kind: "failed", reason, detail: "at once, as from a cache" }
              : { kind: "addresses", addresses: ["127.0.0.1"] },
          ),
      };
      const origin = `http://alive.example:${site.port}`;
      const report = await crawlSites([`${origin}/`], { scope: "any" }, { resolver });
      assert.equal(realPagesIn(report, origin), REAL_PAGES);
      assert.equal(report.result.outcomes[reason], 5 * REAL_PAGES);
    });

  test("D2, D3: a resolver that is silent for a while loses no URL", async () => {
    let silences = 0;
    await using site = await startRealSite();
    const resolver: Resolver = {
      resolve: () =>
        Promise.resolve(
          ++silences <= 3
            ? { kind: "failed", reason: "dns_timeout", detail: "no answer" }
            : { kind: "addresses", addresses: ["127.0.0.1"] },
        ),
    };
    const origin = `http://alive.example:${site.port}`;
    const report = await crawlSites([`${origin}/`], {}, { resolver, hurry: HURRY });
    assert.equal(realPagesIn(report, origin), REAL_PAGES);
  });

  test("D2: a resolver that never answers leaves all pending", async () => {
    const resolver: Resolver = {
      resolve: async () => ({ kind: "failed", reason: "dns_timeout", detail: "no answer" }),
    };
    const seeds = Array.from({ length: 20 }, (_, index) => `http://n${index}.example/`);
    const { result } = await crawlSites(seeds, {}, { resolver, hurry: HURRY });
    assert.deepEqual(
      [result.urls.pending, result.unreachable.count, result.complete],
      [seeds.length, seeds.length, false],
    );
  });

  test("T14: a hundred names on one address share its pace and its crowd", async () => {
    let underWay = 0;
    let most = 0;
    await using site = await startTestSite(() => (response) => {
      most = Math.max(most, ++underWay);
      patientClock.after(3, () => {
        underWay--;
        response.end();
      });
    });
    const seeds = Array.from({ length: 100 }, (_, index) => `${site.named(`n${index}`)}/`);
    const settings = { concurrencyPerAddress: 3, addressDelayMs: 2, ignoreRobots: true };
    const { result } = await crawlSites(seeds, settings);
    assert.equal(result.pages, 100);
    assert.ok(most <= 3, `${most} at once`);
  });
});

describe("our own limits", () => {
  test("T16: with no descriptors left the crawl asks for less at once, and no URL fails", async () => {
    await using site = await startRealSite();
    let refusals = 0;
    const scarce = (transport: Transport): Transport => {
      let underWay = 0;
      return {
        async exchange(request) {
          if (underWay >= 2) {
            refusals++;
            const detail = "EMFILE: too many open files";
            return { kind: "failed", reason: "local_resource", detail, traffic: NO_TRAFFIC };
          }
          underWay++;
          try {
            return await transport.exchange(request);
          } finally {
            underWay--;
          }
        },
        setWindow: (bytes) => transport.setWindow(bytes),
        close: () => transport.close(),
      };
    };
    const seeds = Array.from({ length: 20 }, (_, index) => `${site.named(`n${index}`)}/`);
    const report = await crawlSites(seeds, {}, { hurry: HURRY, wrapTransport: scarce });
    assert.ok(refusals > 0, "the limit was met");
    assert.equal(report.result.urls.failed, 0, JSON.stringify(report.result.outcomes));
    assert.equal(report.result.pages, 20 * REAL_PAGES);
  });

  test("X5: a site that hangs holds up none of the many that wait for a place", async () => {
    const others = 800;
    let asked = 0;
    const answers: (() => void)[] = [];
    await using site = await startTestSite(({ path, host }) => {
      if (path !== "/") return undefined;
      if (host.startsWith("hangs")) return (response) => void answers.push(() => response.end());
      asked += 1;
      if (asked === others) for (const answer of answers) answer();
      return html();
    });
    const names = Array.from({ length: others }, (_, index) => `n${index}`);
    const seeds = ["hangs", ...names].map((name) => `${site.named(name)}/`);
    const patient = { firstByteTimeoutMs: 20_000, totalTimeoutMs: 25_000 };
    const settings = { ...patient, concurrencyPerAddress: 100, sitemaps: false };
    const { result } = await crawlSites(seeds, settings);
    assert.equal(result.pages, 1 + others);
  });

  test("X6: what is cut off by the end of the crawl has not failed", async () => {
    const cut = { timeMaxMs: 5_000, retriesMax: 0 };
    const robots = await crawlInVirtualTime(() => undefined, cut);
    assert.deepEqual(robots.result.urls, { known: 1, done: 0, failed: 0, skipped: 0, pending: 1 });
    const page = await crawlInVirtualTime((path) => (path === "/robots.txt" ? "" : undefined), cut);
    assert.equal(page.result.urls.pending, 1);
  });

  test("X6: a sitemap that the end of the crawl cut off is read the next time", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "weir-cut-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    let isOpen = false;
    await using site = await startTestSite(({ path, host }) => {
      if (path === "/sitemap.xml") return isOpen ? `http://${host}/listed` : () => {};
      return path === "/listed" ? html() : real(path);
    });
    const order = { urls: [`${site.origin}/`], outFolder: folder, allowPrivate: ["127.0.0.0/8"] };
    const first = await crawl({ ...order, timeMaxMs: 500, delayMs: 50 });
    assert.ok(first.urls.pending > 0, "it was stopped in the middle");
    isOpen = true;
    const second = await crawl(order);
    assert.equal(second.pages, REAL_PAGES + 1);
  });

  test("X6: a crawl whose servers all stall is over two seconds after its time", async () => {
    const timeMaxMs = 5_000;
    const { result } = await crawlInVirtualTime(() => undefined, { timeMaxMs });
    assert.equal(result.stoppedBy, "time limit");
    assert.equal(result.urls.pending, 1);
    assert.ok(result.seconds * 1000 <= timeMaxMs + 2_000, `${result.seconds} s`);
  });
});

describe("B13: content seen before", () => {
  test("C1: of a mirror on ten hosts nine are told to be copies", async () => {
    await using site = await startRealSite();
    const seeds = Array.from({ length: 10 }, (_, index) => `${site.named(`mirror${index}`)}/`);
    const { result, pages } = await crawlSites(seeds);
    assert.equal(result.pages, 10 * REAL_PAGES);
    assert.equal(result.duplicates.exact, 9 * REAL_PAGES);
    const originals = [...pages.values()].filter(({ likeness }) => likeness === undefined);
    assert.equal(originals.length, REAL_PAGES);
  });

  test("C2: pages that differ only by a clock are told to be near copies", async () => {
    const words = Array.from({ length: 400 }, (_, index) => `word${index * 7}`).join(" ");
    let clock = 0;
    await using site = await startTestSite(({ path }) => {
      if (path === "/robots.txt" || path === "/sitemap.xml") return undefined;
      const links = path === "/" ? html("/a", "/b", "/c") : "";
      return `<title>Clock</title><p>${words} ${links}<p>It is ${clock++}`;
    });
    const { result } = await crawlSites([`${site.origin}/`]);
    assert.equal(result.duplicates.exact, 0);
    assert.ok(result.duplicates.near >= 2, `${result.duplicates.near}`);
  });

  test("C5: a host that answers everything with one page is found out", async () => {
    const links = Array.from({ length: 30 }, (_, index) => `item${index}/`);
    await using site = await startTestSite(({ path }) => {
      if (path === "/robots.txt" || path === "/sitemap.xml") return undefined;
      return `<title>Please wait</title><p>Please wait. ${html(...links)}`;
    });
    const { result } = await crawlSites([`${site.origin}/`], { siteUrlsMax: 2_000 });
    assert.equal(result.duplicates.exact, result.pages - 1);
    assert.ok(result.pages < 1_000, `${result.pages} copies of one page were fetched`);
  });
});

function counting(transport: Transport, count: () => void): Transport {
  return {
    exchange: (request) => {
      count();
      return transport.exchange(request);
    },
    setWindow: (bytes) => transport.setWindow(bytes),
    close: () => transport.close(),
  };
}
