import assert from "node:assert/strict";
import { test } from "node:test";
import { anyWishes, cappedTask, permutations, seeds, type Wishes } from "../capped-task.suite.ts";
import { planCpq } from "../papers/cpq.ts";
import { keepsDeadlines, leastEndSeconds } from "../feasible/feasible.ts";
import { listFinishes } from "../schedule/list-schedule.ts";
import { planMMaxt, planMSumt } from "../papers/constant-rates.ts";
import { type OptimalPlan, planOptimal, sumBoundOf } from "./optimal.ts";
import { randomTask, taskOf } from "../papers/paper-task.suite.ts";
import { placedFinishes, placesOf } from "../schedule/placed-schedule.ts";
import { placedWorkOf } from "../schedule/placed-schedule.ts";
import { auditPlan } from "../plan-audit.suite.ts";
import { type Allocation, figuresOf, isLate, type Objective, OBJECTIVES } from "../plan.ts";
import type { Plan, PlanTask, SiteTask } from "../plan.ts";
import { workOf } from "../schedule/columns.ts";

function finishesOf({ plan }: OptimalPlan): number[] {
  return plan.sites.map(({ finishSeconds }) => finishSeconds);
}

function atMost(found: number, limit: number, about: string): void {
  assert.ok(found <= limit * (1 + 2e-9) + 1e-9, `${about}: ${found} > ${limit}`);
}

test("a given order is followed, and makes no deadline late that can be kept", () => {
  const nearly = taskOf(1e6, [[10e6], [9.95e6]]);
  assert.deepEqual(planOptimal(nearly, "min-sum").order, [1, 0]);
  assert.deepEqual(planOptimal(nearly, "min-sum", [0, 1]).order, [0, 1]);
  for (const seed of seeds(200)) {
    const task = cappedTask(seed, anyWishes(seed, 12));
    const fresh = planOptimal(task, "min-sum");
    const steady = planOptimal(task, "min-sum", [...task.sites.keys()].toReversed());
    assert.equal(steady.late.length, fresh.late.length, `seed ${seed}`);
  }
});

test("earliest deadline first meets what constant rates cannot", () => {
  const task = taskOf(1e6, [
    [10e6, 20],
    [10e6, 10],
  ]);
  assert.equal(planMMaxt(task).kind, "impossible");
  const planned = planOptimal(task, "min-sum");
  assert.ok(planned.feasible);
  assert.deepEqual(finishesOf(planned), [20, 10]);
  assert.deepEqual(planned.order, [1, 0]);
  assert.equal(sumBoundOf(task, planned), 30);
});

test("the small go first, but not past a deadline", () => {
  const task = taskOf(1, [[1], [2], [3, 3]]);
  assert.deepEqual(finishesOf(planOptimal(task, "min-sum")), [4, 6, 3]);
  const later = taskOf(1, [[1], [2], [3, 5]]);
  assert.deepEqual(finishesOf(planOptimal(later, "min-sum")), [1, 6, 4]);
});

test("min-max begins with the slow one", () => {
  const slow: SiteTask = {
    key: "slow",
    bytes: 10,
    deadlineSeconds: undefined,
    capBps: 1,
    weight: 1,
  };
  const task = { ...taskOf(2, []), sites: [slow, { ...slow, key: "wide", bytes: 10, capBps: 2 }] };
  const planned = planOptimal(task, "min-max");
  atMost(figuresOf(task, planned.plan).maxSeconds, 10, "both");
});

test("an empty task and sites without bytes are planned", () => {
  assert.deepEqual(planOptimal(taskOf(1, []), "min-sum").plan, { sites: [] });
  const { plan, feasible } = planOptimal(
    taskOf(1, [
      [0, 5],
      [3, 3],
    ]),
    "min-max",
  );
  assert.ok(feasible);
  assert.deepEqual(plan.sites[0], { key: "site0", segments: [], finishSeconds: 0 });
});

