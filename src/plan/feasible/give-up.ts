/**
 * Selects the deadlines to give up when they cannot all be kept.
 *
 * A deadline that is given up is no constraint any more. Extended instead, to the least possible
 * time, it would take the whole line at first, and every other site would finish at its last moment
 * for the sake of one that is late anyway.
 *
 * Sites are added by deadline, and whenever they no longer fit, one of those with the lowest priority
 * is dropped: the largest of them, which saves most others (Moore and Hodgson 1968). Without caps and
 * with equal priorities that leaves the fewest late. With caps the problem is hard (Lawler 1983, for
 * two machines with preemption), so candidates are tried: the first without which the rest fits.
 * With too many sites for that, all are treated as if they had no caps but shared a lower rate, the
 * highest at which the kept ones fit.
 *
 * Promise: a deadline that its site could not meet with the whole line to itself changes nothing
 * for the other sites.
 */

import { type Claim, Cuts, missingAtLeast } from "./deadline-sums.ts";
import { fitsAlone, missingSeconds } from "./feasible.ts";
import { byDeadlineDescending } from "../schedule/level-schedule.ts";
import { sorted } from "../schedule/radix-sort.ts";
import { type PlanTask, withoutDeadlines } from "../plan.ts";
import { SiteHeap } from "../schedule/index-heap.ts";
import { columnOf, hasPlaces, withDeadlines, type Work, workOf } from "../schedule/columns.ts";

/** Candidates that are tried. */
const TRIES_MAX = 12;
const SITES_TO_TRY_MAX = 1000;
const HALVINGS = 6;
/**
 * Sites above which the schedule does not look ahead to every deadline (`kept-schedule.ts`), so that
 * the kept ones must not need the whole rate.
 */
const SITES_EXACT_MAX = 5000;
const RATE_SHARE_OF_MOST = 0.98;

/**
 * The task without the deadlines that cannot be kept: their sites get what the others leave, and
 * never delay a site that can be in time. First the sites that would be late with the whole line to
 * themselves, so that they never decide which of the others is late; then, where places do not
 * bind, as few of the rest as possible.
 */
export function withKeptDeadlines(task: PlanTask): PlanTask {
  const work = workOf(task);
  const kept = hasPlaces(task)
    ? withoutDeadlinesOf(work, unreachableIn(work))
    : deadlinesToKeep(work);
  return withoutDeadlines(task, (_, index) => kept[index] === Number.POSITIVE_INFINITY);
}

/** Deadlines that can all be kept; Infinity for the fewest others. */
export function deadlinesToKeep(given: Work): Float64Array {
  const work = withDeadlines(given, withoutDeadlinesOf(given, unreachableIn(given)));
  if (missingSeconds(work) === 0) return work.deadlineSeconds;
  if (work.count > SITES_EXACT_MAX)
    return withoutDeadlinesOf(
      work,
      lateSites({ ...work, rateBps: work.rateBps * RATE_SHARE_OF_MOST }),
    );
  return withoutDeadlinesOf(work, lateSites(work));
}

/** Sites that would be late with the whole line to themselves. */
function unreachableIn(work: Work): number[] {
  const late: number[] = [];
  for (let site = 0; site < work.count; site++) if (!fitsAlone(work, site)) late.push(site);
  return late;
}

function withoutDeadlinesOf({ deadlineSeconds }: Work, late: readonly number[]): Float64Array {
  const kept = deadlineSeconds.slice();
  for (const site of late) kept[site] = Number.POSITIVE_INFINITY;
  return kept;
}

/** The sites to be late, where each could be in time by itself. */
function lateSites(work: Work): number[] {
  const rest = byDeadlineDescending(work).toReversed();
  const isCapped = rest.some((site) => (work.capBps[site] as number) < work.rateBps);
  const isEqual = rest.every((site) => work.weight[site] === work.weight[rest[0] as number]);
  if (!isCapped && isEqual) return goneAt(work, rest, work.rateBps);
  return work.count > SITES_TO_TRY_MAX ? goneOfMany(work, rest) : goneOf(work, rest);
}

