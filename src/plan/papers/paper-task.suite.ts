/** Tasks for the tests of the paper's algorithms, by hand and from a seed. */

import assert from "node:assert/strict";
import { below, randomFrom } from "../../base/random.ts";
import {
  type Allocation,
  isLate,
  type Plan,
  type PlanTask,
  ROUNDING_SHARE,
  type SiteTask,
} from "../plan.ts";
import { auditPlan } from "../plan-audit.suite.ts";

/** Sites by size and, where there is one, deadline. */
export function taskOf(
  rateBps: number,
  sites: readonly (readonly [bytes: number, deadlineSeconds?: number])[],
  rest: Partial<PlanTask> = {},
): PlanTask {
  return {
    sites: sites.map(([bytes, deadlineSeconds], index): SiteTask => ({
      key: `site${index}`,
      bytes,
      deadlineSeconds,
      capBps: Infinity,
      weight: 1,
    })),
    rateBps,
    sitesMax: Infinity,
    rateMinBps: 0,
    startupSeconds: 0,
    ...rest,
  };
}

/** Sizes over three decades; half of the sites have a deadline, from hopeless to needless. */
export function randomTask(seed: number, countMax: number): PlanTask {
  const random = randomFrom(seed);
  const count = 1 + below(random, countMax);
  const bytes = Array.from({ length: count }, () => Math.ceil(1000 ** (1 + random.next())));
  const rateBps = 1000 + below(random, 100_000);
  const allSeconds = bytes.reduce((sum, size) => sum + size, 0) / rateBps;
  const tightness = 0.2 + 4 * random.next();
  return taskOf(
    rateBps,
    bytes.map((size) =>
      random.next() < 0.5 ? [size] : [size, allSeconds * tightness * (0.1 + random.next())],
    ),
  );
}

export function planOf(allocation: Allocation): Plan {
  assert.equal(allocation.kind, "planned", JSON.stringify(allocation));
  return (allocation as Extract<Allocation, { kind: "planned" }>).plan;
}

export function whyNot(allocation: Allocation): string {
  assert.equal(allocation.kind, "impossible");
  return (allocation as Extract<Allocation, { kind: "impossible" }>).why;
}

export function finishesOf(allocation: Allocation): number[] {
  return planOf(allocation).sites.map(({ finishSeconds }) => finishSeconds);
}

/** The one rate of each site; 0 for a site that is never crawled. */
export function ratesOf(allocation: Allocation): number[] {
  return planOf(allocation).sites.map(({ segments }) => {
    assert.ok(segments.length <= 1, "one rate for a site");
    return segments[0]?.rateBps ?? 0;
  });
}

export function assertNear(found: number, wanted: number, about: string): void {
  const apart = Math.abs(found - wanted);
  assert.ok(
    apart <= 10 * ROUNDING_SHARE * Math.abs(wanted) + 1e-9,
    `${about}: ${found}, ${wanted}`,
  );
}

export function assertNobodyLate(task: PlanTask, plan: Plan, about: string): void {
  for (const [index, site] of task.sites.entries())
    assert.ok(!isLate(site, plan.sites[index]?.finishSeconds ?? Infinity), `${about}: ${site.key}`);
}

/**
 * The paper's loop as it is printed, with its errata: go through all that are unallocated, fix those
 * that would be late, and go through the rest again. The rates, or undefined when it fails.
 */
function asPrinted(task: PlanTask, weightOf: (bytes: number) => number): number[] | undefined {
  const rates = task.sites.map(() => 0);
  let unallocated = task.sites.map((site, index) => ({ ...site, index }));
  let leftBps = task.rateBps;
  while (unallocated.length > 0) {
    if (leftBps <= ROUNDING_SHARE * task.rateBps) return undefined;
    const weights = unallocated.reduce((sum, { bytes }) => sum + weightOf(bytes), 0);
    const shareOf = (bytes: number): number => (leftBps * weightOf(bytes)) / weights;
    const late = unallocated.filter(
      (site) =>
        site.deadlineSeconds !== undefined &&
        site.bytes / shareOf(site.bytes) > site.deadlineSeconds,
    );
    const fixed = late.length === 0 ? unallocated : late;
    for (const { index, bytes, deadlineSeconds } of fixed)
      rates[index] = late.length === 0 ? shareOf(bytes) : bytes / (deadlineSeconds ?? Infinity);
    if (late.length > 0) leftBps -= late.reduce((sum, { index }) => sum + (rates[index] ?? 0), 0);
    unallocated = unallocated.filter((site) => !fixed.includes(site));
  }
  return leftBps < -ROUNDING_SHARE * task.rateBps ? undefined : rates;
}

/** On thousands of tasks, in either order of the sites, the answer is that of the loop as it is printed. */
export function assertAsPrinted(
  planned: (task: PlanTask) => Allocation,
  shareOf: (bytes: number) => number,
): void {
  let count = 0;
  for (let seed = 1; seed <= 2000; seed++) {
    const task = randomTask(seed, 12);
    const printed = asPrinted(task, shareOf);
    const answer = planned(task);
    const turned = planned({ ...task, sites: task.sites.toReversed() });
    assert.equal(answer.kind, printed === undefined ? "impossible" : "planned", `seed ${seed}`);
    assert.equal(turned.kind, answer.kind, `seed ${seed}`);
    if (printed === undefined) continue;
    count++;
    assert.deepEqual(auditPlan(task, planOf(answer)), [], `seed ${seed}`);
    assertNobodyLate(task, planOf(answer), `seed ${seed}`);
    for (const [index, rateBps] of ratesOf(answer).entries()) {
      assertNear(rateBps, printed[index] ?? 0, `seed ${seed}`);
      assertNear(ratesOf(turned).at(-1 - index) ?? 0, rateBps, `seed ${seed}`);
    }
  }
  assert.ok(count > 500 && count < 1900, `${count} of 2000 were possible`);
}