test("every plan keeps to its task, and to all deadlines whenever that can be done", () => {
  const counts = { kept: 0, lost: 0 };
  for (const seed of seeds(1000))
    for (const objective of OBJECTIVES) {
      const startupSeconds = seed % 5 === 0 ? 3 : 0;
      const task = cappedTask(seed, anyWishes(seed, seed % 20 === 0 ? 60 : 12), { startupSeconds });
      const about = `seed ${seed}, ${objective}`;
      const planned = planOptimal(task, objective);
      assert.deepEqual(auditPlan(task, planned.plan), [], about);
      const canBeKept = keepsDeadlines(workOf(task));
      assert.equal(planned.feasible, canBeKept, about);
      const { lateCount, weightedSumSeconds, maxSeconds } = figuresOf(task, planned.plan);
      assert.equal(lateCount, planned.late.length, about);
      assert.equal(new Set(planned.order).size, task.sites.length, about);
      atMost(sumBoundOf(task, planned), weightedSumSeconds, about);
      if (canBeKept && objective === "min-max")
        atMost(maxSeconds, leastEndSeconds(workOf(task)) + startupSeconds, about);
      counts[canBeKept ? "kept" : "lost"]++;
    }
  assert.ok(counts.kept > 300 && counts.lost > 300, JSON.stringify(counts));
});

test("where a deadline can only just be kept, no price makes the bound higher than the plan", () => {
  const task = cappedTask(5919, anyWishes(5919, 12));
  const planned = planOptimal(task, "min-max");
  const { plan, late } = planned;
  assert.equal(late.length, 1);
  atMost(sumBoundOf(task, planned), figuresOf(task, plan).weightedSumSeconds, "the bound");
});

test("thousands of sites, each with a deadline of its own, are all in time", () => {
  const count = 12_000;
  const caps = [0.001, 0.03] as const;
  for (const objective of OBJECTIVES) {
    const task = cappedTask(7, { count, caps, dated: 0.5, weighted: true });
    const planned = planOptimal(task, objective);
    const { plan, feasible } = planned;
    assert.deepEqual(auditPlan(task, plan), []);
    assert.ok(feasible, objective);
    atMost(figuresOf(task, plan).weightedSumSeconds, 1.3 * sumBoundOf(task, planned), objective);
  }
});

test("of thousands of sites whose deadlines are too tight, few more are late than must be", () => {
  const task = cappedTask(1, { count: 10_000, caps: [0.001, 0.04], dated: 1, tight: 0.8 });
  for (const objective of OBJECTIVES) {
    const { plan, late } = planOptimal(task, objective);
    assert.deepEqual(auditPlan(task, plan), []);
    assert.ok(late.length > 0);
    assert.ok(late.length < 0.06 * task.sites.length, `${objective}: ${late.length} late`);
  }
});

test("without caps the sum is the least of all orders that keep the deadlines", () => {
  let looked = 0;
  for (const seed of seeds(400)) {
    // Smith's rules: weights without deadlines, deadlines without weights.
    const wishes: Wishes = {
      count: 2 + (seed % 5),
      ...(seed % 2 ? { dated: 0.6 } : { weighted: true }),
    };
    const task = cappedTask(seed, wishes);
    if (!keepsDeadlines(workOf(task))) continue;
    looked++;
    const { plan } = planOptimal(task, "min-sum");
    atMost(figuresOf(task, plan).weightedSumSeconds, leastSum(task), `seed ${seed}`);
  }
  assert.ok(looked > 200, `only ${looked}`);
});

test("without caps and weights the sum is its own bound, however many sites there are", () => {
  for (const count of [150, 600, 8000]) {
    const task = cappedTask(count, { count, dated: 0.3 });
    const planned = planOptimal(task, "min-sum");
    const { plan, feasible } = planned;
    assert.ok(feasible, `${count} sites`);
    atMost(figuresOf(task, plan).sumSeconds, sumBoundOf(task, planned), `${count} sites`);
  }
});

