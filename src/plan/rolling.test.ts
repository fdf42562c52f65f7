import assert from "node:assert/strict";
import { test } from "node:test";
import { anyWishes, cappedTask, seeds } from "./capped-task.suite.ts";
import { planOptimal } from "./optimal.ts";
import { figuresOf, isLate, type PlanTask } from "./plan.ts";
import { auditPlan } from "./plan-audit.ts";
import { mostSlack, slackFor, withSlack } from "./caution.ts";
import { planRolling } from "./rolling.ts";

const SLACK = slackFor({ sizes: true, speeds: true });

test("whatever is asked for, every byte is planned once and nothing beyond what there is", () => {
  for (const seed of seeds(60)) {
    const task = cappedTask(seed, anyWishes(seed, 8));
    assert.deepEqual(auditPlan(task, planRolling(task, SLACK, "min-sum")), [], `seed ${seed}`);
  }
});

test("who could be in time is in time", () => {
  for (const seed of seeds(60)) {
    const task = cappedTask(seed, anyWishes(seed, 8));
    if (!planOptimal(task, "min-sum").feasible) continue;
    const { sites } = planRolling(task, SLACK, "min-sum");
    for (const [index, site] of task.sites.entries())
      assert.ok(!isLate(site, sites[index]?.finishSeconds ?? 0), `seed ${seed}: ${site.key}`);
  }
});

test("what was kept in hand for a deadline is given to others as it comes nearer", () => {
  const one = { capBps: Infinity, weight: 1 };
  const task: PlanTask = {
    sites: [
      { ...one, key: "far", bytes: 80e6, deadlineSeconds: 100 },
      { ...one, key: "other", bytes: 17e6, deadlineSeconds: undefined },
    ],
    rateBps: 1e6,
    sitesMax: Infinity,
    rateMinBps: 0,
    startupSeconds: 0,
  };
  const share = mostSlack(task, SLACK, 0);
  assert.ok(share !== undefined);
  const first = planOptimal(withSlack(task, share), "min-sum").plan;
  const rolled = planRolling(task, SLACK, "min-sum");
  assert.deepEqual(auditPlan(task, rolled), []);
  const [before = 0, after = 0] = [first, rolled].map(({ sites }) => sites[0]?.finishSeconds ?? 0);
  assert.ok(after > before && after <= 100, `${before} ${after}`);
});

test("without deadlines it is the first plan that is carried out", () => {
  const task = cappedTask(7, { ...anyWishes(7, 8), dated: 0 });
  const first = figuresOf(task, planOptimal(task, "min-sum").plan);
  const rolled = figuresOf(task, planRolling(task, SLACK, "min-sum"));
  assert.ok(Math.abs(rolled.sumSeconds / first.sumSeconds - 1) < 0.01);
});
