import assert from "node:assert/strict";
import { test } from "node:test";
import { anyWishes, cappedTask, seeds } from "../capped-task.suite.ts";
import { isFeasible } from "../feasible/feasible.ts";
import { planOptimal } from "../optimum/optimal.ts";
import type { PlanTask, SitePlan, SiteTask } from "../plan.ts";
import { taskOf } from "../papers/paper-task.suite.ts";
import { reserveFor, Reserves, secondsAlone } from "./reserves.ts";

const RESERVE = reserveFor({ sizes: true, servers: true });

function targetOf({ sites }: PlanTask, key: string): number | undefined {
  return sites.find((site) => site.key === key)?.deadlineSeconds;
}

function deadlinesOf(task: PlanTask | undefined): (number | undefined)[] | undefined {
  return task?.sites.map(({ deadlineSeconds }) => deadlineSeconds);
}

test("a target is a share of the time and a tail before its deadline, and no earlier than possible", () => {
  const roomy = taskOf(1e6, [[10e6, 100], [1e6], [5e6, 5]]);
  // 100 s less 5 % and 0.8 s; the third has no time to spare.
  const [first, second, third] = deadlinesOf(new Reserves().targetsOf(roomy, RESERVE)) ?? [];
  assert.ok(Math.abs((first ?? 0) - 94.2) < 1e-6, `${first}`);
  assert.equal(second, undefined);
  assert.ok(Math.abs((third ?? 0) - 5) < 1e-6, `${third}`);
});

test("reserves are larger where a server was only measured, and largest where a size is unknown", () => {
  const targetFor = (sizes: boolean, servers: boolean): number =>
    deadlinesOf(
      new Reserves().targetsOf(taskOf(1e6, [[1e6, 100]]), reserveFor({ sizes, servers })),
    )?.[0] ?? 0;
  assert.ok(Math.abs(targetFor(true, true) - 94.2) < 1e-6);
  assert.ok(Math.abs(targetFor(true, false) - 89) < 1e-6);
  assert.ok(Math.abs(targetFor(false, true) - 59) < 1e-6);
});

test("when all deadlines can be kept so can the targets, and none is later than its deadline", () => {
  let scaled = 0;
  for (const seed of seeds(200)) {
    const task = cappedTask(seed, { ...anyWishes(seed, 12), dated: 0.8 });
    const targets = new Reserves().targetsOf(task, RESERVE);
    assert.equal(targets !== undefined, isFeasible(task), `seed ${seed}`);
    if (targets === undefined) continue;
    assert.ok(isFeasible(targets), `seed ${seed}`);
    for (const [index, site] of task.sites.entries()) {
      const { deadlineSeconds = Infinity } = targets.sites[index] as SiteTask;
      assert.ok(deadlineSeconds <= (site.deadlineSeconds ?? Infinity), `seed ${seed}`);
      if (site.deadlineSeconds === undefined) continue;
      const wanted = site.deadlineSeconds * 0.95 - Math.min(0.8, site.deadlineSeconds / 10);
      if (deadlineSeconds > Math.max(wanted, secondsAlone(task, site)) * 1.001) scaled += 1;
    }
  }
  assert.ok(scaled > 10, `${scaled} targets were later than wanted`);
});

test("what is left of a task that went as planned has the targets it had", () => {
  for (const seed of seeds(40)) {
    const task = cappedTask(seed, { count: 8, dated: 0.8, tight: 1.5 });
    const reserves = new Reserves();
    const targets = reserves.targetsOf(task, RESERVE);
    if (targets === undefined) continue;
    const { plan } = planOptimal(targets, "min-sum");
    const rest = restOf(task, plan.sites, 2);
    const later = deadlinesOf(reserves.targetsOf(rest, RESERVE)) ?? [];
    for (const [index, { key }] of rest.sites.entries()) {
      const before = targetOf(targets, key);
      if (before === undefined) continue;
      const off = Math.abs((later[index] ?? 0) + 2 - before);
      assert.ok(off <= 0.02 * before, `seed ${seed}: ${key} ${later[index]} after ${before}`);
    }
  }
});

/** What is left of a task some time later, if it went as planned. */
function restOf(task: PlanTask, planned: readonly SitePlan[], seconds: number): PlanTask {
  const sites = task.sites.flatMap((site, index): SiteTask[] => {
    const { segments, finishSeconds } = planned[index] as SitePlan;
    if (finishSeconds <= seconds) return [];
    let { bytes } = site;
    for (const { fromSeconds, toSeconds, rateBps } of segments)
      bytes -= rateBps * Math.max(0, Math.min(toSeconds, seconds) - fromSeconds);
    const { deadlineSeconds } = site;
    const left = deadlineSeconds === undefined ? undefined : deadlineSeconds - seconds;
    return [{ ...site, bytes, deadlineSeconds: left }];
  });
  return { ...task, sites };
}
