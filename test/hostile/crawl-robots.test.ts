/** B8, as a whole crawl meets it: what a robots.txt, or the lack of one, does to its site's URLs. */

import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import {
  type Asked,
  crawlInVirtualTime,
  crawlSites,
  html,
  redirectTo,
  type Reply,
  startTestSite,
} from "./crawl-sites.ts";
import { every } from "../../src/base/patient-clock.suite.ts";

/** The loops' minutes are over in moments; servers and time-outs keep real time. */
const HURRY = 20;
/** A busy machine may see a request so much later than the one after it. */
const SEEN_LATE_MS = 25;
const FORBIDS_CLOSED = "User-agent: *\nDisallow: /closed\n";

/** Two pages behind the robots.txt in question. */
function behind(robots: (asked: Asked) => Reply): (asked: Asked) => Reply {
  return (asked) => {
    if (asked.path === "/robots.txt") return robots(asked);
    if (asked.path === "/") return html("/closed/x", "/open");
    return asked.path === "/open" || asked.path === "/closed/x" ? html() : undefined;
  };
}

function plain(body: string | Uint8Array, headers: Record<string, string> = {}): Reply {
  return { headers: { "content-type": "text/plain", ...headers }, body };
}

/** Rules, and then comments without end. */
function flood(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/plain" });
  response.write(FORBIDS_CLOSED);
  const block = "# more and more and more\n".repeat(2_000);
  const pour = (): void => {
    while (!response.destroyed && response.write(block));
  };
  response.on("drain", pour).on("error", () => {});
  pour();
}

/** The same rules, and the promise of a gigabyte. */
function huge(response: ServerResponse): void {
  response.writeHead(200, { "content-length": "1000000000" });
  response.write(FORBIDS_CLOSED);
}

/** A byte now and then, for ever. */
function drip(response: ServerResponse): void {
  response.writeHead(200);
  response
    .on(
      "close",
      every(50, () => response.write("#")),
    )
    .on("error", () => {});
}

describe("O1: a robots.txt that cannot be had closes its site, and is asked for again", () => {
  const troubles: Readonly<Record<string, Reply>> = {
    "answers 500": { status: 500 },
    "answers 503": { status: 503 },
    "resets the connection": (response) => void response.socket?.resetAndDestroy(),
    "never answers": () => {},
    "stalls in the middle": (response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("User-agent: *\n");
    },
    "ends too soon": (response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("User-agent: *\n", () => response.destroy());
    },
    "sends half of a gzip stream": plain(gzipSync(FORBIDS_CLOSED).subarray(0, 25), {
      "content-encoding": "gzip",
    }),
    "sends a gzip bomb": plain(gzipSync(Buffer.alloc(40_000_000)), { "content-encoding": "gzip" }),
  };
  for (const [does, reply] of Object.entries(troubles))
    test(`O1: a server that ${does}`, async () => {
      await using site = await startTestSite(behind(() => reply));
      const { result, reasons } = await crawlSites([`${site.origin}/`], {}, { hurry: HURRY });
      // A file that arrives and cannot be read is definitive; every other trouble may pass.
      const isDefinitive = does.includes("gzip");
      const reason = isDefinitive ? "robots_unreachable" : "pending";
      assert.equal(reasons.get(`${site.origin}/`), reason);
      assert.deepEqual(site.paths(), []);
      assert.ok(site.asked.length >= 2, `asked ${site.asked.length} times`);
      assert.equal(result.complete, isDefinitive);
    });

  test("O1: a server that recovers in time is crawled", async () => {
    let asks = 0;
    await using site = await startTestSite(
      behind(() => (++asks === 1 ? { status: 500 } : plain(FORBIDS_CLOSED))),
    );
    const { result } = await crawlSites([`${site.origin}/`], {}, { hurry: HURRY });
    assert.equal(result.pages, 2);
    assert.equal(result.outcomes["robots_denied"], 1);
  });

  test("O1: a closed site holds up no other", async () => {
    await using dead = await startTestSite(behind(() => ({ status: 500 })));
    await using site = await startTestSite(behind(() => undefined));
    const seeds = [`${dead.origin}/`, `${site.origin}/`];
    const { result } = await crawlSites(seeds, {}, { hurry: HURRY });
    assert.equal(result.pages, 3);
    assert.deepEqual([result.urls.pending, result.unreachable.count], [1, 1]);
  });
});

