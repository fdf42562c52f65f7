import assert from "node:assert/strict";
import { test } from "node:test";
import { SmallCrawl, type SmallWeb } from "./small-crawl.suite.ts";

const HOME = "http://a.example/";
const SITEMAPS = { settings: { sitemaps: true } };

test("entries of the sitemap are crawled, except those of other sites", async () => {
  const { crawl, pages } = await run({
    "http://a.example/sitemap.xml": sitemap(["http://a.example/1", "http://b.example/2"]),
    "http://a.example/1": "one",
    "http://b.example/2": "two",
  });
  assert.equal(pages, 2);
  assert.ok(!crawl.requests.some(({ url }) => url.includes("b.example")));
});

test("an index leads to further sitemaps, read one after the other", async () => {
  const web: SmallWeb = {
    "http://a.example/robots.txt": { body: "Sitemap: http://a.example/index.xml" },
    "http://a.example/index.xml": index(["http://a.example/s1.xml", "http://a.example/s2.xml"]),
    "http://a.example/s1.xml": sitemap(["http://a.example/1"]),
    "http://a.example/s2.xml": sitemap(["http://a.example/2"]),
    "http://a.example/1": "one",
    "http://a.example/2": "two",
  };
  const { crawl, pages } = await run(web);
  assert.equal(pages, 3);
  const files = crawl.pathsRequested.filter((path) => path.endsWith(".xml"));
  assert.deepEqual(files, ["/index.xml", "/s1.xml", "/s2.xml"]);
});

test("a sitemap that robots.txt forbids, or that is missing, is no error", async () => {
  const { crawl, pages, result } = await run({
    "http://a.example/robots.txt": { body: "User-agent: *\nDisallow: /sitemap.xml" },
    "http://a.example/sitemap.xml": sitemap(["http://a.example/1"]),
  });
  assert.deepEqual([pages, result.complete], [1, true]);
  assert.deepEqual(crawl.pathsRequested, ["/"]);
  assert.equal(result.refusedLinks["robots_denied"], 1);
  assert.equal((await run({})).result.complete, true);
});

test("an index that lists itself is read once", async () => {
  const { crawl, result } = await run({
    "http://a.example/sitemap.xml": index(["http://a.example/sitemap.xml"]),
  });
  assert.equal(result.complete, true);
  assert.deepEqual(crawl.pathsRequested.sort(), ["/", "/sitemap.xml"]);
});

test("a sitemap with thousands of entries is admitted completely", async () => {
  const urls = Array.from({ length: 3000 }, (_, at) => `http://a.example/p${at}`);
  const crawl = new SmallCrawl({
    web: { [HOME]: "home", "http://a.example/sitemap.xml": sitemap(urls) },
    settings: { sitemaps: true, pagesMax: 1, patternUrlsMax: 5000 },
  });
  const handle = crawl.start();
  await crawl.clock.runFor(5000);
  assert.equal(handle.snapshot().totals.known, 3001);
  await crawl.clock.runUntil(handle.done);
});

async function run(web: SmallWeb) {
  const crawl = new SmallCrawl({ web: { [HOME]: "home", ...web }, seeds: [HOME], ...SITEMAPS });
  const result = await crawl.run();
  return { crawl, result, pages: result.pages };
}

function sitemap(urls: readonly string[]) {
  const entries = urls.map((url) => `<url><loc>${url}</loc></url>`).join("");
  return { body: `<?xml version="1.0"?><urlset xmlns="${XMLNS}">${entries}</urlset>` };
}

function index(urls: readonly string[]) {
  const entries = urls.map((url) => `<sitemap><loc>${url}</loc></sitemap>`).join("");
  return { body: `<?xml version="1.0"?><sitemapindex xmlns="${XMLNS}">${entries}</sitemapindex>` };
}

const XMLNS = "http://www.sitemaps.org/schemas/sitemap/0.9";
