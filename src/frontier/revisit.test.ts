import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import type { Visits } from "../page/visits.ts";
import {
  chanceOfChange,
  changeRate,
  judgeRevisit,
  type KnownUrl,
  type RevisitRules,
  visitsAfter,
  visitsBefore,
} from "./revisit.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 2, 2);
const RULES: RevisitRules = { chanceMin: 0.1, ageMaxMs: 7 * DAY, isRefresh: false };

function watched(checks: number, changes: number, change: Partial<Visits> = {}): Visits {
  const watchedMs = checks * HOUR;
  return { checks, changes, watchedMs, lastAtMs: NOW - HOUR, was: "ok", ...change };
}

function page(visits: Visits | undefined, change: Partial<KnownUrl> = {}): KnownUrl {
  return { depth: 1, reason: "ok", fetchedAtMs: NOW - HOUR, visits, ...change };
}

/** Of a URL that was looked at just now, and had not changed in fifty looks. */
function kindBy(rules: RevisitRules, reason: KnownUrl["reason"]): string {
  return judgeRevisit(page(watched(50, 0, { lastAtMs: NOW }), { reason }), NOW, rules).kind;
}

test("ten looks of which four found a change: 0.48 changes an hour, by Cho and Garcia-Molina", () => {
  // -ln((6 + 0.5) / (10 + 0.5))
  assert.ok(Math.abs((changeRate(watched(10, 4)) ?? 0) * HOUR - 0.4796) < 1e-4);
  assert.equal(changeRate(watched(3, 0)), 0);
  assert.equal(changeRate(watched(0, 0)), undefined);
});

test("the chance of a change is even before the first look, and then follows what was seen", () => {
  assert.equal(chanceOfChange(watched(0, 0), NOW), 0.5);
  // 1 - 1.5 / 2, after one more hour
  assert.equal(chanceOfChange(watched(1, 0), NOW), 0.25);
  assert.equal(chanceOfChange(watched(1, 1), NOW), 0.75);
  assert.equal(chanceOfChange(watched(1, 0), NOW + HOUR), 1 - 0.75 ** 2);
  assert.equal(chanceOfChange(watched(5, 2), NOW - DAY), 0, "a clock that was set back");
});

test("over many pages the estimate is near the rate that made the changes", () => {
  for (const ratePerHour of [0.05, 0.3, 1]) {
    let sum = 0;
    const pages = 400;
    for (let seed = 1; seed <= pages; seed++) {
      const random = randomFrom(seed);
      let visits = watched(0, 0);
      for (let look = 1; look <= 48; look++) {
        const hasChanged = random.next() < 1 - Math.exp(-ratePerHour);
        visits = visitsAfter(visits, visits.lastAtMs + HOUR, hasChanged);
      }
      sum += (changeRate(visits) ?? 0) * HOUR;
    }
    const mean = sum / pages;
    assert.ok(Math.abs(mean / ratePerHour - 1) < 0.05, `${ratePerHour}: ${mean}`);
  }
});

test("a page that never changes is looked at ever more seldom, and at the latest after the longest time", () => {
  let visits: Visits | undefined;
  const gapsHours: number[] = [];
  let lastLook = 0;
  for (let hour = 1; hour <= 24 * 90; hour++) {
    const nowMs = NOW + hour * HOUR;
    const url = page(visits, { fetchedAtMs: NOW });
    const verdict = judgeRevisit(url, nowMs, RULES);
    if (verdict.kind !== "ask") continue;
    visits = visitsAfter(visitsBefore(url), nowMs, false);
    gapsHours.push(hour - lastLook);
    lastLook = hour;
  }
  assert.deepEqual(gapsHours.slice(0, 4), [1, 1, 1, 1]);
  for (const [index, gap] of gapsHours.entries())
    assert.ok(gap >= (gapsHours[index - 1] ?? 0) && gap <= 7 * 24, gapsHours.join(" "));
  assert.ok((gapsHours.at(-1) ?? 0) > 6 * 24, gapsHours.join(" "));
  assert.ok(gapsHours.length < 50, `${gapsHours.length} looks in 90 days`);
});

