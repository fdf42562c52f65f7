import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import type { Reason } from "../page/outcome.ts";
import { Counters, Pace } from "./counters.ts";
import { SmallCrawl } from "./small-crawl.suite.ts";
import { makePage } from "../store/store.suite.ts";

const REASONS: readonly Reason[] = [
  "ok",
  "not_modified",
  "redirect",
  "robots_denied",
  "dns_nxdomain",
];

test("invariant 4: known = done + failed + skipped + pending after every change", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const random = randomFrom(seed);
    const counters = newCounters();
    const ended: Reason[] = [];
    let waiting = 0;
    for (let step = 0; step < 60; step++) {
      const chance = random.next();
      if (chance < 0.4) {
        counters.found();
        waiting += 1;
      } else if (chance < 0.8 && waiting > 0) {
        const reason = REASONS[Math.floor(random.next() * REASONS.length)] ?? "ok";
        counters.settled(reason);
        ended.push(reason);
        waiting -= 1;
      } else if (ended.length > 0) {
        counters.reopened(ended.pop() ?? "ok");
        waiting += 1;
      }
      const { known, done, failed, skipped, outcomes } = counters.totals(0);
      assert.equal(counters.pending, waiting, `seed ${seed}`);
      assert.equal(known, done + failed + skipped + waiting, `seed ${seed}`);
      const counted = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
      assert.equal(counted, ended.length, `seed ${seed}: zeros are not listed`);
    }
  }
});

test("more URLs cannot end than are known, nor wait again than have ended", () => {
  assert.throws(() => newCounters().settled("ok"), /invariant 4/);
  assert.throws(() => newCounters().reopened("ok"), /counted/);
});

test("a page that replaces another is counted once, with its new remarks", () => {
  const counters = newCounters();
  const page = { ...makePage(1, 1), remarks: ["noindex" as const] };
  counters.stored(page, undefined);
  counters.stored({ ...page, remarks: [] }, page);
  const { pages, remarks } = counters.totals(0);
  assert.deepEqual([pages, remarks], [1, {}]);
});

test("only pages of the current recrawl count towards the limit of pages", () => {
  const counters = newCounters();
  counters.stored(makePage(1, 1), undefined);
  assert.equal(counters.pagesCounted, 1);
  counters.recrawlBegins();
  assert.equal(counters.pagesCounted, 0);
  counters.confirmed();
  counters.stored(makePage(2, 2), undefined);
  assert.deepEqual([counters.pagesCounted, counters.totals(0).pages], [2, 2]);
});

test("the last 20 failures are kept", () => {
  const counters = newCounters();
  for (let at = 0; at < 25; at++)
    counters.failed({ url: `http://a.example/${at}`, reason: "timeout", detail: "" });
  assert.equal(counters.failures.length, 20);
  assert.equal(counters.failures.at(-1)?.url, "http://a.example/24");
});

test("the first 10 refused seeds are kept, and all are counted", () => {
  const counters = newCounters();
  for (let at = 0; at < 15; at++)
    counters.seedRefused({ url: `http://a.example/${at}`, reason: "robots_denied", detail: "" });
  const { count, first } = counters.refusedSeeds;
  assert.deepEqual([count, first.length, first[0]?.url], [15, 10, "http://a.example/0"]);
});

test("the pace is the mean of the last seconds, or since the first end", () => {
  const pace = new Pace();
  assert.equal(pace.perSecond(1000, 10), 0);
  for (let ms = 0; ms < 20_000; ms += 100) pace.count(ms);
  assert.ok(Math.abs(pace.perSecond(20_000, 10) - 10) < 0.2);
  assert.equal(pace.perSecond(60_000, 10), 0);
  const young = new Pace();
  for (let ms = 0; ms <= 2000; ms += 100) young.count(ms);
  assert.ok(Math.abs(young.perSecond(2000, 10) - 10) < 0.6, "not divided by ten seconds");
});

function newCounters(): Counters {
  return new Counters(new SmallCrawl().store.totals);
}
