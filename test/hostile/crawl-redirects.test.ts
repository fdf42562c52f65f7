/** B4, as a whole crawl meets it: each hop goes back to the gate, so only here do chains exist. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { crawlSites, html, redirectTo, type Report, startTestSite } from "./crawl-sites.ts";

/** The reasons of the paths of one site, in the order of the paths. */
function ends(report: Report, origin: string, ...paths: string[]): (string | undefined)[] {
  return paths.map((path) => report.reasons.get(origin + path));
}

function refresh(to: string, seconds = 0): string {
  return `<meta http-equiv=refresh content="${seconds}; url=${to}"><p>${to}`;
}

describe("B4: redirects", () => {
  test("R1: a URL that redirects to itself is a loop, asked for once", async () => {
    await using site = await startTestSite({ "/": redirectTo("/#again") });
    const report = await crawlSites([`${site.origin}/`]);
    assert.deepEqual(ends(report, site.origin, "/"), ["redirect_loop"]);
    assert.equal(site.paths().length, 1);
  });

  for (const length of [2, 3, 4, 5, 6, 20])
    test(`R2: a loop of ${length} URLs ends where it closes or at the limit`, async () => {
      await using site = await startTestSite(({ path }) => {
        const number = /^\/loop\/(\d+)$/.exec(path)?.[1];
        if (number !== undefined) return redirectTo(`/loop/${(Number(number) + 1) % length}`);
        return path === "/" ? html("/loop/0") : undefined;
      });
      const report = await crawlSites([`${site.origin}/`]);
      const asked = site.paths().filter((path) => path.startsWith("/loop/"));
      const last = Math.min(length, 6) - 1;
      assert.deepEqual(
        asked,
        Array.from({ length: last + 1 }, (_, hop) => `/loop/${hop}`),
      );
      const expected = length <= 6 ? "redirect_loop" : "redirect_limit";
      assert.equal(report.reasons.get(`${site.origin}/loop/${last}`), expected);
      assert.equal(report.result.outcomes["redirect"] ?? 0, last);
    });

  test("R3: an endless chain of new URLs ends after five hops", async () => {
    await using site = await startTestSite(({ path }) => {
      if (path === "/robots.txt" || path === "/sitemap.xml") return undefined;
      return redirectTo(`/hop/${Number(/\d+$/.exec(path)?.[0] ?? 0) + 1}`);
    });
    const report = await crawlSites([`${site.origin}/`]);
    assert.equal(site.paths().length, 6);
    assert.equal(report.reasons.get(`${site.origin}/hop/5`), "redirect_limit");
    assert.equal(report.result.outcomes["redirect"], 5);
  });

  test("R4: a Location that is missing, empty, very long or no URL is a bad redirect", async () => {
    await using site = await startTestSite({
      "/": html("/missing", "/empty", "/long", "/none"),
      "/missing": { status: 302 },
      "/empty": redirectTo(""),
      "/long": redirectTo(`/${"x".repeat(10_000)}`),
      "/none": redirectTo("http://[::1"),
    });
    const { reasons } = await crawlSites([`${site.origin}/`]);
    for (const path of ["/missing", "/empty", "/long", "/none"])
      assert.equal(reasons.get(site.origin + path), "bad_redirect", path);
    assert.equal(reasons.size, 5);
  });

  test("R5: a redirect to another scheme is refused, and nothing is read there", async () => {
    const targets = ["file:///etc/passwd", "data:text/html,x", "javascript:1", "ftp://127.0.0.1/"];
    await using site = await startTestSite(({ path }) => {
      if (path === "/") return html(...targets.map((_, index) => `/${index}`));
      const target = targets[Number(path.slice(1))];
      return target === undefined ? undefined : redirectTo(target);
    });
    const { reasons, result } = await crawlSites([`${site.origin}/`]);
    assert.equal(result.outcomes["scheme_refused"], targets.length);
    assert.equal(reasons.size, 1 + targets.length);
  });

  test("R6: a redirect into the private network is followed by no connection", async () => {
    await using inner = await startTestSite({ "/secret": html() });
    const places = [
      `http://127.0.0.2:${inner.port}/secret`,
      "http://10.0.0.1/secret",
      "http://169.254.169.254/latest/meta-data/",
      `http://[::1]:${inner.port}/secret`,
      `http://0x7f.2:${inner.port}/secret`,
    ];
    await using site = await startTestSite(({ path }) => {
      const place = places[Number(path.slice(1))];
      if (path === "/") return html(...places.map((_, index) => `/${index}`));
      return place === undefined || path.length < 2 ? undefined : redirectTo(place);
    });
    const settings = { allowPrivate: ["127.0.0.1"], scope: "any" as const };
    const { result, reasons } = await crawlSites([`${site.origin}/`], settings);
    assert.equal(result.outcomes["ssrf_blocked"], new Set(places).size - 1);
    assert.equal(result.outcomes["redirect"], places.length);
    assert.equal(reasons.get(`http://127.0.0.2:${inner.port}/secret`), "ssrf_blocked");
    assert.deepEqual(inner.asked, []);
  });

  test("R6: a seed that redirects into the private network is followed no more than a link", async () => {
    await using inner = await startTestSite({ "/": html() });
    await using site = await startTestSite({ "/": redirectTo(`http://127.0.0.2:${inner.port}/`) });
    const { reasons } = await crawlSites([`${site.origin}/`], { allowPrivate: ["127.0.0.1"] });
    assert.equal(reasons.get(`http://127.0.0.2:${inner.port}/`), "ssrf_blocked");
    assert.deepEqual(inner.asked, []);
  });

  test("R7: a redirect to what robots.txt forbids is not followed", async () => {
    await using site = await startTestSite({
      "/robots.txt": "User-agent: *\nDisallow: /closed",
      "/": html("/open"),
      "/open": redirectTo("/closed/door"),
      "/closed/door": html(),
    });
    const report = await crawlSites([`${site.origin}/`]);
    assert.deepEqual(ends(report, site.origin, "/open", "/closed/door"), [
      "redirect",
      "robots_denied",
    ]);
    assert.ok(!site.paths().includes("/closed/door"));
  });

  test("R7: a redirect out of the scope is not followed, by site or by pattern", async () => {
    await using other = await startTestSite({ "/": html() });
    await using site = await startTestSite({
      "/": html("/away", "/private"),
      "/away": redirectTo(`${other.origin}/`),
      "/private": redirectTo("/excluded/x"),
      "/excluded/x": html(),
    });
    const report = await crawlSites([`${site.origin}/`], { exclude: ["*/excluded/*"] });
    assert.deepEqual(ends(report, site.origin, "/away", "/private"), [
      "out_of_scope",
      "out_of_scope",
    ]);
    assert.deepEqual(other.asked, []);
    assert.ok(!site.paths().includes("/excluded/x"));
  });

  test("R8: a redirect to another host waits for that host's turn and takes no cookie along", async () => {
    const delayMs = 60;
    await using site = await startTestSite(({ path, host }) => {
      if (path === "/robots.txt" || path === "/sitemap.xml") return undefined;
      if (host.startsWith("two")) return html();
      if (path === "/") return html("/1", "/2", "/3", "/4");
      const reply = redirectTo(`http://two.localhost:${site.port}${path}`);
      return { ...(reply as object), headers: headersOf(path) };
    });
    function headersOf(path: string): Record<string, string> {
      return {
        location: `http://two.localhost:${site.port}${path}`,
        "set-cookie": "key=secret; Path=/",
      };
    }
    const settings = { delayMs, cookies: true, scope: "any" as const, sitemaps: false };
    const { result } = await crawlSites([`${site.named("one")}/`], settings);
    assert.equal(result.pages, 5);
    const atTwo = site.asked.filter(({ host }) => host.startsWith("two"));
    assert.equal(atTwo.length, 5);
    for (const [index, { atMs, headers }] of atTwo.entries()) {
      assert.equal(headers.cookie, undefined);
      const before = atTwo[index - 1];
      if (before !== undefined) assert.ok(atMs - before.atMs >= delayMs - 25, `${index}`);
    }
    const atOne = site.asked.filter(({ host }) => host.startsWith("one"));
    assert.equal(atOne.at(-1)?.headers.cookie, "key=secret");
  });

  test("R10: a loop of meta refreshes is walked once, a chain of them ends at the limit", async () => {
    await using site = await startTestSite(({ path }) => {
      const hop = /^\/hop\/(\d+)$/.exec(path)?.[1];
      if (hop !== undefined) return refresh(`/hop/${Number(hop) + 1}`);
      const pages: Record<string, string> = {
        "/": html("/a", "/hop/0", "/late"),
        "/a": refresh("/b"),
        "/b": refresh("/a"),
        "/late": refresh("/never", 1_000_000_000),
      };
      return pages[path];
    });
    const { result, reasons } = await crawlSites([`${site.origin}/`]);
    assert.deepEqual(
      site
        .paths()
        .filter((path) => /^\/[ab]$/.test(path))
        .sort(),
      ["/a", "/b"],
    );
    assert.equal(site.paths().filter((path) => path.startsWith("/hop/")).length, 6);
    assert.equal(result.refusedLinks["redirect_limit"], 1);
    assert.ok(!reasons.has(`${site.origin}/never`));
  });

  test("R11: thousands of URLs that redirect to one target fetch it once", async () => {
    const count = 3_000;
    await using site = await startTestSite(({ path }) => {
      if (path === "/") return html("/list/0", "/list/1");
      const list = /^\/list\/([01])$/.exec(path)?.[1];
      if (list !== undefined)
        return html(
          ...Array.from({ length: count / 2 }, (_, index) => `/alias/${index * 2 + Number(list)}`),
        );
      if (path.startsWith("/alias/")) return redirectTo("/target", 301);
      return path === "/target" ? html() : undefined;
    });
    const { result } = await crawlSites([`${site.origin}/`], { concurrencyPerSite: 8 });
    assert.equal(site.paths().filter((path) => path === "/target").length, 1);
    assert.equal(result.outcomes["redirect"], count);
    assert.equal(result.pages, 4);
  });

  for (const cookies of [false, true])
    test(`R12: a loop that only a cookie would end is a loop, cookies ${cookies}`, async () => {
      await using site = await startTestSite(({ path, headers }) => {
        if (path === "/robots.txt" || path === "/sitemap.xml") return undefined;
        if (path === "/check") return redirectTo("/");
        if (headers.cookie !== undefined) return html();
        return { status: 302, headers: { location: "/check", "set-cookie": "seen=1; Path=/" } };
      });
      const report = await crawlSites([`${site.origin}/`], { cookies });
      assert.deepEqual(ends(report, site.origin, "/", "/check"), ["redirect", "redirect_loop"]);
      assert.equal(site.paths().length, 2);
    });
});
