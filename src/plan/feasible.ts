/**
 * Whether all deadlines can be kept, and the least that would have to change: rate, time or lateness.
 *
 * Exact where neither places nor least rates bind (`latest.ts`). O(n log n) a question; the least of something is
 * found by halving, to one part in a billion.
 */

import { byDeadlineDescending, bytesDueBy } from "./latest.ts";
import { withDeadlines, workOf, hasPlaces, type Work } from "./work.ts";
import type { PlanTask } from "./plan.ts";
import { searchPlaced } from "./placed-search.ts";

/** Height that is only rounding: sums of steps against times as long as the last deadline. */
const HEIGHT_ROUNDING = 1e-13;
const HALVINGS_MAX = 60;
const DOUBLINGS_MAX = 50;
const PRECISION = 1e-10;

/** With places or least rates: whether a plan was found, for then the question itself is hard. */
export function isFeasible(task: PlanTask): boolean {
  const work = workOf(task);
  if (!keepsDeadlines(work)) return false;
  return !hasPlaces(task) || searchPlaced(task, "min-sum", "full").score[0] === 0;
}

export function keepsDeadlines(work: Work, bytes: Float64Array = work.bytes): boolean {
  const { capBps, deadlineSeconds } = work;
  const dated = byDeadlineDescending(work);
  const last = dated[0];
  if (last === undefined) return true;
  const asked = { ...work, bytes };
  for (const site of dated) if (!fitsAlone(asked, site)) return false;
  const rounding = (deadlineSeconds[last] as number) * HEIGHT_ROUNDING;
  const due = bytesDueBy(0, work, bytes, dated);
  for (const site of dated)
    if ((due[site] as number) > rounding * (capBps[site] as number)) return false;
  return true;
}

/** Whether it keeps its deadline when it has the whole rate to itself. */
export function fitsAlone({ bytes, capBps, deadlineSeconds }: Work, site: number): boolean {
  const neededSeconds = (bytes[site] as number) / (capBps[site] as number);
  return neededSeconds <= (deadlineSeconds[site] as number);
}

/** The least time by which everything can be done, the deadlines kept; they must be possible. */
export function leastEndSeconds(work: Work): number {
  let bytes = 0;
  let endSeconds = 0;
  for (let site = 0; site < work.count; site++) {
    bytes += work.bytes[site] as number;
    endSeconds = Math.max(endSeconds, (work.bytes[site] as number) / (work.capBps[site] as number));
  }
  // Rounded up, for the sums of the answer are rounded too.
  endSeconds = Math.max(endSeconds, bytes / work.rateBps) * (1 + 1e-10);
  return leastThat(endSeconds, (seconds) => keepsDeadlines(endingBy(work, seconds)));
}

/** Nobody later than this. */
export function endingBy(work: Work, seconds: number): Work {
  return withDeadlines(
    work,
    work.deadlineSeconds.map((deadline) => Math.min(deadline, seconds)),
  );
}

/** The least value from `least` on for which it holds; Infinity when it holds for none that is tried. */
export function leastThat(
  least: number,
  holds: (value: number) => boolean,
  precision = PRECISION,
): number {
  if (holds(least)) return least;
  let low = least;
  let high = Math.max(2 * least, 1e-6);
  for (let doubling = 0; !holds(high); doubling++) {
    if (doubling === DOUBLINGS_MAX) return Number.POSITIVE_INFINITY;
    low = high;
    high *= 2;
  }
  for (let halving = 0; halving < HALVINGS_MAX && high - low > precision * high; halving++) {
    const middle = (low + high) / 2;
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}
