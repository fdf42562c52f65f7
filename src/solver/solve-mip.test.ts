import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { type MipModel, mipModel } from "../plan/papers/mip.ts";
import { finishesOf, planOf, taskOf, whyNot } from "../plan/papers/paper-task.suite.ts";
import { auditPlan } from "../plan/plan-audit.suite.ts";
import { figuresOf, type PlanTask } from "../plan/plan.ts";
import { solveMip } from "./solve-mip.ts";

const WHOLE = { secondsMax: 20, gapMax: 0 };

test("small sites go first, as many as an interval holds", async () => {
  const task = taskOf(10, [[90], [50], [50], [10]], { sitesMax: 3 });
  const { allocation, gap, sumSeconds } = await solveMip(task, { ...WHOLE, intervalSeconds: 10 });
  const finishes = finishesOf(allocation);
  // Two fit into every interval: 10 with 90, and 50 with 50, in either order.
  assert.deepEqual(finishes.toSorted(), [10, 10, 20, 20]);
  assert.equal(sumSeconds, 60);
  assert.equal(gap, 0);
});

test("a deadline is kept, and one that no division keeps is told", async () => {
  const due = taskOf(10, [[90, 10], [50], [50], [10]], { sitesMax: 3 });
  const solved = await solveMip(due, { ...WHOLE, intervalSeconds: 10 });
  assert.equal(finishesOf(solved.allocation)[0], 10);
  const both = taskOf(10, [
    [90, 10],
    [50, 10],
  ]);
  const { allocation, gap } = await solveMip(both, { ...WHOLE, intervalSeconds: 10 });
  assert.match(whyNot(allocation), /intervals of 10 s, 2 in each at most, keeps the deadlines/);
  assert.equal(gap, undefined);
});

test("what has no program is answered without a solver", async () => {
  const { allocation } = await solveMip(taskOf(10, [[100], [10, 4]]), WHOLE);
  assert.match(whyNot(allocation), /too long/);
  const { allocation: empty, gap } = await solveMip(taskOf(10, []), WHOLE);
  assert.deepEqual(planOf(empty).sites, []);
  assert.equal(gap, 0);
});

test("whoever waits can do other things meanwhile", async () => {
  const random = randomFrom(1);
  const sites = Array.from({ length: 120 }, () => [1000 * 30 ** random.next()] as const);
  const task = taskOf(8000, sites, { sitesMax: 10 });
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const { allocation, gap } = await solveMip(task, { secondsMax: 30, gapMax: 0.1 });
  clearInterval(timer);
  assert.ok(turns > 0, `${turns} turns`);
  assert.deepEqual(auditPlan(task, planOf(allocation)), []);
  assert.ok(gap !== undefined && gap <= 0.1, `gap ${gap}`);
});

test("with no time at all there is a plan that can be carried out, far from its bound", async () => {
  const random = randomFrom(2);
  const sites = Array.from({ length: 300 }, () => [1000 * 30 ** random.next()] as const);
  const task = taskOf(8000, sites, { sitesMax: 10 });
  const { allocation, gap } = await solveMip(task, { secondsMax: 0 });
  assert.deepEqual(auditPlan(task, planOf(allocation)), []);
  assert.ok(gap !== undefined && gap > 0 && gap < 1, `gap ${gap}`);
});

test("no division of a few sites has a smaller sum than the answer", async () => {
  for (let seed = 1; seed <= 16; seed++) {
    const random = randomFrom(seed);
    const sites = Array.from({ length: 2 + below(random, 4) }, () => {
      const bytes = 10 + below(random, 90);
      return random.next() < 0.4 ? ([bytes, 10 + below(random, 40)] as const) : ([bytes] as const);
    });
    const task = taskOf(10, sites, { sitesMax: 1 + below(random, 3) });
    const { allocation, gap } = await solveMip(task, { ...WHOLE, intervalSeconds: 10 });
    const least = leastSum(task, 10);
    assert.equal(allocation.kind, least === Infinity ? "impossible" : "planned", `seed ${seed}`);
    if (allocation.kind === "impossible") continue;
    assert.deepEqual(auditPlan(task, allocation.plan), [], `seed ${seed}`);
    const figures = figuresOf(task, allocation.plan);
    assert.equal(figures.sumSeconds, least, `seed ${seed}`);
    assert.equal(figures.lateCount, 0, `seed ${seed}`);
    assert.equal(gap, 0, `seed ${seed}`);
  }
});

/** Tries every interval for every site. */
function leastSum(task: PlanTask, intervalSeconds: number): number {
  const question = mipModel(task, { intervalSeconds });
  if (question.kind === "impossible") return Infinity;
  return leastFrom(question.model, []) * intervalSeconds;
}

function leastFrom(model: MipModel, chosen: readonly number[]): number {
  const site = model.sites[chosen.length];
  if (site === undefined) return chosen.reduce((sum, interval) => sum + interval + 1, 0);
  let least = Infinity;
  for (let interval = 0; interval < site.intervals; interval++) {
    const here = model.sites.filter((_, other) => chosen[other] === interval);
    const share = here.reduce((sum, other) => sum + other.share, site.share);
    if (share > 1 + 1e-9 || here.length >= model.sitesMax) continue;
    least = Math.min(least, leastFrom(model, [...chosen, interval]));
  }
  return least;
}
