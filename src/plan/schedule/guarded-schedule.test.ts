import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import { anyWishes, cappedTask, seeds } from "../capped-task.suite.ts";
import { deadlinesToKeep } from "../feasible/give-up.ts";
import { guardedFinishes, type Watch, watchFor } from "./guarded-schedule.ts";
import { byDeadlineDescending, distinctDeadlines } from "./level-schedule.ts";
import { listFinishes } from "./list-schedule.ts";
import { taskOf } from "../papers/paper-task.suite.ts";
import { auditPlan } from "../plan-audit.suite.ts";
import type { PlanTask, SiteTask } from "../plan.ts";
import { scoreOf } from "./score.ts";
import { Track } from "./recorder.ts";
import { withDeadlines, type Work, workOf } from "./columns.ts";

const NO_MARKS = new Float64Array(0);

function site(bytes: number, capBps: number, deadlineSeconds?: number): SiteTask {
  return { key: `${bytes}`, bytes, capBps, deadlineSeconds, weight: 1 };
}

function allWatched(work: Work): Watch {
  return watchFor(work, distinctDeadlines(work, byDeadlineDescending(work)).toReversed());
}

function rounded(finishes: Float64Array): number[] {
  return [...finishes].map((seconds) => Math.round(seconds * 1e6) / 1e6);
}

function shuffled(seed: number, count: number): Int32Array {
  const random = randomFrom(seed);
  const order = Int32Array.from({ length: count }, (_, index) => index);
  for (let place = count - 1; place > 0; place--) {
    const other = below(random, place + 1);
    [order[place], order[other]] = [order[other] as number, order[place] as number];
  }
  return order;
}

test("under guard the order holds until a deadline needs the rate", () => {
  const task: PlanTask = { ...taskOf(2, []), sites: [site(10, 2), site(4, 1, 6), site(1, 2, 6)] };
  const work = workOf(task);
  const order = Int32Array.of(0, 1, 2);
  // The slow one must begin at 2 s; what is left is the first's until the small one needs it too.
  assert.deepEqual(rounded(guardedFinishes(work, order, allWatched(work))), [7.5, 6, 6]);
});

test("whatever the order, the guard keeps all deadlines and stays out of the way otherwise", () => {
  const counts = { same: 0, guarded: 0 };
  for (const seed of seeds(500)) {
    const task = cappedTask(seed, { ...anyWishes(seed, 40), dated: 0.7 });
    const given = workOf(task);
    const work: Work = withDeadlines(given, deadlinesToKeep(given));
    const order = shuffled(seed, work.count);
    const track = new Track(work.count, 0);
    const finishes = guardedFinishes(work, order, allWatched(work), track);
    assert.equal(scoreOf(work, finishes, "min-sum")[0], 0, `seed ${seed}`);
    assert.deepEqual(auditPlan(task, track.plan(task)), [], `seed ${seed}`);
    const listed = listFinishes(work, order);
    const isKept = scoreOf(work, listed, "min-sum")[0] === 0;
    counts[isKept ? "same" : "guarded"]++;
    if (!isKept) continue;
    for (const [index, seconds] of listed.entries())
      assert.ok(Math.abs(seconds - (finishes[index] as number)) <= 1e-6 * seconds, `seed ${seed}`);
  }
  assert.ok(counts.same > 50 && counts.guarded > 50, JSON.stringify(counts));
});

test("a site is called at the last moment, whatever is looked ahead to", () => {
  const task: PlanTask = { ...taskOf(2, []), sites: [site(10, 2), site(4, 1, 6)] };
  const work = workOf(task);
  const track = new Track(2, 0);
  const finishes = guardedFinishes(work, Int32Array.of(0, 1), watchFor(work, NO_MARKS), track);
  assert.deepEqual(rounded(finishes), [7, 6]);
  const [first, called] = track.plan(task).sites;
  assert.deepEqual(
    first?.segments.map(({ rateBps }) => rateBps),
    [2, 1, 2],
  );
  assert.equal(called?.segments.length, 1);
});

test("two that would be called at once need a look ahead", () => {
  const task: PlanTask = { ...taskOf(2, []), sites: [site(6, 2), site(4, 2, 5), site(4, 2, 5)] };
  const work = workOf(task);
  const order = Int32Array.of(0, 1, 2);
  assert.deepEqual(rounded(guardedFinishes(work, order, allWatched(work))), [7, 3, 5]);
  const blind = guardedFinishes(work, order, watchFor(work, NO_MARKS));
  assert.equal(scoreOf(work, blind, "min-sum")[0], 1);
});

test("whatever is looked ahead to, everything comes, and the line is not idle while somebody could use it", () => {
  for (const seed of seeds(300)) {
    const task = cappedTask(seed, { ...anyWishes(seed, 40), dated: 0.8 });
    const work = workOf(task);
    const marks = distinctDeadlines(work, byDeadlineDescending(work))
      .toReversed()
      .filter((_, place) => place % 3 === 0);
    const track = new Track(work.count, 0);
    const finishes = guardedFinishes(
      work,
      shuffled(seed, work.count),
      watchFor(work, marks),
      track,
    );
    assert.deepEqual(auditPlan(task, track.plan(task)), [], `seed ${seed}`);
    // While a site waits the line is full, and a site that is alone with the rest runs at its cap.
    const bytes = work.bytes.reduce((sum, value) => sum + value, 0);
    let aloneSeconds = 0;
    for (let index = 0; index < work.count; index++)
      aloneSeconds = Math.max(
        aloneSeconds,
        (work.bytes[index] as number) / (work.capBps[index] as number),
      );
    const most = bytes / work.rateBps + aloneSeconds;
    assert.ok(Math.max(0, ...finishes) <= most * (1 + 1e-9), `seed ${seed}`);
  }
});
