import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { pageWith, type Served, SmallCrawl, type SmallWeb } from "./small-crawl.suite.ts";

const HOME = "http://a.example/";
const ROBOTS = "http://a.example/robots.txt";
const HOUR_MS = 3_600_000;

test("robots.txt is requested before the first page, once, and rules decide what is requested", async () => {
  const body = "User-agent: *\nDisallow: /private";
  const web = {
    [HOME]: pageWith("/open", "/private/1"),
    [ROBOTS]: { body },
    "http://a.example/open": pageWith(),
    "http://a.example/private/1": pageWith(),
  };
  const crawl = new SmallCrawl({ web });
  const { pages, outcomes } = await crawl.run();
  assert.deepEqual([pages, outcomes["robots_denied"]], [2, 1]);
  assert.deepEqual(paths(crawl), ["/robots.txt", "/", "/open"]);
});

test("a missing robots.txt allows all pages; with --ignore-robots none is requested", async () => {
  const open = new SmallCrawl({ web: { [HOME]: pageWith() } });
  assert.equal((await open.run()).pages, 1);
  const ignored = new SmallCrawl({ web: { [HOME]: pageWith() }, settings: { ignoreRobots: true } });
  assert.equal((await ignored.run()).pages, 1);
  assert.deepEqual(paths(ignored), ["/"]);
});

test("the delay of robots.txt is kept between all requests of the site", async () => {
  const links = ["/1", "/2", "/3"];
  const web: SmallWeb = {
    [HOME]: pageWith(...links),
    [ROBOTS]: { body: "User-agent: *\nCrawl-delay: 7" },
  };
  for (const link of links) web[`http://a.example${link}`] = pageWith();
  const crawl = new SmallCrawl({ web });
  assert.equal((await crawl.run()).pages, 4);
  const times = crawl.requests.slice(1).map(({ atMs }) => atMs);
  const gaps = times.slice(1).map((atMs, at) => atMs - (times[at] ?? 0));
  assert.ok(
    gaps.every((gapMs) => gapMs >= 7000 && gapMs < 7500),
    gaps.join(", "),
  );
});

test("redirects of robots.txt are followed five times, and its rules belong to the first host", async () => {
  for (const [hops, pages] of [
    [5, 0],
    [6, 1],
  ] as const) {
    const web: SmallWeb = { [HOME]: pageWith() };
    for (let hop = 0; hop < hops; hop++) {
      const from = hop === 0 ? ROBOTS : `http://b.example/r${hop}`;
      web[from] = { status: 301, headers: [["location", `http://b.example/r${hop + 1}`]] };
    }
    web[`http://b.example/r${hops}`] = { body: "User-agent: *\nDisallow: /" };
    const crawl = new SmallCrawl({ web });
    const result = await crawl.run();
    assert.equal(result.pages, pages, `${hops} redirects`);
  }
});

test("a name that does not exist ends its URLs; one that cannot be resolved leaves them pending", async () => {
  const gone = new SmallCrawl({ web: {}, seeds: ["http://nowhere.example/"] });
  const result = await gone.run();
  assert.deepEqual([result.complete, result.outcomes["dns_nxdomain"]], [true, 1]);
  const late = new SmallCrawl({ web: { [HOME]: pageWith() }, settings: { patienceMs: HOUR_MS } });
  late.isNameServerDown = true;
  const { done } = late.start();
  await late.clock.runFor(60_000);
  late.isNameServerDown = false;
  assert.equal((await late.clock.runUntil(done)).pages, 1);
});

test("robots.txt with status 500 delays the site, and never allows it", async () => {
  const web: SmallWeb = { [HOME]: pageWith(), [ROBOTS]: { status: 500 } };
  const crawl = new SmallCrawl({ web, settings: { patienceMs: HOUR_MS } });
  const { done } = crawl.start();
  await crawl.clock.runFor(60_000);
  assert.deepEqual(crawl.pathsRequested, []);
  web[ROBOTS] = { body: "" };
  assert.equal((await crawl.clock.runUntil(done)).pages, 1);
});

