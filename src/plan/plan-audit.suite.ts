/**
 * Checks a plan independently and reports every breach of its task in words.
 *
 * It knows nothing of how plans are made. A place is taken while a site's segments touch, rate 0
 * included; where a run of segments does not start with the start-up time at rate 0, the time
 * before it counts as that. Late sites are no breach: `figuresOf` counts them. O(s log s) in
 * segments.
 */

import type { Plan, PlanTask, Segment, SitePlan, SiteTask } from "./plan.ts";

/** Tolerance, as a share of the compared value; sums over many segments are rounded. */
const TOLERANCE = 1e-7;
const BREACHES_MAX = 20;

/** A step of a sum over time. */
interface Step {
  readonly atSeconds: number;
  readonly amount: number;
}

export function auditPlan(task: PlanTask, plan: Plan): string[] {
  const breaches: string[] = [];
  if (plan.sites.length !== task.sites.length)
    return [`the plan has ${plan.sites.length} sites, the task ${task.sites.length}`];
  const rates: Step[] = [];
  const places: Step[] = [];
  for (const [index, site] of task.sites.entries()) {
    const planned = plan.sites[index] as SitePlan;
    breaches.push(...siteBreaches(task, site, planned));
    for (const { fromSeconds, toSeconds, rateBps } of planned.segments) {
      rates.push({ atSeconds: fromSeconds, amount: rateBps });
      rates.push({ atSeconds: toSeconds, amount: -rateBps });
    }
    for (const { fromSeconds, toSeconds } of runsOf(planned, task.startupSeconds)) {
      places.push({ atSeconds: fromSeconds, amount: 1 });
      places.push({ atSeconds: toSeconds, amount: -1 });
    }
    if (breaches.length > BREACHES_MAX) return breaches;
  }
  const rate = highest(rates);
  if (rate.amount > task.rateBps * (1 + TOLERANCE))
    breaches.push(`${rate.amount} B/s at ${rate.atSeconds} s, above ${task.rateBps}`);
  const taken = highest(places);
  if (taken.amount > task.sitesMax)
    breaches.push(`${taken.amount} sites at ${taken.atSeconds} s, above ${task.sitesMax}`);
  return breaches;
}

function siteBreaches(task: PlanTask, site: SiteTask, planned: SitePlan): string[] {
  const breaches: string[] = [];
  if (planned.key !== site.key) breaches.push(`${planned.key} stands where ${site.key} should`);
  const say = (what: string) => breaches.push(`${site.key}: ${what}`);
  const rateMinBps = Math.min(task.rateMinBps, site.capBps, task.rateBps);
  let bytes = 0;
  let endSeconds = 0;
  let lastByteSeconds = 0;
  for (const { fromSeconds, toSeconds, rateBps } of planned.segments) {
    if (!(fromSeconds >= endSeconds)) say(`a segment begins at ${fromSeconds}, before its time`);
    if (!(toSeconds > fromSeconds)) say(`a segment ends at ${toSeconds}, as it begins`);
    if (!(rateBps >= 0)) say(`${rateBps} B/s`);
    if (rateBps > site.capBps * (1 + TOLERANCE)) say(`${rateBps} B/s, cap ${site.capBps}`);
    if (rateBps > 0 && rateBps < rateMinBps * (1 - TOLERANCE))
      say(`${rateBps} B/s, below the least of ${rateMinBps}`);
    bytes += rateBps * (toSeconds - fromSeconds);
    endSeconds = toSeconds;
    if (rateBps > 0) lastByteSeconds = toSeconds;
  }
  if (!(Math.abs(bytes - site.bytes) <= site.bytes * TOLERANCE + 1e-6))
    say(`${bytes} bytes of ${site.bytes}`);
  if (!(Math.abs(planned.finishSeconds - lastByteSeconds) <= lastByteSeconds * TOLERANCE))
    say(`finishes at ${planned.finishSeconds}, its last byte comes at ${lastByteSeconds}`);
  let beforeSeconds = 0;
  for (const run of runsOf(planned, task.startupSeconds)) {
    if (run.fromSeconds < beforeSeconds - TOLERANCE * task.startupSeconds)
      say(`runs at ${run.fromSeconds + task.startupSeconds} without its start-up`);
    beforeSeconds = run.toSeconds;
  }
  return breaches;
}

/** Joins touching segments, from the moment at which the place must have been taken. */
function runsOf({ segments }: SitePlan, startupSeconds: number): Omit<Segment, "rateBps">[] {
  const runs: { fromSeconds: number; toSeconds: number; startedSeconds: number }[] = [];
  let hasBytes = false;
  for (const { fromSeconds, toSeconds, rateBps } of segments) {
    let run = runs.at(-1);
    if (run === undefined || fromSeconds > run.toSeconds * (1 + 1e-12)) {
      run = { fromSeconds, toSeconds, startedSeconds: 0 };
      runs.push(run);
      hasBytes = false;
    }
    run.toSeconds = toSeconds;
    if (rateBps > 0) hasBytes = true;
    if (!hasBytes) run.startedSeconds = toSeconds - run.fromSeconds;
  }
  return runs.map(({ fromSeconds, toSeconds, startedSeconds }) => ({
    fromSeconds: fromSeconds - Math.max(0, startupSeconds - startedSeconds),
    toSeconds,
  }));
}

/** The highest sum that lasts: a step that ends within rounding of another's start goes first. */
function highest(steps: Step[]): Step {
  const endSeconds = steps.reduce((latest, { atSeconds }) => Math.max(latest, atSeconds), 0);
  const instant = endSeconds * 1e-10;
  steps.sort((a, b) => a.atSeconds - b.atSeconds);
  let sum = 0;
  let most: Step = { atSeconds: 0, amount: 0 };
  for (const [index, { atSeconds, amount }] of steps.entries()) {
    sum += amount;
    const next = steps[index + 1];
    if (next !== undefined && next.atSeconds - atSeconds <= instant) continue;
    if (sum > most.amount) most = { atSeconds, amount: sum };
  }
  return most;
}
