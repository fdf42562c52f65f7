import assert from "node:assert/strict";
import { test } from "node:test";
import { planFirst } from "../promise/first-plan.ts";
import { anyWishes, cappedTask, seeds } from "../capped-task.suite.ts";
import { secondsAlone, reserveFor } from "../promise/reserves.ts";
import { planOptimal, sumBoundOf } from "../optimum/optimal.ts";
import { taskOf } from "../papers/paper-task.suite.ts";
import { figuresOf, isLate, OBJECTIVES, type PlanTask, type SiteTask } from "../plan.ts";

const RESERVE = reserveFor({ sizes: true, servers: true });

/** The task with a deadline for one of its sites that this cannot meet with the whole line to itself. */
function withInfeasible(task: PlanTask, seed: number): { task: PlanTask; index: number } {
  const index = seed % task.sites.length;
  const site = task.sites[index] as SiteTask;
  const deadlineSeconds = secondsAlone(task, site) * (seed % 2 === 0 ? 0.95 : 0.4);
  return { task: { ...task, sites: task.sites.with(index, { ...site, deadlineSeconds }) }, index };
}

test("a deadline that its site cannot meet changes nothing for the other sites", () => {
  let looked = 0;
  for (const seed of seeds(60)) {
    const plain = cappedTask(
      seed,
      { ...anyWishes(seed, 12), dated: 0.6 },
      seed % 7 === 0 ? { sitesMax: 4, startupSeconds: 2 } : {},
    );
    const { task, index } = withInfeasible(plain, seed);
    const site = plain.sites[index] as SiteTask;
    const without = {
      ...plain,
      sites: plain.sites.with(index, { ...site, deadlineSeconds: undefined }),
    };
    for (const objective of OBJECTIVES)
      for (const planned of [
        (asked: PlanTask) => planOptimal(asked, objective),
        (asked: PlanTask) => planFirst(asked, RESERVE, objective),
      ]) {
        const withIt = planned(task).plan.sites;
        assert.deepEqual(withIt, planned(without).plan.sites, `seed ${seed}, ${objective}`);
        if (isLate(task.sites[index] as SiteTask, withIt[index]?.finishSeconds ?? 0)) looked++;
      }
  }
  assert.equal(looked, 60 * 4);
});

test("one more deadline than can be kept makes one site late at most, whichever that is", () => {
  let late = 0;
  for (const seed of seeds(60)) {
    const task = cappedTask(seed, { count: 2 + (seed % 8), dated: 0.6 });
    if (!planOptimal(task, "min-sum").feasible) continue;
    const index = task.sites.findIndex(({ deadlineSeconds }) => deadlineSeconds === undefined);
    if (index < 0) continue;
    const site = task.sites[index] as SiteTask;
    const deadlineSeconds = secondsAlone(task, site) * 1.02;
    const tight = { ...task, sites: task.sites.with(index, { ...site, deadlineSeconds }) };
    const { lateCount } = figuresOf(tight, planOptimal(tight, "min-sum").plan);
    assert.ok(lateCount <= 1, `seed ${seed}: ${lateCount} late`);
    late += lateCount;
  }
  assert.ok(late > 10, `${late}`);
});

test("the bound is below every schedule that keeps the same deadlines, also when one is given up", () => {
  // 10 MB due after 20 s at 400 KB/s cannot be; the small one first, then this: 1 s and 26 s.
  const task = taskOf(400_000, [
    [10e6, 20],
    [400_000, 40],
  ]);
  const planned = planOptimal(task, "min-sum");
  assert.deepEqual(
    planned.plan.sites.map(({ finishSeconds }) => finishSeconds),
    [26, 1],
  );
  const bound = sumBoundOf(task, planned);
  assert.ok(bound <= 27 + 1e-9, `${bound}`);
});
