import assert from "node:assert/strict";
import { test } from "node:test";
import { digestOf, groundTruth, pageCountOf } from "./ground-truth.ts";
import { respond, seedUrls, siteNamed, type WorldAnswer } from "./world.ts";
import { DECOY_PATH } from "./world/html.ts";
import { type MixName, PAGE_MIXES } from "./world/mixes.ts";
import { addressedSites, portedSites } from "./world/naming.ts";
import { bytesOf, topicOf } from "./world/page.ts";
import { makeWorld, type World } from "./world/plan.ts";
import { siteAt, speedBpsAt } from "./world/site.ts";
import { TOPICS } from "./world/vocabulary.ts";

test("a site's home page is an HTML page, and unknown paths and sites do not exist", () => {
  const world = makeWorld({ seed: 7, siteCount: 3 });
  const answer = get(world, "http://site1.test/");
  const html = textOf(answer);
  assert.equal(answer.status, 200);
  assert.match(html, /^<!doctype html>\n<html lang="en">/);
  assert.match(html, /<title>[a-z ]+<\/title>/);
  assert.equal(get(world, "http://site1.test/nowhere.html").status, 404);
  assert.equal(siteNamed(world, "site3.test"), undefined);
});

test("the same seed gives the same bytes, another seed different bytes", () => {
  const urls = [...groundTruth(makeWorld({ seed: 5, siteCount: 4 }))].map(({ url }) => url);
  const text = (seed: number): string =>
    urls.map((url) => textOf(get(makeWorld({ seed, siteCount: 4 }), url))).join("");
  assert.equal(text(5), text(5));
  assert.notEqual(text(5), text(6));
});

test("following links from the first site's home finds the true pages and no others", () => {
  for (let seed = 1; seed <= 10; seed++) {
    const world = makeWorld({ seed, siteCount: 12, pagesMin: 15, pagesMax: 600 });
    const found = crawl(world, "http://site0.test/");
    const truth = new Map([...groundTruth(world)].map((page) => [page.url, page]));
    assert.equal(truth.size, pageCountOf(world), `seed ${seed}: paths are distinct`);
    assert.deepEqual([...found.keys()].sort(), [...truth.keys()].sort(), `seed ${seed}`);
    for (const [url, status] of found) {
      const fate = truth.get(url)?.fate;
      const expected = fate === "redirected" ? 3 : fate === "error" ? status / 100 : 2;
      assert.equal(Math.floor(status / 100), Math.floor(expected), `seed ${seed}: ${url}`);
      if (fate === "error") assert.ok(status >= 400, `seed ${seed}: ${url}`);
    }
  }
});

test("copies equal a page byte for byte, near copies except for one line", () => {
  const world = makeWorld({ seed: 2, siteCount: 40, copyShare: 0.2, nearCopyShare: 0.2 });
  let copies = 0;
  let nearCopies = 0;
  for (const entry of groundTruth(world)) {
    const { kind } = entry.page;
    if (kind !== "copy" && kind !== "near") continue;
    const lines = textOf(get(world, entry.url)).split("\n");
    const original = respond(world, entry.site, pathOf(world, entry));
    const differing = textOf(original)
      .split("\n")
      .filter((line, at) => line !== lines[at]);
    assert.equal(differing.length, kind === "copy" ? 0 : 1, entry.url);
    if (kind === "copy") copies++;
    else nearCopies++;
  }
  assert.ok(copies > 100 && nearCopies > 100, `${copies} copies, ${nearCopies} near copies`);
});

test("a digest is that of the bytes served", async () => {
  const world = makeWorld({ seed: 4, siteCount: 2 });
  for (const entry of groundTruth(world)) {
    if (entry.fate !== "stored") continue;
    const body = new Uint8Array(get(world, entry.url).body);
    const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
    assert.deepEqual(new Uint8Array(digestOf(world, entry)), sum, entry.url);
  }
});

test("robots.txt disallows exactly the pages that the ground truth lists as forbidden", () => {
  const world = makeWorld({ seed: 8, siteCount: 60 });
  let forbidden = 0;
  for (const { url, fate, site } of groundTruth(world)) {
    const robots = textOf(respond(world, site, "/robots.txt"));
    const closed = robots.includes("Disallow: /private/") && url.includes("/private/");
    assert.equal(fate === "forbidden", closed, url);
    if (closed) forbidden++;
  }
  assert.ok(forbidden > 20, `${forbidden} forbidden pages`);
});