describe("B8: robots.txt that says little, much or nonsense", () => {
  for (const status of [400, 401, 403, 404, 410, 451])
    test(`O2: status ${status} leaves the site open`, async () => {
      await using site = await startTestSite(behind(() => ({ status, body: FORBIDS_CLOSED })));
      const { result } = await crawlSites([`${site.origin}/`]);
      assert.equal(result.pages, 3);
    });

  test("O3: status 429 closes the site until it answers", async () => {
    const busy: Reply = { status: 429, headers: { "retry-after": "2" } };
    await using site = await startTestSite(behind(() => busy));
    const { reasons } = await crawlSites([`${site.origin}/`], {}, { hurry: HURRY });
    assert.equal(reasons.get(`${site.origin}/`), "pending");
    assert.deepEqual(site.paths(), []);
    const [first, second] = site.asked;
    assert.ok(first !== undefined && second !== undefined);
    assert.ok((second.atMs - first.atMs + SEEN_LATE_MS) * HURRY >= 2_000, "it waited as asked");
  });

  test("O4: a login page with status 200 forbids nothing", async () => {
    const login = `<!doctype html><title>Log in</title><form>Disallow what? ${"<p>".repeat(50)}`;
    await using site = await startTestSite(behind(() => login));
    assert.equal((await crawlSites([`${site.origin}/`])).result.pages, 3);
  });

  test("O5: of an endless file the first 512 KiB rule", async () => {
    await using site = await startTestSite(behind(() => flood));
    const { result, reasons } = await crawlSites([`${site.origin}/`]);
    assert.equal(reasons.get(`${site.origin}/closed/x`), "robots_denied");
    assert.equal(result.pages, 2);
    assert.ok(result.bytes < 2_000_000, `${result.bytes} bytes`);
  });

  test("O5: a file that announces a gigabyte opens no closed door", async () => {
    await using site = await startTestSite(behind(() => huge));
    await crawlSites([`${site.origin}/`], {}, { hurry: HURRY });
    assert.ok(!site.paths().includes("/closed/x"));
  });

  for (const hops of [5, 6])
    test(`O7: ${hops} redirects on the way to robots.txt`, async () => {
      await using other = await startTestSite({ "/rules": plain(FORBIDS_CLOSED) });
      const pages = behind(() => redirectTo("/hop/1"));
      await using site = await startTestSite((asked) => {
        const hop = Number(/^\/hop\/(\d)$/.exec(asked.path)?.[1] ?? 0);
        if (hop === 0) return pages(asked);
        return redirectTo(hop === hops - 1 ? `${other.origin}/rules` : `/hop/${hop + 1}`);
      });
      const { result } = await crawlSites([`${site.origin}/`]);
      const isRead = hops === 5;
      // Wherever they stand, they are the rules of the host first asked; beyond five there are none.
      assert.equal(result.outcomes["robots_denied"] ?? 0, isRead ? 1 : 0);
      assert.equal(other.asked.length, isRead ? 1 : 0);
    });

  test("O7: redirects of robots.txt keep the pace of their site", async () => {
    const delayMs = 60;
    const pages = behind(() => redirectTo("/hop/1"));
    await using site = await startTestSite((asked) => {
      const hop = Number(/^\/hop\/(\d)$/.exec(asked.path)?.[1] ?? 0);
      if (hop === 0) return pages(asked);
      return hop < 4 ? redirectTo(`/hop/${hop + 1}`) : plain(FORBIDS_CLOSED);
    });
    await crawlSites([`${site.origin}/`], { delayMs });
    const times = site.asked.map(({ atMs }) => atMs);
    for (const [index, atMs] of times.entries())
      if (index > 0)
        assert.ok(atMs - (times[index - 1] ?? 0) >= delayMs - SEEN_LATE_MS, times.join());
  });

  test("O8: a redirect of robots.txt into the private network closes the site", async () => {
    await using inner = await startTestSite({ "/robots.txt": plain(FORBIDS_CLOSED) });
    const target = `http://127.0.0.2:${inner.port}/robots.txt`;
    await using site = await startTestSite(behind(() => redirectTo(target)));
    const settings = { allowPrivate: ["127.0.0.1"] };
    const { reasons } = await crawlSites([`${site.origin}/`], settings, { hurry: HURRY });
    assert.equal(reasons.get(`${site.origin}/`), "robots_unreachable");
    assert.deepEqual(inner.asked, []);
    assert.deepEqual(site.paths(), []);
  });

  for (const [said, delayMs] of [
    ["0.001", 1],
    ["-1", 0],
    ["NaN", 0],
    ["ten", 0],
    ["2", 2_000],
    ["1e9", 60_000],
  ] as const)
    test(`O9: Crawl-delay: ${said} makes pauses of ${delayMs} ms`, async () => {
      const hurry = delayMs > 10_000 ? 500 : 20;
      const robots = plain(`User-agent: *\nCrawl-delay: ${said}\n`);
      await using site = await startTestSite(behind(() => robots));
      const { result } = await crawlSites([`${site.origin}/`], { sitemaps: false }, { hurry });
      assert.equal(result.pages, 3);
      assert.equal(result.refusedLinks["crawl_delay_excessive"] ?? 0, delayMs === 60_000 ? 1 : 0);
      const times = site.asked.map(({ atMs }) => atMs * hurry);
      for (const [index, atMs] of times.entries())
        if (index > 0)
          assert.ok(
            atMs - (times[index - 1] ?? 0) >= delayMs - SEEN_LATE_MS * hurry,
            `${times.join()}`,
          );
    });

  test("O13: a robots.txt that drips for ever closes the site within its budget", async () => {
    await using site = await startTestSite(behind(() => drip));
    const { reasons } = await crawlSites([`${site.origin}/`], {}, { hurry: HURRY });
    assert.equal(reasons.get(`${site.origin}/`), "pending");
  });

  test("O14: of 100,000 Sitemap lines 500 are read, none by another scheme or out of scope", async () => {
    await using other = await startTestSite({ "/sitemap.xml": html() });
    const lines = Array.from({ length: 100_000 }, (_, index) => `Sitemap: ORIGIN/map/${index}.xml`);
    const odd = ["Sitemap: /relative.xml", "Sitemap: file:///etc/passwd", "Sitemap: ftp://x/y"];
    const away = `Sitemap: ${other.origin}/sitemap.xml`;
    await using site = await startTestSite(
      behind(({ host }) =>
        plain([...odd, away, ...lines].join("\n").replaceAll("ORIGIN", `http://${host}`)),
      ),
    );
    const { result } = await crawlSites([`${site.origin}/`]);
    assert.equal(result.pages, 3);
    const maps = site.paths().filter((path) => path.startsWith("/map/"));
    assert.equal(new Set(maps).size, maps.length);
    assert.equal(maps.length, 500);
    const caps = result.caps.map(({ cap, count }) => [cap, count]);
    assert.deepEqual(caps, [
      ["sitemap_capped", 499],
      ["robots_capped", 1],
    ]);
    assert.deepEqual(other.asked, []);
    assert.equal(site.paths().filter((path) => path === "/relative.xml").length, 0);
  });

  test("P9: what is forbidden is never asked for, the customary sitemap included", async () => {
    await using site = await startTestSite(behind(() => plain("User-agent: *\nDisallow: /")));
    const { reasons } = await crawlSites([`${site.origin}/`]);
    assert.equal(reasons.get(`${site.origin}/`), "robots_denied");
    assert.deepEqual(
      site.asked.map(({ path }) => path),
      ["/robots.txt"],
    );
  });
});

