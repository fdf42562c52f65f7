/** B9, as a whole crawl meets it: sitemaps that loop, burst, lie or point at others. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import {
  type Asked,
  crawlInVirtualTime,
  crawlSites,
  html,
  type Reply,
  startTestSite,
  type TestSite,
} from "./crawl-sites.ts";

type Answer = (asked: Asked) => Reply;

/** A home page without links, and sitemaps that robots.txt names. */
function withSitemaps(names: readonly string[], answer: Answer): Promise<TestSite> {
  return startTestSite((asked) => {
    const { path, host } = asked;
    if (path === "/robots.txt")
      return names.map((name) => `Sitemap: http://${host}${name}`).join("\n");
    if (path === "/" || path.startsWith("/page/")) return `${html()}<p>${path}`;
    return answer(asked);
  });
}

function xml(body: string): Reply {
  return { headers: { "content-type": "application/xml" }, body: `<?xml version="1.0"?>${body}` };
}

function urlset(urls: readonly string[]): string {
  return `<urlset>${urls.map((url) => `<url><loc>${url}</loc></url>`).join("")}</urlset>`;
}

function index(urls: readonly string[]): string {
  const entries = urls.map((url) => `<sitemap><loc>${url}</loc></sitemap>`);
  return `<sitemapindex>${entries.join("")}</sitemapindex>`;
}