/** By trying candidates, whenever the sites no longer fit. */
function goneOf(work: Work, rest: Int32Array): number[] {
  const gone: number[] = [];
  const ranks = ranksOf(work);
  const inOrder = sorted(rest, ranks);
  const kept = new Set<number>();
  const cuts = new Cuts(work.rateBps, columnOf(work.deadlineSeconds, rest));
  for (const site of rest) {
    kept.add(site);
    cuts.add(claimOf(work, site));
    if (cuts.areKept) continue;
    const candidates = inOrder.filter((one) => kept.has(one));
    const going = oneToGo(work, cuts, candidates) ?? site;
    cuts.remove(claimOf(work, going));
    kept.delete(going);
    gone.push(going);
  }
  return gone;
}

/** By site: the lowest is dropped first. */
function ranksOf({ bytes, weight }: Work): Float64Array {
  const most = bytes.reduce((high, size) => Math.max(high, size), 1);
  return bytes.map((size, site) => (weight[site] as number) * 1000 * most - size);
}

function oneToGo(work: Work, cuts: Cuts, candidates: Int32Array): number | undefined {
  return candidates.subarray(0, TRIES_MAX).find((going) => {
    const claim = claimOf(work, going);
    cuts.remove(claim);
    const isEnough = cuts.areKept;
    cuts.add(claim);
    return isEnough;
  });
}

function claimOf({ bytes, capBps, deadlineSeconds }: Work, site: number): Claim {
  return {
    bytes: bytes[site] as number,
    capBps: capBps[site] as number,
    deadlineSeconds: deadlineSeconds[site] as number,
  };
}

/** First with a coarse check, and if that accepts too many, again. */
function goneOfMany(work: Work, rest: Int32Array): number[] {
  const lastFirst = rest.toReversed();
  const gone = goneAtLowerRate(work, rest, (bytes) => missingAtLeast(work, bytes, lastFirst));
  if (missingSeconds(work, bytesWithout(work, gone), lastFirst) === 0) return gone;
  return goneAtLowerRate(work, rest, (bytes) => missingSeconds(work, bytes, lastFirst));
}

/**
 * As if they shared a lower rate without caps: the highest that is low enough, to the precision of
 * the search.
 */
function goneAtLowerRate(
  work: Work,
  rest: Int32Array,
  missingOf: (bytes: Float64Array) => number,
): number[] {
  let [low, high] = [0, 1];
  let best = [...rest];
  for (let halving = 0; halving <= HALVINGS; halving++) {
    const share = halving === 0 ? 1 : (low + high) / 2;
    const gone = goneAt(work, rest, work.rateBps * share);
    if (missingOf(bytesWithout(work, gone)) === 0) {
      low = share;
      if (gone.length < best.length) best = gone;
    } else high = share;
    if (low === high) break;
  }
  return best;
}

function bytesWithout(work: Work, gone: readonly number[]): Float64Array {
  const bytes = work.bytes.slice();
  for (const site of gone) bytes[site] = 0;
  return bytes;
}

/** Moore and Hodgson's rule for one machine, for sites in order of deadline, by bytes / weight. */
function goneAt(work: Work, sites: Int32Array, rateBps: number): number[] {
  const { bytes, deadlineSeconds, weight, count } = work;
  const kept = new SiteHeap(count);
  const gone: number[] = [];
  let sum = 0;
  for (const site of sites) {
    kept.put(site, -(bytes[site] as number) / (weight[site] as number));
    sum += bytes[site] as number;
    // Several may be smaller than the one that no longer fits.
    while (sum > rateBps * (deadlineSeconds[site] as number)) {
      const going = kept.take() as number;
      sum -= bytes[going] as number;
      gone.push(going);
    }
  }
  return gone;
}
