/**
 * Selects the deadlines to give up when they cannot all be kept.
 *
 * A deadline that is given up is no constraint any more. Extended instead, to the least possible
 * time, it would take the whole line at first, and every other site would finish at its last moment
 * for the sake of one that is late anyway.
 *
 * Moore and Hodgson (1968): add sites by deadline, and whenever they no longer fit, give up the
 * largest. Without caps that leaves the fewest late. With caps the problem is hard (Lawler 1983,
 * for two machines with preemption), so candidates are tried: the largest without which the rest
 * fits. With too many candidates, all sites are treated as if they had no caps but shared a lower
 * rate, the highest at which the kept ones fit. Then, as far as possible, other deadlines are given
 * up instead where all sites are less late for it.
 *
 * Promise: a deadline that its site could not meet with the whole line to itself changes nothing
 * for the other sites.
 */

import { type Claim, Cuts, missingAtLeast } from "./deadline-sums.ts";
import { fitsAlone, missingSeconds } from "./feasible.ts";
import { byDeadlineDescending } from "../schedule/level-schedule.ts";
import { leastWithout } from "./bisect.ts";
import { sorted } from "../schedule/radix-sort.ts";
import { type PlanTask, withoutDeadlines } from "../plan.ts";
import { SiteHeap } from "../schedule/index-heap.ts";
import { columnOf, hasPlaces, withDeadlines, type Work, workOf } from "../schedule/columns.ts";

/** Candidates that are tried. */
const TRIES_MAX = 12;
const SITES_TO_TRY_MAX = 1000;
const HALVINGS = 6;
/** Exchanges of a late site for another that are tried, and their least gain. */
const SWAPS_MAX = 300;
const LESS_SHARE = 0.98;
/**
 * Sites above which deadlines are rounded later (`kept-schedule.ts`), so that the kept ones must
 * not need the whole rate.
 */
export const SITES_EXACT_MAX = 5000;
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
  const late = lateSites(work);
  return withoutDeadlinesOf(work, work.count > SITES_TO_TRY_MAX ? late : lessLate(work, late));
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

/** Exchanges late sites one for one, as long as all are less late for it. */
function lessLate(work: Work, late: readonly number[]): number[] {
  let best = { late: [...late], bySeconds: leastMove(work, late) };
  let swaps = new Swaps(work, best.late, best.bySeconds * LESS_SHARE);
  let triesLeft = SWAPS_MAX;
  for (let at = 0; at < late.length; at++) {
    for (let site = 0; site < work.count && triesLeft > 0; site++) {
      if (work.deadlineSeconds[site] === Number.POSITIVE_INFINITY || best.late.includes(site))
        continue;
      triesLeft -= 1;
      const swapped = best.late.with(at, site);
      const wantedSeconds = best.bySeconds * LESS_SHARE;
      if (!swaps.isEnough(best.late[at] as number, site)) continue;
      if (missingWhenMoved(work, swapped, wantedSeconds) > 0) continue;
      const least = leastMove(work, swapped);
      best = { late: swapped, bySeconds: Math.min(least, wantedSeconds) };
      swaps = new Swaps(work, swapped, best.bySeconds * LESS_SHARE);
    }
  }
  return best.late;
}

/**
 * Decides whether all fit with late deadlines moved by some time, if another site were late instead
 * of one that is.
 */
class Swaps {
  readonly #work: Work;
  readonly #bySeconds: number;
  readonly #cuts: Cuts;

  constructor(work: Work, late: readonly number[], bySeconds: number) {
    this.#work = work;
    this.#bySeconds = bySeconds;
    const dated = byDeadlineDescending(work);
    const deadlines = columnOf(work.deadlineSeconds, dated);
    const later = deadlines.map((seconds) => seconds + bySeconds);
    this.#cuts = new Cuts(work.rateBps, Float64Array.from([...deadlines, ...later]).sort());
    const isLate = new Set(late);
    for (const site of dated) this.#cuts.add(claimOf(work, site, isLate.has(site) ? bySeconds : 0));
  }

  isEnough(lateSite: number, site: number): boolean {
    this.#move(lateSite, this.#bySeconds, 0);
    this.#move(site, 0, this.#bySeconds);
    const isEnough = this.#cuts.areKept;
    this.#move(site, this.#bySeconds, 0);
    this.#move(lateSite, 0, this.#bySeconds);
    return isEnough;
  }

  #move(site: number, fromSeconds: number, toSeconds: number): void {
    this.#cuts.remove(claimOf(this.#work, site, fromSeconds));
    this.#cuts.add(claimOf(this.#work, site, toSeconds));
  }
}

function leastMove(work: Work, late: readonly number[]): number {
  return leastWithout(0, (seconds) => missingWhenMoved(work, late, seconds));
}

function missingWhenMoved(work: Work, late: readonly number[], bySeconds: number): number {
  return missingSeconds(withDeadlines(work, moved(work, late, bySeconds)));
}

function moved(work: Work, late: readonly number[], bySeconds: number): Float64Array {
  const deadlineSeconds = work.deadlineSeconds.slice();
  for (const site of late) deadlineSeconds[site] = (deadlineSeconds[site] as number) + bySeconds;
  return deadlineSeconds;
}

/** The sites to be late, where each could be in time by itself. */
function lateSites(work: Work): number[] {
  const rest = byDeadlineDescending(work).toReversed();
  const isCapped = rest.some((site) => (work.capBps[site] as number) < work.rateBps);
  if (!isCapped) return goneAt(work, rest, work.rateBps);
  return work.count > SITES_TO_TRY_MAX ? goneOfMany(work, rest) : goneOf(work, rest);
}

/**
 * By trying: whenever they no longer fit, the largest without which the others do; the last if
 * there is none.
 */
function goneOf(work: Work, rest: Int32Array): number[] {
  const gone: number[] = [];
  const bySize = sorted(rest, work.bytes).toReversed();
  const kept = new Set<number>();
  const cuts = new Cuts(work.rateBps, columnOf(work.deadlineSeconds, rest));
  for (const site of rest) {
    kept.add(site);
    cuts.add(claimOf(work, site));
    if (cuts.areKept) continue;
    const going =
      oneToGo(
        work,
        cuts,
        bySize.filter((one) => kept.has(one)),
      ) ?? site;
    cuts.remove(claimOf(work, going));
    kept.delete(going);
    gone.push(going);
  }
  return gone;
}

function oneToGo(work: Work, cuts: Cuts, largestFirst: Int32Array): number | undefined {
  return largestFirst.subarray(0, TRIES_MAX).find((going) => {
    const claim = claimOf(work, going);
    cuts.remove(claim);
    const isEnough = cuts.areKept;
    cuts.add(claim);
    return isEnough;
  });
}

function claimOf({ bytes, capBps, deadlineSeconds }: Work, site: number, laterSeconds = 0): Claim {
  return {
    bytes: bytes[site] as number,
    capBps: capBps[site] as number,
    deadlineSeconds: (deadlineSeconds[site] as number) + laterSeconds,
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

/** Moore and Hodgson's rule for one machine, for sites in order of deadline. */
function goneAt(
  { bytes, deadlineSeconds, count }: Work,
  sites: Int32Array,
  rateBps: number,
): number[] {
  const kept = new SiteHeap(count);
  const gone: number[] = [];
  let sum = 0;
  for (const site of sites) {
    kept.put(site, -(bytes[site] as number));
    sum += bytes[site] as number;
    if (sum <= rateBps * (deadlineSeconds[site] as number)) continue;
    const largest = kept.take() as number;
    sum -= bytes[largest] as number;
    gone.push(largest);
  }
  return gone;
}