test("O11, O12: rules that change while 2,000 URLs wait are read within a day, and none forbidden is asked for after that", async () => {
  const pageCount = 2_000;
  const changeMs = 20 * 3_600_000;
  const { result, asked } = await crawlInVirtualTime((path, atMs) => {
    if (path === "/robots.txt")
      return `User-agent: *\nCrawl-delay: 60\n${atMs < changeMs ? "" : "Disallow: /odd/\n"}`;
    const numbers = path === "/" ? Array.from({ length: pageCount }, (_, number) => number) : [];
    const links = numbers.map((number) => `/${number % 2 === 0 ? "even" : "odd"}/${number}`);
    return `${html(...links)}<p>${path}`;
  });
  const refreshed = asked.findIndex(({ path, atMs }) => path === "/robots.txt" && atMs >= changeMs);
  assert.ok(refreshed > 0, "the rules were read again");
  assert.ok((asked[refreshed]?.atMs ?? 0) <= 24 * 3_600_000 + 120_000, "within a day");
  const after = asked.slice(refreshed + 1).map(({ path }) => path);
  assert.deepEqual(
    after.filter((path) => path.startsWith("/odd/")),
    [],
  );
  assert.ok(after.length > 100, "the rest was fetched");
  assert.equal(result.urls.pending, 0);
  assert.ok((result.outcomes["robots_denied"] ?? 0) > 100);
});