test("with caps the sum is 2 % above the least of all orders on average, and 12 % at worst", () => {
  const gaps: number[] = [];
  for (const seed of seeds(300)) {
    const task = cappedTask(seed, { count: 6, caps: [0.1, 1], weighted: seed % 2 === 0 });
    const { weightedSumSeconds } = figuresOf(task, planOptimal(task, "min-sum").plan);
    gaps.push(weightedSumSeconds / leastSum(task) - 1);
  }
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  assert.ok(mean <= 0.02 && Math.max(...gaps) <= 0.12, `${mean}, ${Math.max(...gaps)}`);
});

test("without caps the fewest are late", () => {
  let looked = 0;
  for (const seed of seeds(300)) {
    const task = cappedTask(seed, { count: 2 + (seed % 6), dated: 1, tight: 0.6 });
    const { late } = planOptimal(task, "min-sum");
    if (late.length > 0) looked++;
    assert.equal(late.length, fewestLate(task), `seed ${seed}`);
  }
  assert.ok(looked > 100, `only ${looked}`);
});

test("with caps the fewest are late in nearly all cases, and one more at most", () => {
  let more = 0;
  const all = seeds(300);
  for (const seed of all) {
    const task = cappedTask(seed, { count: 2 + (seed % 6), caps: [0.1, 1], dated: 1, tight: 0.6 });
    const { late } = planOptimal(task, "min-sum");
    const fewest = fewestLate(task);
    assert.ok(
      late.length >= fewest && late.length <= fewest + 1,
      `seed ${seed}: ${late.length}, ${fewest}`,
    );
    if (late.length > fewest) more++;
  }
  assert.ok(more <= all.length * 0.05, `${more} of ${all.length}`);
});

test("the sum of many sites is at most twice its bound, and a quarter above it on average", () => {
  const gaps: number[] = [];
  for (const seed of seeds(60)) {
    const caps = seed % 2 === 0 ? ([0.02, 0.6] as const) : ([0.1, 1] as const);
    const dated = seed % 4 < 2 ? 0 : 0.5;
    const wishes = { count: 20 + ((seed * 37) % 181), caps, dated, weighted: seed % 3 === 0 };
    const task = cappedTask(seed, wishes);
    const planned = planOptimal(task, "min-sum");
    const { plan, feasible } = planned;
    assert.ok(feasible, `seed ${seed}`);
    gaps.push(figuresOf(task, plan).weightedSumSeconds / sumBoundOf(task, planned) - 1);
  }
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  assert.ok(mean <= 0.27 && Math.max(...gaps) <= 1, `${mean}, ${Math.max(...gaps)}`);
});

test("no algorithm of the paper does better at what it is for", () => {
  const compared = { "m-maxt": 0, "m-sumt": 0, cpq: 0 };
  for (const seed of seeds(500)) {
    const task = { ...randomTask(seed, 10), ...(seed % 3 === 0 && { sitesMax: 1 + (seed % 4) }) };
    const compare = (name: keyof typeof compared, found: Allocation, objective: Objective) => {
      const theirs = found.kind === "planned" ? figuresOf(task, found.plan) : undefined;
      if (theirs === undefined) return;
      const ours = figuresOf(task, planOptimal(task, objective).plan);
      if (ours.lateCount < theirs.lateCount) return;
      compared[name]++;
      assert.equal(ours.lateCount, theirs.lateCount, `seed ${seed}, ${name}`);
      if (objective === "min-max")
        atMost(ours.maxSeconds, theirs.maxSeconds, `seed ${seed}, ${name}`);
      else atMost(ours.sumSeconds, theirs.sumSeconds, `seed ${seed}, ${name}`);
    };
    compare("m-maxt", planMMaxt(task), "min-max");
    compare("m-sumt", planMSumt(task), "min-sum");
    compare("cpq", planCpq(task), "min-sum");
    compare("cpq", planCpq(task), "min-max");
  }
  for (const [name, count] of Object.entries(compared)) assert.ok(count > 50, `${name}: ${count}`);
});