test("a sitemap lists the pages to be stored, in several files when there are many", () => {
  const world = makeWorld({ seed: 3, siteCount: 1, pagesMin: 25_000, sitemapShare: 1 });
  const site = siteAt(world, 0);
  const index = locations(textOf(respond(world, site, "/sitemap.xml")));
  assert.equal(index.length, Math.ceil(site.pageCount / 10_000));
  const listed = index.flatMap((url) => locations(textOf(get(world, url))));
  const stored = [...groundTruth(world)].filter(({ fate }) => fate === "stored");
  assert.deepEqual(
    listed,
    stored.map(({ url }) => url),
  );
});

test("nine links of ten stay on the site, and in-links follow a power law", () => {
  const world = makeWorld({ seed: 9, siteCount: 40, pagesMin: 300, pagesMax: 300 });
  const inLinks = new Map<string, number>();
  let links = 0;
  let away = 0;
  for (const { url, fate } of groundTruth(world)) {
    if (fate !== "stored") continue;
    for (const target of linksIn(get(world, url), url).slice(1)) {
      links++;
      if (new URL(target).host !== new URL(url).host) away++;
      inLinks.set(target, (inLinks.get(target) ?? 0) + 1);
    }
  }
  const pages = pageCountOf(world);
  assert.ok(links / pages > 8 && links / pages < 11, `${links / pages} links a page`);
  assert.ok(away / links > 0.08 && away / links < 0.12, `${away / links} of them away`);
  const sorted = [...inLinks.values()].sort((a, b) => b - a);
  const top = sorted.slice(0, pages / 10).reduce((sum, count) => sum + count, 0);
  assert.ok(top / links > 0.5, `the top tenth of pages has ${top / links} of the links`);
});

test("pages have the requested size", () => {
  const world = makeWorld({
    seed: 6,
    siteCount: 20,
    bytesMedianMin: 30_000,
    bytesMedianMax: 60_000,
  });
  for (const { site, page, fate } of groundTruth(world)) {
    if (fate !== "stored") continue;
    const wanted = bytesOf(world, site, page.of);
    const got = respond(world, site, page.path).body.length;
    assert.ok(Math.abs(got - wanted) < 0.1 * wanted, `${page.path}: ${got}, not ${wanted}`);
  }
});

test("the vocabulary of a page reveals its topic", () => {
  const world = makeWorld({ seed: 11, siteCount: 16, pagesMax: 80, bytesMedianMin: 6_000 });
  const wordSets = TOPICS.map(({ words }) => new Set(words));
  let right = 0;
  let pages = 0;
  for (const { site, page, fate } of groundTruth(world)) {
    if (fate !== "stored") continue;
    const words =
      textOf(respond(world, site, page.path))
        .toLowerCase()
        .match(/[a-z]+/g) ?? [];
    const hits = wordSets.map((set) => words.filter((word) => set.has(word)).length);
    pages++;
    if (hits.indexOf(Math.max(...hits)) === topicOf(world, site, page.of)) right++;
  }
  assert.ok(right / pages > 0.8, `${right} of ${pages}`);
});

test("traps are endless, and no page of the ground truth is inside them", () => {
  const world = makeWorld({ seed: 12, siteCount: 12, trapShare: 1, pagesMax: 100 });
  const kinds = new Set(Array.from({ length: 12 }, (_, index) => siteAt(world, index).trap));
  assert.deepEqual([...kinds].sort(), ["calendar", "maze", "session"]);
  const trap = /\/(?:calendar|maze|session)\//;
  const found = crawl(world, "http://site0.test/", 20_000);
  const trapped = [...found.keys()].filter((url) => trap.test(url));
  assert.ok(trapped.length > 10_000, `${trapped.length} trap pages`);
  for (const { url } of groundTruth(world)) assert.ok(!trap.test(url), url);
});

test("a server is slowest at its busiest hour and fastest twelve hours later", () => {
  const site = { ...siteAt(makeWorld(), 0), speedBps: 1000, peakHour: 9, slump: 0.5 };
  const at = (hour: number): number => speedBpsAt(site, hour * 3_600_000);
  assert.equal(at(9), 500);
  assert.equal(at(21), 1000);
  assert.equal(at(3), 750);
  assert.equal(at(24 * 365 + 9), 500);
});

