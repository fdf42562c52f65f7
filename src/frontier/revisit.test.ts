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

/** The verdict on a URL checked just now, without a change in fifty checks. */
function kindBy(rules: RevisitRules, reason: KnownUrl["reason"]): string {
  return judgeRevisit(page(watched(50, 0, { lastAtMs: NOW }), { reason }), NOW, rules).kind;
}

test("four changes in ten hourly checks give 0.48 changes per hour, by Cho and Garcia-Molina", () => {
  // -ln((6 + 0.5) / (10 + 0.5))
  assert.ok(Math.abs((changeRate(watched(10, 4)) ?? 0) * HOUR - 0.4796) < 1e-4);
  assert.equal(changeRate(watched(3, 0)), 0);
  assert.equal(changeRate(watched(0, 0)), undefined);
});

test("the chance of a change is 0.5 before the first check, and then follows the checks", () => {
  assert.equal(chanceOfChange(watched(0, 0), NOW), 0.5);
  // 1 - 1.5 / 2, after one more hour
  assert.equal(chanceOfChange(watched(1, 0), NOW), 0.25);
  assert.equal(chanceOfChange(watched(1, 1), NOW), 0.75);
  assert.equal(chanceOfChange(watched(1, 0), NOW + HOUR), 1 - 0.75 ** 2);
  assert.equal(chanceOfChange(watched(5, 2), NOW - DAY), 0, "the clock was set back");
});

test("over many pages the estimate is near the true rate", () => {
  for (const ratePerHour of [0.05, 0.3, 1]) {
    let sum = 0;
    const pages = 400;
    for (let seed = 1; seed <= pages; seed++) {
      const random = randomFrom(seed);
      let visits = watched(0, 0);
      for (let check = 1; check <= 48; check++) {
        const hasChanged = random.next() < 1 - Math.exp(-ratePerHour);
        visits = visitsAfter(visits, visits.lastAtMs + HOUR, hasChanged);
      }
      sum += (changeRate(visits) ?? 0) * HOUR;
    }
    const mean = sum / pages;
    assert.ok(Math.abs(mean / ratePerHour - 1) < 0.05, `${ratePerHour}: ${mean}`);
  }
});

test("a page that never changes is checked at growing intervals, up to the maximum", () => {
  let visits: Visits | undefined;
  const gapsHours: number[] = [];
  let lastHour = 0;
  for (let hour = 1; hour <= 24 * 90; hour++) {
    const nowMs = NOW + hour * HOUR;
    const url = page(visits, { fetchedAtMs: NOW });
    const verdict = judgeRevisit(url, nowMs, RULES);
    if (verdict.kind !== "recrawl") continue;
    visits = visitsAfter(visitsBefore(url), nowMs, false);
    gapsHours.push(hour - lastHour);
    lastHour = hour;
  }
  assert.deepEqual(gapsHours.slice(0, 4), [1, 1, 1, 1]);
  for (const [index, gap] of gapsHours.entries())
    assert.ok(gap >= (gapsHours[index - 1] ?? 0) && gap <= 7 * 24, gapsHours.join(" "));
  assert.ok((gapsHours.at(-1) ?? 0) > 6 * 24, gapsHours.join(" "));
  assert.ok(gapsHours.length < 50, `${gapsHours.length} checks in 90 days`);
});

test("a page that changes every hour is in every recrawl, before one that seldom changes", () => {
  const frequent = judgeRevisit(page(watched(20, 20)), NOW, RULES);
  const rare = judgeRevisit(page(watched(20, 3)), NOW, RULES);
  assert.ok(frequent.kind === "recrawl" && rare.kind === "recrawl");
  assert.ok(frequent.score > rare.score);
  // New URLs have the scores of their order.
  assert.ok(frequent.score < -1000);
  const seed = judgeRevisit(page(watched(99, 0), { depth: 0 }), NOW, RULES);
  assert.ok(seed.kind === "recrawl" && seed.score > 1e6);
});

test("a page that is gone is fetched once more, and then never again", () => {
  const first = page(undefined, { reason: "http_404", fetchedAtMs: 0 });
  assert.equal(judgeRevisit(first, NOW, RULES).kind, "recrawl");
  const visits = visitsAfter(visitsBefore(first), NOW, false);
  assert.equal(visits.was, "http_404");
  const again: KnownUrl = { ...first, visits };
  assert.equal(judgeRevisit(again, NOW + 30 * DAY, RULES).kind, "dropped");
  const cameBack: KnownUrl = { ...first, reason: "ok", visits };
  assert.equal(judgeRevisit(cameBack, NOW + DAY, RULES).kind, "recrawl");
  const goneLater = page(watched(9, 9, { was: "ok" }), { reason: "http_410" });
  assert.equal(judgeRevisit(goneLater, NOW, RULES).kind, "recrawl");
});

test("temporary failures are fetched again, skipped and permanently failed URLs are not", () => {
  assert.equal(kindBy(RULES, "http_503"), "recrawl");
  assert.equal(kindBy(RULES, "conn_reset"), "recrawl");
  assert.equal(kindBy(RULES, "robots_denied"), "recrawl");
  assert.equal(kindBy(RULES, "out_of_scope"), "kept");
  assert.equal(kindBy(RULES, "http_403"), "left");
  assert.equal(kindBy(RULES, "redirect"), "left");
});

test("a refresh fetches all pages and nothing else", () => {
  const refresh: RevisitRules = { chanceMin: 0, ageMaxMs: 7 * DAY, isRefresh: true };
  assert.equal(kindBy(refresh, "ok"), "recrawl");
  assert.equal(kindBy(refresh, "not_modified"), "recrawl");
  assert.equal(kindBy(refresh, "http_404"), "kept");
  assert.equal(kindBy(refresh, "redirect"), "kept");
});

test("a refresh fetches seeds first, then known pages, then new ones", () => {
  const refresh: RevisitRules = { chanceMin: 0, ageMaxMs: 7 * DAY, isRefresh: true };
  const seed = judgeRevisit(page(watched(20, 3), { depth: 0 }), NOW, refresh);
  const known = judgeRevisit(page(watched(20, 3)), NOW, refresh);
  assert.ok(seed.kind === "recrawl" && known.kind === "recrawl");
  assert.ok(seed.score > known.score);
  // Higher than the score of a new URL in any order.
  assert.ok(known.score > 1e6);
});

test("there are never more changes than checks, and time never runs backwards, with any clock", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomFrom(seed);
    let visits = watched(0, 0);
    let nowMs = NOW;
    for (let check = 0; check < 30; check++) {
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