test("places, least rates and start-up: as good as the best of all orders, or nearly", () => {
  const gaps: number[] = [];
  for (const seed of seeds(120)) {
    const task = cappedTask(
      seed,
      { count: 5, caps: [0.1, 1], dated: seed % 2 ? 0.5 : 0 },
      {
        sitesMax: 1 + (seed % 4),
        rateMinBps: seed % 3 === 0 ? 100 : 0,
        startupSeconds: seed % 5 === 0 ? 4 : 0,
      },
    );
    for (const objective of OBJECTIVES) {
      const { plan } = planOptimal(task, objective);
      assert.deepEqual(auditPlan(task, plan), [], `seed ${seed}`);
      const [late, value] = bestPlaced(task, objective);
      const ours = valueOf(task, plan, objective);
      assert.ok(ours[0] <= late, `seed ${seed}, ${objective}: ${ours[0]} late, ${late}`);
      // Of late ones the least late is chosen before the objective counts.
      if (late > 0) continue;
      gaps.push(ours[1] / value - 1);
    }
  }
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  assert.ok(mean <= 0.02 && Math.max(...gaps) <= 0.42, `${mean}, ${Math.max(...gaps)}`);
});

test("of two deadlines that cannot both be kept the one of lower priority is dropped, else that of the larger site", () => {
  const site = (key: string, bytes: number, weight: number): SiteTask => ({
    key,
    bytes,
    weight,
    capBps: Infinity,
    deadlineSeconds: 12,
  });
  const lateOf = (...sites: SiteTask[]): string[] =>
    planOptimal({ ...taskOf(1e6, []), sites }, "min-sum").late.map(({ key }) => key);
  assert.deepEqual(lateOf(site("small", 5e6, 1), site("large", 10e6, 1)), ["large"]);
  assert.deepEqual(lateOf(site("small", 5e6, 1), site("large", 10e6, 2)), ["small"]);
});

function valueOf(task: PlanTask, plan: Plan, objective: Objective): [number, number] {
  const { lateCount, weightedSumSeconds, maxSeconds } = figuresOf(task, plan);
  return [lateCount, objective === "min-sum" ? weightedSumSeconds : maxSeconds];
}

/** The list schedules of all orders. */
function leastSum(task: PlanTask): number {
  const work = workOf(task);
  let least = Infinity;
  for (const order of permutations(work.count)) {
    const finishes = listFinishes(work, order);
    if (task.sites.some((site, index) => isLate(site, finishes[index] as number))) continue;
    let sum = 0;
    for (const [index, { weight }] of task.sites.entries())
      sum += weight * (finishes[index] as number);
    least = Math.min(least, sum);
  }
  return least;
}

/** The largest set that fits, of all there are. */
function fewestLate(task: PlanTask): number {
  const count = task.sites.length;
  let fewest = count;
  for (let set = 0; set < 2 ** count; set++) {
    const sites = task.sites.filter((_, index) => (set & (1 << index)) !== 0);
    if (count - sites.length < fewest && keepsDeadlines(workOf({ ...task, sites })))
      fewest = count - sites.length;
  }
  return fewest;
}

/** Late sites and the objective of the best list schedule of any order, joined as eagerly or not. */
function bestPlaced(task: PlanTask, objective: Objective): [number, number] {
  const work = placedWorkOf(task);
  let best: [number, number] = [Infinity, Infinity];
  for (const order of permutations(work.count))
    for (const squeezed of [false, true]) {
      const finishes = placedFinishes(work, placesOf(task), { order, squeezed });
      const sites = task.sites.map(({ key }, index) => ({
        key,
        segments: [],
        finishSeconds: finishes[index] as number,
      }));
      const found = valueOf(task, { sites }, objective);
      if (found[0] < best[0] || (found[0] === best[0] && found[1] < best[1])) best = found;
    }
  return best;
}
