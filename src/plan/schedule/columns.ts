/**
 * A plan's task as plain columns for the planner's inner loops.
 *
 * Sites are numbers, their index in the task. Values that cannot bind are normalised: no cap is
 * above the whole rate, and a missing deadline is Infinity.
 */

import { ROUNDING_SHARE, type PlanTask } from "../plan.ts";

export interface Work {
  readonly count: number;
  readonly rateBps: number;
  readonly bytes: Float64Array;
  readonly capBps: Float64Array;
  readonly weight: Float64Array;
  /** Infinity for none. */
  readonly deadlineSeconds: Float64Array;
}

/**
 * Half of the tolerance of a kept deadline, so that sums of rounded steps stay on the right side.
 */
const SLACK_SHARE = ROUNDING_SHARE / 2;

/** Start-up is subtracted from the deadlines: where places do not bind, all sites start at once. */
export function workOf({ sites, rateBps, startupSeconds }: PlanTask): Work {
  const count = sites.length;
  const work: Work = {
    count,
    rateBps,
    bytes: new Float64Array(count),
    capBps: new Float64Array(count),
    weight: new Float64Array(count),
    deadlineSeconds: new Float64Array(count),
  };
  for (const [site, { bytes, capBps, weight, deadlineSeconds }] of sites.entries()) {
    work.bytes[site] = bytes;
    work.capBps[site] = Math.min(capBps, rateBps);
    work.weight[site] = weight;
    work.deadlineSeconds[site] =
      deadlineSeconds === undefined
        ? Number.POSITIVE_INFINITY
        : deadlineSeconds * (1 + SLACK_SHARE) - startupSeconds;
  }
  return work;
}

/** Whether places, least rates or start-up bind, so that sites wait for each other. */
export function hasPlaces({ sites, sitesMax, rateMinBps }: PlanTask): boolean {
  return sitesMax < sites.length || rateMinBps > 0;
}

/** A column's values of some sites. */
export function columnOf(column: Float64Array, sites: Int32Array): Float64Array {
  const values = new Float64Array(sites.length);
  for (let place = 0; place < sites.length; place++)
    values[place] = column[sites[place] as number] as number;
  return values;
}

/** The same work with other deadlines. */
export function withDeadlines(work: Work, deadlineSeconds: Float64Array): Work {
  return { ...work, deadlineSeconds };
}
