import assert from "node:assert/strict";
import { test } from "node:test";
import { pageWith, SmallCrawl, type SmallPlan, type SmallWeb } from "./small-crawl.suite.ts";

const PAGES = 12;

test("a crawl ends when every URL has ended, and everything is stored", async () => {
  const crawl = new SmallCrawl(chain());
  const { pages, complete, stoppedBy, urls } = await crawl.run();
  assert.deepEqual([pages, complete, stoppedBy, urls.pending], [PAGES, true, "", 0]);
  const { disk, clock } = crawl;
  const { totals } = new SmallCrawl({ disk, clock }).store;
  assert.deepEqual([totals.pages, crawl.archive.records.length], [PAGES, PAGES]);
});

test("a stopped crawl is resumed, and no page is requested twice", async () => {
  const plan = chain();
  const first = new SmallCrawl(plan);
  const handle = first.start();
  await first.clock.runFor(3500);
  handle.stop("test");
  const result = await first.clock.runUntil(handle.done);
  assert.deepEqual([result.complete, result.stoppedBy], [false, "test"]);
  assert.ok(result.pages > 0 && result.pages < PAGES, `${result.pages} pages`);
  await first.store.close();
  const { disk, clock } = first;
  const second = new SmallCrawl({ ...plan, disk, clock });
  const { pages, complete, resumed } = await second.run();
  assert.deepEqual([pages, complete, resumed], [PAGES, true, true]);
  const all = [...first.pathsRequested, ...second.pathsRequested];
  assert.equal(new Set(all).size, all.length);
});

test("a stop gives downloads in progress 1.5 s, and their URLs wait if that is too short", async () => {
  const web: SmallWeb = { "http://a.example/": "silence", "http://a.example/robots.txt": "" };
  const crawl = new SmallCrawl({ web });
  const handle = crawl.start();
  await crawl.clock.runFor(500);
  const atMs = crawl.clock.nowMs();
  handle.stop("test");
  const { urls, outcomes } = await crawl.clock.runUntil(handle.done);
  assert.deepEqual([urls.pending, outcomes], [1, {}]);
  const tookMs = crawl.clock.nowMs() - atMs;
  assert.ok(tookMs >= 1500 && tookMs < 1600, `${tookMs} ms`);
});

test("a time limit stops the crawl with that reason", async () => {
  const crawl = new SmallCrawl(chain({ timeMaxMs: 4000 }));
  const { complete, stoppedBy, seconds } = await crawl.run();
  assert.deepEqual([complete, stoppedBy], [false, "time limit"]);
  assert.ok(seconds >= 4 && seconds < 6, `${seconds} s`);
});

test("a full disk pauses the crawl; it continues when there is room, and loses nothing", async () => {
  for (let randomSeed = 1; randomSeed <= 10; randomSeed++) {
    const crawl = new SmallCrawl({ ...chain(), fullShare: 0.5, randomSeed });
    const { pages, complete } = await crawl.run();
    assert.deepEqual([pages, complete], [PAGES, true], `seed ${randomSeed}`);
    const warnings = crawl.logged.filter(({ values }) => values["code"] === "DISK_FULL");
    assert.ok(warnings.length > 0, `seed ${randomSeed}: the shortage is reported`);
  }
});

test("a pause is shown with its reason, and two reasons need two ends", async () => {
  const crawl = new SmallCrawl(chain());
  const handle = crawl.start();
  handle.hold("one", true);
  handle.hold("two", true);
  const { state, because } = handle.snapshot();
  assert.deepEqual([state, because], ["paused", "one; two"]);
  handle.hold("one", false);
  await crawl.clock.runFor(60_000);
  assert.equal(crawl.pathsRequested.length, 0);
  handle.hold("two", false);
  assert.equal((await crawl.clock.runUntil(handle.done)).pages, PAGES);
});

test("a crawl without an admitted seed is an error that names the seeds", async () => {
  const crawl = new SmallCrawl({ ...chain(), hooks: { onLink: () => false } });
  await assert.rejects(crawl.run(), /onLink refused every seed: http:\/\/a\.example\/0/);
});

test("a more generous limit of pages lets a crawl continue", async () => {
  const crawl = new SmallCrawl(chain({ pagesMax: 3 }));
  const handle = crawl.start();
  await crawl.clock.runFor(1500);
  handle.setPages(7);
  const { pages, stoppedBy } = await crawl.clock.runUntil(handle.done);
  assert.deepEqual([pages, stoppedBy], [7, "pages limit"]);
});

test("when a deadline is withdrawn, the wait for its site ends within a minute", async () => {
  const web: SmallWeb = { "http://a.example/": "refuse", "http://a.example/robots.txt": "refuse" };
  const crawl = new SmallCrawl({ web });
  const handle = crawl.start();
  handle.setDeadline("http://a.example", 3_600_000);
  await crawl.clock.runFor(20 * 60_000 + 5000);
  assert.equal(handle.snapshot().state, "paused");
  handle.setDeadline("http://a.example", undefined);
  const { seconds, stoppedBy } = await crawl.clock.runUntil(handle.done);
  assert.equal(stoppedBy, "1 site could not be reached");
  assert.ok(seconds <= 21 * 60 + 5, `${seconds} s`);
});

/** Pages of which each links to the next, one second apart. */
function chain(settings: SmallPlan["settings"] = {}): SmallPlan {
  const web: SmallWeb = {};
  for (let at = 0; at < PAGES; at++)
    web[`http://a.example/${at}`] = pageWith(...(at + 1 < PAGES ? [`/${at + 1}`] : [])) + at;
  return { web, seeds: ["http://a.example/0"], settings: { delayMs: 1000, ...settings } };
}