describe("B9: sitemaps", () => {
  test("S1: an index that lists itself is read once, and its pages are found", async () => {
    await using site = await withSitemaps(["/index.xml"], ({ path, host }) => {
      if (path === "/index.xml")
        return xml(index([`http://${host}/index.xml`, `http://${host}/pages.xml`]));
      return path === "/pages.xml" ? xml(urlset([`http://${host}/page/1`])) : undefined;
    });
    const { result } = await crawlSites([`${site.origin}/`]);
    assert.equal(site.paths().filter((path) => path === "/index.xml").length, 1);
    assert.equal(result.refusedLinks["sitemap_loop"], 1);
    assert.equal(result.pages, 2);
  });

  test("S1: of indexes ten deep three levels are read", async () => {
    await using site = await withSitemaps(["/level/0"], ({ path, host }) => {
      const level = Number(/^\/level\/(\d+)$/.exec(path)?.[1] ?? Number.NaN);
      return level < 10 ? xml(index([`http://${host}/level/${level + 1}`])) : undefined;
    });
    const { result } = await crawlSites([`${site.origin}/`]);
    const levels = site.paths().filter((path) => path.startsWith("/level/"));
    assert.deepEqual(levels, ["/level/0", "/level/1", "/level/2"]);
    assert.equal(result.refusedLinks["sitemap_depth"], 1);
  });

  test("S2: of 50,001 URLs the first 50,000 are taken", async () => {
    await using site = await withSitemaps(["/all.xml"], ({ host }) =>
      xml(urlset(Array.from({ length: 50_001 }, (_, page) => `http://${host}/page/${page}`))),
    );
    const { result } = await crawlSites([`${site.origin}/`], {
      pagesMax: 2,
      concurrencyPerSite: 1,
    });
    assert.equal(result.urls.known, 50_001, "the home page and the first 50,000");
    assert.equal(result.refusedLinks["sitemap_capped"], 1);
    assert.equal(result.stoppedBy, "pages limit");
  });

  test("S3: entities are never unfolded nor fetched", async () => {
    await using outside = await startTestSite({ "/entity": "leaked" });
    const lol = Array.from(
      { length: 9 },
      (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`,
    ).join("");
    await using site = await withSitemaps(["/laughs.xml", "/xxe.xml"], ({ path, host }) => {
      const page = `http://${host}/page/`;
      if (path === "/laughs.xml")
        return xml(`<!DOCTYPE x [<!ENTITY l0 "lol">${lol}]>${urlset([`${page}&l9;`])}`);
      const away = `<!ENTITY a SYSTEM "${outside.origin}/entity"><!ENTITY b SYSTEM "file:///etc/passwd">`;
      return xml(`<!DOCTYPE x [${away}]>${urlset([`${page}&a;`, `${page}&b;`])}`);
    });
    const { result } = await crawlSites([`${site.origin}/`]);
    assert.equal(result.refusedLinks["bad_xml"], 2);
    assert.deepEqual(outside.asked, []);
    assert.equal(result.pages, 1);
  });

  test("S4: the URLs before the place where a sitemap breaks off are kept", async () => {
    await using site = await withSitemaps(["/broken.xml"], ({ host }) => {
      const whole = urlset([1, 2, 3].map((page) => `http://${host}/page/${page}`));
      return xml(whole.slice(0, whole.indexOf("/page/3")));
    });
    const { result } = await crawlSites([`${site.origin}/`]);
    assert.equal(result.pages, 3);
  });

  test("S7: URLs of other hosts are dropped, in scope or not", async () => {
    await using other = await startTestSite({ "/planted": html() });
    await using site = await withSitemaps(["/pages.xml"], ({ host }) =>
      xml(urlset([`${other.origin}/planted`, `http://${host}/page/1`])),
    );
    const { result } = await crawlSites([`${site.origin}/`], { scope: "any" });
    assert.equal(result.pages, 2);
    assert.deepEqual(other.asked, []);
  });

  test("S8: a list of lines, a byte order mark, a wrong type and gzip are read; a bomb is not", async () => {
    const names = ["/list.txt", "/bom.xml", "/wrong.xml", "/packed.xml.gz", "/bomb.xml.gz"];
    const bomb = gzipSync(Buffer.alloc(60 * 1024 * 1024));
    await using site = await withSitemaps(names, ({ path, host }) => {
      const page = `http://${host}/page/`;
      const bodies: Record<string, string | Uint8Array> = {
        "/list.txt": `${page}1\n${page}2\n`,
        "/bom.xml": `\ufeff${urlset([`${page}3`])}`,
        "/wrong.xml": urlset([`${page}4`]),
        "/packed.xml.gz": gzipSync(urlset([`${page}5`])),
        "/bomb.xml.gz": bomb,
      };
      const body = bodies[path];
      return body === undefined ? undefined : { headers: { "content-type": "image/png" }, body };
    });
    const before = process.memoryUsage.rss();
    const { result } = await crawlSites([`${site.origin}/`]);
    assert.equal(result.pages, 6);
    assert.equal(result.refusedLinks["body_too_large"], 1);
    const risenBytes = process.memoryUsage.rss() - before;
    assert.ok(risenBytes < 250 * 1024 * 1024, `memory rose by ${risenBytes}`);
  });

  test("S9: of 1,000 sitemaps in an index 500 are read", async () => {
    await using site = await withSitemaps(["/index.xml"], ({ path, host }) => {
      const names = Array.from({ length: 1_000 }, (_, map) => `http://${host}/map/${map}`);
      return path === "/index.xml" ? xml(index(names)) : undefined;
    });
    const { result } = await crawlSites([`${site.origin}/`]);
    assert.equal(site.paths().filter((path) => path.startsWith("/map/")).length, 499);
    assert.equal(result.refusedLinks["sitemap_capped"], 501);
  });

  test("S1: a sitemap that redirects without end is left", async () => {
    await using site = await withSitemaps(["/moved/0"], ({ path }) => ({
      status: 302,
      headers: { location: `/moved/${Number(/\d+$/.exec(path)?.[0] ?? 0) + 1}` },
    }));
    const { result } = await crawlSites([`${site.origin}/`]);
    assert.equal(result.pages, 1);
    assert.equal(site.paths().filter((path) => path.startsWith("/moved/")).length, 3);
  });

  test("a sitemap so slow that all pages are done before it is still read, and what it names", async () => {
    const site = "http://site.example";
    const { result, asked } = await crawlInVirtualTime(
      (path) => {
        if (path === "/robots.txt") return "";
        if (path === "/sitemap.xml")
          return `${index([`${site}/pages.xml`])}<!--${" ".repeat(5_000_000)}-->`;
        if (path === "/pages.xml") return urlset([`${site}/listed`]);
        return html();
      },
      { sitemaps: true, delayMs: 4_000 },
    );
    assert.deepEqual(asked.map(({ path }) => path).sort(), [
      "/",
      "/listed",
      "/pages.xml",
      "/robots.txt",
      "/sitemap.xml",
    ]);
    assert.equal(result.pages, 2);
  });
});