test("a page that changes every hour is asked for in every round, before one that seldom does", () => {
  const lively = judgeRevisit(page(watched(20, 20)), NOW, RULES);
  const calm = judgeRevisit(page(watched(20, 3)), NOW, RULES);
  assert.ok(lively.kind === "ask" && calm.kind === "ask");
  assert.ok(lively.score > calm.score);
  // What is new has the scores of its order.
  assert.ok(lively.score < -1000);
  const start = judgeRevisit(page(watched(99, 0), { depth: 0 }), NOW, RULES);
  assert.ok(start.kind === "ask" && start.score > 1e6);
});

test("what is gone is asked for once more, and then never again", () => {
  const first = page(undefined, { reason: "http_404", fetchedAtMs: 0 });
  assert.equal(judgeRevisit(first, NOW, RULES).kind, "ask");
  const visits = visitsAfter(visitsBefore(first), NOW, false);
  assert.equal(visits.was, "http_404");
  const again: KnownUrl = { ...first, visits };
  assert.equal(judgeRevisit(again, NOW + 30 * DAY, RULES).kind, "dropped");
  const cameBack: KnownUrl = { ...first, reason: "ok", visits };
  assert.equal(judgeRevisit(cameBack, NOW + DAY, RULES).kind, "ask");
  const goneLater = page(watched(9, 9, { was: "ok" }), { reason: "http_410" });
  assert.equal(judgeRevisit(goneLater, NOW, RULES).kind, "ask");
});

test("what failed for a passing reason is asked for again, what we chose not to ask is not", () => {
  assert.equal(kindBy(RULES, "http_503"), "ask");
  assert.equal(kindBy(RULES, "conn_reset"), "ask");
  assert.equal(kindBy(RULES, "robots_denied"), "ask");
  assert.equal(kindBy(RULES, "out_of_scope"), "kept");
  assert.equal(kindBy(RULES, "http_403"), "left");
  assert.equal(kindBy(RULES, "redirect"), "left");
});

test("a refresh asks for every page and for nothing else", () => {
  const refresh: RevisitRules = { chanceMin: 0, ageMaxMs: 7 * DAY, isRefresh: true };
  assert.equal(kindBy(refresh, "ok"), "ask");
  assert.equal(kindBy(refresh, "not_modified"), "ask");
  assert.equal(kindBy(refresh, "http_404"), "kept");
  assert.equal(kindBy(refresh, "redirect"), "kept");
});

test("a refresh asks for starting addresses first, then for known pages, then for new ones", () => {
  const refresh: RevisitRules = { chanceMin: 0, ageMaxMs: 7 * DAY, isRefresh: true };
  const start = judgeRevisit(page(watched(20, 3), { depth: 0 }), NOW, refresh);
  const known = judgeRevisit(page(watched(20, 3)), NOW, refresh);
  assert.ok(start.kind === "ask" && known.kind === "ask");
  assert.ok(start.score > known.score);
  // More than a new URL can have by any order.
  assert.ok(known.score > 1e6);
});

test("looks never count more changes than looks, nor time backwards, whatever the clock does", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomFrom(seed);
    let visits = watched(0, 0);
    let nowMs = NOW;
    for (let look = 0; look < 30; look++) {
      nowMs += (random.next() - 0.3) * DAY;
      const chance = chanceOfChange(visits, nowMs);
      assert.ok(chance >= 0 && chance <= 1, `seed ${seed}: ${chance}`);
      const before = visits;
      visits = visitsAfter(visits, nowMs, random.next() < 0.5);
      assert.ok(visits.changes <= visits.checks, `seed ${seed}`);
      assert.ok(visits.watchedMs >= before.watchedMs, `seed ${seed}`);
    }
  }
});
