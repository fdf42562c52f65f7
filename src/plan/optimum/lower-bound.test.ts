import assert from "node:assert/strict";
import { test } from "node:test";
import { cappedTask, permutations, seeds } from "../capped-task.suite.ts";
import { guardedFinishes, watchFor } from "../schedule/guarded-schedule.ts";
import { keepsDeadlines } from "../feasible/feasible.ts";
import { lowerBoundOf, raisedBound } from "./lower-bound.ts";
import { ordersToTry } from "../schedule/orders.ts";
import { taskOf } from "../papers/paper-task.suite.ts";
import { scoreOf } from "../schedule/score.ts";
import { type Work, workOf } from "../schedule/columns.ts";

test("without caps and deadlines the bound is Smith's sum", () => {
  assert.equal(lowerBoundOf(workOf(taskOf(1, [[3], [1], [2]])), 50).sumSeconds, 1 + 3 + 6);
});

test("when the line is wide enough for all, everybody ends alone", () => {
  const [site] = taskOf(1, [[10]]).sites;
  assert.ok(site !== undefined);
  const sites = [
    { ...site, capBps: 1 },
    { ...site, capBps: 2 },
  ];
  assert.equal(lowerBoundOf(workOf({ ...taskOf(3, []), sites }), 50).sumSeconds, 10 + 5);
});

test("no order of few sites has a sum below the bound, and the best is near it", () => {
  const gaps: number[] = [];
  for (const seed of seeds(150)) {
    const work = workOf(
      cappedTask(seed, {
        count: 5,
        caps: [0.1, 1],
        weighted: seed % 2 === 0,
        dated: (seed % 3) / 4,
      }),
    );
    if (!keepsDeadlines(work)) continue;
    const watch = watchFor(work, work.deadlineSeconds.filter(Number.isFinite).sort());
    let least = Infinity;
    for (const order of permutations(work.count)) {
      const [late, , sum] = scoreOf(work, guardedFinishes(work, order, watch), "min-sum");
      assert.equal(late, 0, `seed ${seed}`);
      least = Math.min(least, sum);
    }
    const { sumSeconds } = raisedBound(work, lowerBoundOf(work, 100), 60, least);
    assert.ok(least >= sumSeconds * (1 - 1e-9), `seed ${seed}: ${least} below ${sumSeconds}`);
    gaps.push(least / sumSeconds - 1);
  }
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  assert.ok(gaps.length > 100 && mean < 0.05, `${mean} on average of ${gaps.length}`);
});

test("further steps never make the bound lower, and with tight deadlines often much higher", () => {
  const gains: number[] = [];
  for (const seed of seeds(40)) {
    const work = workOf(cappedTask(seed, { count: 40, caps: [0.1, 1], dated: 0.5, tight: 0.9 }));
    if (!keepsDeadlines(work)) continue;
    const without = lowerBoundOf(work, 100);
    const goalSeconds = guardedSum(work);
    gains.push(raisedBound(work, without, 60, goalSeconds).sumSeconds / without.sumSeconds - 1);
  }
  assert.ok(Math.min(...gains) >= 0, `${Math.min(...gains)}`);
  assert.ok(Math.max(...gains) > 0.01, `${Math.max(...gains)} at best of ${gains.length}`);
});

test("whatever goal the steps are told, no schedule is below the bound", () => {
  for (const seed of seeds(60)) {
    const work = workOf(cappedTask(seed, { count: 30, caps: [0.05, 0.8], dated: 0.7 }));
    if (!keepsDeadlines(work)) continue;
    const sum = guardedSum(work);
    const bound = lowerBoundOf(work, 100);
    for (const share of [0.5, 1, 3]) {
      const { sumSeconds } = raisedBound(work, bound, 60, share * sum);
      assert.ok(sumSeconds <= sum * (1 + 1e-9), `seed ${seed}: ${sumSeconds} above ${sum}`);
    }
  }
});

/** Of one order that suits. */
function guardedSum(work: Work): number {
  const watch = watchFor(work, work.deadlineSeconds.filter(Number.isFinite).sort());
  const [order] = ordersToTry(work, "quick");
  assert.ok(order !== undefined);
  const [late, , sum] = scoreOf(work, guardedFinishes(work, order, watch), "min-sum");
  assert.equal(late, 0);
  return sum;
}
