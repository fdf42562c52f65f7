import assert from "node:assert/strict";
import { test } from "node:test";
import { pageWith, SmallCrawl, type SmallPlan, type SmallWeb } from "../small-crawl.suite.ts";

const HOME = "http://a.example/";
const PERIOD_MS = 300_000;
const EVERY = { kind: "every", text: "every 5m", everyMs: PERIOD_MS } as const;

test("with a schedule a site is crawled again and again, until the crawl is stopped", async () => {
  const web: SmallWeb = { [HOME]: pageWith("/1"), "http://a.example/1": pageWith() };
  const crawl = watching({ web });
  const handle = crawl.start();
  await crawl.clock.runFor(PERIOD_MS / 2);
  assert.deepEqual([crawl.pathsRequested, handle.snapshot().state], [["/", "/1"], "waiting"]);
  await crawl.clock.runFor(4 * PERIOD_MS);
  assert.deepEqual(crawl.pathsRequested.slice(0, 4), ["/", "/1", "/", "/1"]);
  assert.equal(handle.snapshot().sites[0]?.round.number, 5);
  handle.stop("test");
  const { complete, pages, sites } = await crawl.clock.runUntil(handle.done);
  assert.deepEqual([complete, pages, sites[0]?.round], [false, 2, 5]);
});

test("new links of a recrawl are crawled, and changed and missing pages are counted", async () => {
  const web: SmallWeb = {
    [HOME]: pageWith("/1", "/2"),
    "http://a.example/1": pageWith(),
    "http://a.example/2": pageWith() + "two",
  };
  const crawl = watching({ web });
  const handle = crawl.start();
  await crawl.clock.runFor(PERIOD_MS / 2);
  web[HOME] = pageWith("/1", "/2", "/3");
  web["http://a.example/3"] = pageWith() + "three";
  web["http://a.example/2"] = { status: 404 };
  await crawl.clock.runFor(PERIOD_MS);
  const news = handle.snapshot().sites[0]?.round.news;
  assert.deepEqual(news, { changed: 1, unchanged: 1, fresh: 1, gone: 1, left: 0 });
  handle.stop("test");
  await crawl.clock.runUntil(handle.done);
});

test("a round that is due while the previous one is in progress begins when that is done", async () => {
  const links = Array.from({ length: 9 }, (_, at) => `/${at}`);
  const web: SmallWeb = { [HOME]: pageWith(...links) };
  for (const link of links) web[`http://a.example${link}`] = pageWith();
  const crawl = watching({ web, settings: { delayMs: 50_000 } });
  const handle = crawl.start();
  await crawl.clock.runFor(1.2 * PERIOD_MS);
  assert.equal(handle.snapshot().sites[0]?.round.number, 1);
  assert.ok(crawl.logged.some(({ message }) => message.includes("starts when the previous")));
  await crawl.clock.runFor(PERIOD_MS);
  assert.equal(handle.snapshot().sites[0]?.round.number, 2);
  handle.stop("test");
  await crawl.clock.runUntil(handle.done);
});

test("a round that was missed while the crawl was stopped begins once at the next start", async () => {
  const web: SmallWeb = { [HOME]: pageWith() };
  const first = watching({ web });
  const handle = first.start();
  await first.clock.runFor(60_000);
  handle.stop("test");
  await first.clock.runUntil(handle.done);
  await first.store.close();
  await first.clock.runFor(50 * PERIOD_MS);
  const { disk, clock } = first;
  const second = watching({ web, disk, clock });
  const again = second.start();
  await clock.runFor(60_000);
  assert.deepEqual(second.pathsRequested, ["/"]);
  assert.equal(again.snapshot().sites[0]?.round.number, 2);
  again.stop("test");
  await clock.runUntil(again.done);
});

test("a time of day is met within a minute of a wall clock that was set", async () => {
  const days = [0, 1, 2, 3, 4, 5, 6];
  const schedule = { kind: "at", text: "daily 06:00", days, minuteOfDay: 360 } as const;
  const settings = { schedule, timeZone: "UTC" };
  const crawl = watching({ web: { [HOME]: pageWith() }, settings });
  const handle = crawl.start();
  await crawl.clock.runFor(125_000);
  assert.equal(handle.snapshot().sites[0]?.round.number, 1);
  // The simulation begins at midnight.
  crawl.clock.jumpWall(6 * 3_600_000);
  await crawl.clock.runFor(61_000);
  assert.equal(handle.snapshot().sites[0]?.round.number, 2);
  // Set back by 40 days: the next time of day is not 40 days away.
  crawl.clock.jumpWall(-40 * 86_400_000);
  await crawl.clock.runFor(61_000);
  const { round } = handle.snapshot().sites[0] ?? assert.fail();
  assert.ok((round.nextInMs ?? Infinity) <= 86_400_000, `${round.nextInMs} ms`);
  handle.stop("test");
  await crawl.clock.runUntil(handle.done);
});

test("sitemaps are read again in a recrawl when they are a day old", async () => {
  const everyMs = 300_000;
  const schedule = { kind: "every", text: "every 5m", everyMs } as const;
  const crawl = watching({ web: { [HOME]: pageWith() }, settings: { schedule, sitemaps: true } });
  const handle = crawl.start();
  const reads = (): number => crawl.pathsRequested.filter((path) => path === "/sitemap.xml").length;
  await crawl.clock.runFor(2.5 * everyMs);
  assert.equal(reads(), 1);
  crawl.clock.jumpWall(86_400_000);
  await crawl.clock.runFor(1.5 * everyMs);
  assert.equal(reads(), 2);
  handle.stop("test");
  await crawl.clock.runUntil(handle.done);
});

test("--refresh requests every page of every site once, also after a kill in the middle", async () => {
  const seeds = Array.from({ length: 12 }, (_, at) => `http://s${at}.example/`);
  const web = Object.fromEntries(seeds.map((seed) => [seed, pageWith()]));
  const first = new SmallCrawl({ web, seeds });
  await first.run();
  const { disk, clock } = first;
  await clock.runFor(PERIOD_MS);
  const refresh = { web, seeds, disk, clock, settings: { refresh: true, connectionsMax: 1 } };
  const killed = new SmallCrawl(refresh);
  killed.start().done.catch(() => undefined);
  await clock.runFor(100);
  disk.crash();
  clock.forget();
  const before = killed.pathsRequested.length;
  assert.ok(before > 0 && before < 12, `${before} requests before the kill`);
  const resumed = new SmallCrawl({ ...refresh, settings: {} });
  const { pages, sites } = await resumed.run();
  assert.equal(pages, 12);
  assert.deepEqual([...new Set(sites.map(({ round }) => round))], [2]);
  assert.ok(
    before + resumed.pathsRequested.length <= 12 + 8,
    "pages of the last commit at most twice",
  );
});

function watching(plan: SmallPlan): SmallCrawl {
  const settings = { watch: true, schedule: EVERY, revisitChance: 0, ...plan.settings };
  return new SmallCrawl({ seeds: [HOME], ...plan, settings });
}