test("at weekends the busiest hour is less busy, and Monday is a working day again", () => {
  const slumps = { slump: 0.5, weekendSlump: 0.2 };
  const site = { ...siteAt(makeWorld(), 0), speedBps: 1000, peakHour: 9, ...slumps };
  const onDay = (day: number): number => speedBpsAt(site, Date.UTC(2026, 0, day, 9));
  assert.deepEqual([2, 3, 4, 5].map(onDay), [500, 900, 900, 500]);
  assert.equal(speedBpsAt(site, Date.UTC(1969, 11, 28, 9)), 900);
});

test("a mix has pages of the documented sizes", () => {
  const bounds = { small: [2e3, 2e4], docs: [8e3, 1e6], large: [2e5, 2e7], mixed: [2e3, 2e7] };
  for (const mix of Object.keys(bounds) as MixName[]) {
    const world = makeWorld({ seed: 3, siteCount: 40, pagesMax: 60, ...PAGE_MIXES[mix] });
    const sizes = [...groundTruth(world)].map(({ site, page }) => bytesOf(world, site, page.of));
    const least = Math.min(...sizes);
    const most = Math.max(...sizes);
    assert.ok(least >= (bounds[mix][0] as number), `${mix}: ${least}`);
    assert.ok(most <= (bounds[mix][1] as number), `${mix}: ${most}`);
    assert.ok(most > 5 * least, mix);
  }
});

test("every naming maps a site to its name and back", () => {
  for (const naming of [
    makeWorld().naming,
    addressedSites(8080),
    portedSites([4001, 4002, 4003]),
  ]) {
    for (const site of [0, 1, 2]) {
      assert.equal(naming.siteOf(new URL(naming.originOf(site)).host), site);
    }
    assert.equal(naming.siteOf("example.org"), undefined);
  }
  const addressed = addressedSites(8080);
  assert.equal(addressed.originOf(0), "http://127.1.0.1:8080");
  assert.equal(addressed.siteOf(new URL(addressed.originOf(123_456)).host), 123_456);
  assert.equal(seedUrls(makeWorld({ siteCount: 2 }))[1], "http://site1.test/");
});

test("an unchanged page answers 304 to its own ETag", () => {
  const world = makeWorld();
  const site = siteAt(world, 0);
  const first = respond(world, site, "/");
  const tag = first.headers.find(([name]) => name === "etag")?.[1];
  assert.ok(tag !== undefined);
  assert.equal(respond(world, site, "/", tag).status, 304);
  assert.equal(respond(world, site, "/", '"other"').status, 200);
});

function get(world: World, url: string): WorldAnswer {
  const { host, pathname, search } = new URL(url);
  const site = siteNamed(world, host);
  assert.ok(site !== undefined, url);
  return respond(world, site, pathname + search);
}

/** Status of every reachable URL, computed independently of the crawler's code. */
function crawl(world: World, seed: string, urlsMax = 1_000_000): Map<string, number> {
  const found = new Map<string, number>([[seed, 0]]);
  for (const url of found.keys()) {
    const answer = get(world, url);
    found.set(url, answer.status);
    if (found.size >= urlsMax) break;
    const location = answer.headers.find(([name]) => name === "location")?.[1];
    const targets = location === undefined ? linksIn(answer, url) : [location];
    for (const target of targets) if (!found.has(target)) found.set(target, 0);
  }
  return found;
}

function linksIn(answer: WorldAnswer, base: string): string[] {
  const html = textOf(answer).replace(/<script>.*?<\/script>|<!--.*?-->/gs, "");
  assert.ok(!html.includes(DECOY_PATH));
  return Array.from(html.matchAll(/<a href="([^"]*)"/g), ([, href]) => new URL(href ?? "", base))
    .filter(({ protocol, href }) => protocol === "http:" && !href.endsWith("#top"))
    .map((url) => url.href.replace(/#.*/, ""));
}

function locations(xml: string): string[] {
  return Array.from(xml.matchAll(/<loc>(.*?)<\/loc>/g), ([, url]) => url ?? "");
}

function textOf(answer: WorldAnswer): string {
  return Buffer.from(answer.body).toString("latin1");
}

function pathOf(world: World, entry: { site: { index: number }; page: { of: number } }): string {
  for (const { site, page } of groundTruth(world)) {
    if (site.index === entry.site.index && page.number === entry.page.of) return page.path;
  }
  return "";
}