test("robots.txt is read again when it is 24 hours old, and the new rules apply", async () => {
  const links = Array.from({ length: 90 }, (_, at) => `/${at}`);
  const web: SmallWeb = { [HOME]: pageWith(...links) };
  for (const link of links) web[`http://a.example${link}`] = pageWith();
  const first = new SmallCrawl({ web, settings: { pagesMax: 1 } });
  await first.run();
  const { disk, clock } = first;
  await clock.runFor(24 * HOUR_MS - 60_000);
  web[ROBOTS] = { body: "User-agent: *\nDisallow: /" };
  // All pages are the same.
  const settings = { delayMs: 1000, traps: "off" } as const;
  const again = new SmallCrawl({ web, disk, clock, settings });
  const { pages, outcomes } = await again.run();
  assert.equal(paths(again).indexOf("/robots.txt"), pages - 1, "the old rules apply for a minute");
  assert.ok(pages > 55 && pages < 65, `${pages} pages before the new rules`);
  assert.equal(outcomes["robots_denied"], 91 - pages);
});

test("a name is resolved again after a minute, and no request waits for it", async () => {
  const links = Array.from({ length: 20 }, (_, at) => `/${at}`);
  const web: SmallWeb = { [HOME]: pageWith(...links) };
  for (const link of links) web[`http://a.example${link}`] = pageWith();
  const crawl = new SmallCrawl({ web, settings: { delayMs: 10_000, traps: "off" } });
  await crawl.run();
  const times = crawl.lookups.map(({ atMs }) => atMs);
  assert.equal(times.length, 4, "in 200 seconds");
  for (const [at, atMs] of times.slice(1).entries()) {
    const gapMs = atMs - (times[at] ?? 0);
    assert.ok(gapMs >= 60_000 && gapMs <= 70_000, `${gapMs} ms`);
    assert.ok(
      crawl.requests.some((request) => request.atMs === atMs),
      "the request is sent too",
    );
  }
});

test("a robots.txt that cannot be read is requested again after 1, 2, 4 … s, then forbids the site", async () => {
  const cut = gzipSync("User-agent: *\nDisallow: /private").subarray(0, 15);
  const damaged: Served = { headers: [["content-encoding", "gzip"]], body: cut };
  const web: SmallWeb = { [HOME]: pageWith(), [ROBOTS]: damaged };
  const crawl = new SmallCrawl({ web, settings: { retriesMax: 8 } });
  const { pages, complete, outcomes } = await crawl.run();
  assert.deepEqual([pages, complete, outcomes], [0, true, { robots_unreachable: 1 }]);
  const times = crawl.requests.map(({ atMs }) => atMs);
  const gaps = times.slice(1).map((atMs, at) => Math.round((atMs - (times[at] ?? 0)) / 1000));
  assert.deepEqual(gaps, [1, 2, 4, 8, 16, 32, 60, 60]);
});

test("a changed delay applies to sites that are being crawled", async () => {
  const links = ["/1", "/2", "/3"];
  const web: SmallWeb = { [HOME]: pageWith(...links) };
  for (const link of links) web[`http://a.example${link}`] = pageWith();
  const crawl = new SmallCrawl({ web, settings: { delayMs: 300_000 } });
  const handle = crawl.start();
  await crawl.clock.runFor(360_000);
  handle.setDelay(1000);
  const startMs = crawl.clock.nowMs();
  assert.equal((await crawl.clock.runUntil(handle.done)).pages, 4);
  assert.ok(crawl.clock.nowMs() - startMs <= 600_000);
  const gaps = crawl.requests.slice(-2).map(({ atMs }) => atMs);
  assert.ok((gaps[1] ?? 0) - (gaps[0] ?? 0) < 2000);
});

function paths(crawl: SmallCrawl): string[] {
  return crawl.requests.map(({ url }) => new URL(url).pathname);
}
