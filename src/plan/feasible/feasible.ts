/**
 * Whether all deadlines can be kept, and the least that would have to change: rate, time or lateness.
 *
 * Exact where neither places nor least rates bind (`latest.ts`). O(n log n) a question; the least of something
 * is found by a few of them, to one part in a billion (`least.ts`).
 */

import { byDeadlineDescending, bytesDueBy } from "../schedule/level-schedule.ts";
import { leastWithout } from "./bisect.ts";
import { orderBy } from "../schedule/radix-sort.ts";
import { searchPlaced } from "../schedule/placed-search.ts";
import type { PlanTask } from "../plan.ts";
import { withDeadlines, workOf, hasPlaces, type Work } from "../schedule/columns.ts";

/** Rounding error of a height: sums of steps over times as long as the last deadline. */
const HEIGHT_ROUNDING = 1e-13;

/** With places or least rates: whether a plan was found, because the exact question is hard. */
export function isFeasible(task: PlanTask): boolean {
  const work = workOf(task);
  if (!keepsDeadlines(work)) return false;
  return !hasPlaces(task) || searchPlaced(task, "min-sum").score[0] === 0;
}

export function keepsDeadlines(work: Work, bytes: Float64Array = work.bytes): boolean {
  return missingSeconds(work, bytes) === 0;
}

/**
 * 0 when all deadlines can be kept, else about the additional time needed: that of the line for
 * bytes that no schedule can deliver in time, or that of one site alone.
 *
 * `dated`: the sites with a deadline, the latest first.
 */
export function missingSeconds(
  work: Work,
  bytes: Float64Array = work.bytes,
  dated: Int32Array = byDeadlineDescending(work),
): number {
  const { capBps, deadlineSeconds, rateBps } = work;
  const last = dated[0];
  if (last === undefined) return 0;
  let alone = 0;
  for (const site of dated) {
    const neededSeconds = (bytes[site] as number) / (capBps[site] as number);
    alone = Math.max(alone, neededSeconds - (deadlineSeconds[site] as number));
  }
  if (alone > 0) return alone;
  const due = bytesDueBy(0, work, bytes, dated);
  let height = 0;
  let sum = 0;
  for (const site of dated) {
    height = Math.max(height, (due[site] as number) / (capBps[site] as number));
    sum += due[site] as number;
  }
  const isRounding = height <= (deadlineSeconds[last] as number) * HEIGHT_ROUNDING;
  return isRounding ? 0 : sum / rateBps;
}

/** Whether it keeps its deadline, or is at most this much later, with the whole rate to itself. */
export function fitsAlone(
  { bytes, capBps, deadlineSeconds }: Work,
  site: number,
  laterSeconds = 0,
): boolean {
  const neededSeconds = (bytes[site] as number) / (capBps[site] as number);
  return neededSeconds <= (deadlineSeconds[site] as number) + laterSeconds;
}

/** The least time by which all can be done with the deadlines kept; they must be possible. */
export function leastEndSeconds(work: Work): number {
  // For any end, sites finish by their own deadlines.
  const { deadlineSeconds } = work;
  const lastFirst = orderBy(work.count, (site) => -(deadlineSeconds[site] as number));
  return leastWithout(earliestEndSeconds(work), (seconds) =>
    missingSeconds(endingBy(work, seconds), work.bytes, lastFirst),
  );
}

/** The least time by which all could be done without deadlines. */
export function earliestEndSeconds(work: Work): number {
  let bytes = 0;
  let endSeconds = 0;
  for (let site = 0; site < work.count; site++) {
    bytes += work.bytes[site] as number;
    endSeconds = Math.max(endSeconds, (work.bytes[site] as number) / (work.capBps[site] as number));
  }
  // Rounded up, because the sums of the result are rounded too.
  return Math.max(endSeconds, bytes / work.rateBps) * (1 + 1e-10);
}

/** The same work with no deadline later than this. */
export function endingBy(work: Work, seconds: number): Work {
  return withDeadlines(
    work,
    work.deadlineSeconds.map((deadline) => Math.min(deadline, seconds)),
  );
}
