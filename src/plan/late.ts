/**
 * When not all deadlines can be kept: which to give up, and how late those must be at least.
 *
 * Moore and Hodgson (1968): take sites by deadline, and whenever they no longer fit, give up the
 * largest. Without caps that leaves the fewest late. With caps it is a matter of trying (already two
 * machines with preemption make it hard, Lawler 1983): the largest whose going makes the rest fit. Where
 * there are too many to try, all are treated as if they had no caps but shared a lower rate, the highest at which
 * those that are kept do fit. Then, as far as that can be tried, others are late in their place where all are
 * less late for it.
 */

import { type Claim, Cuts, missingAtLeast } from "./cuts.ts";
import { fitsAlone, missingSeconds } from "./feasible.ts";
import { byDeadlineDescending } from "./latest.ts";
import { leastWithout } from "./least.ts";
import { sorted } from "./order-by.ts";
import { SiteHeap } from "./site-heap.ts";
import { columnOf, withDeadlines, type Work } from "./work.ts";

/** How many are asked whether their going would do. */
const TRIES_MAX = 12;
const SITES_TO_TRY_MAX = 1000;
const HALVINGS = 6;
/** Of those to be late, how many are tried to be on time for another, and what that must gain. */
const SWAPS_MAX = 300;
const LESS_SHARE = 0.98;
/** How exactly the lateness of many sites is found. */
const PRECISION_OF_MANY = 1e-3;
/** Deadlines of more than this are rounded later on (`kept-schedule.ts`), so those to be late leave room for it,
 * and those to be in time do not need the whole rate. */
export const SITES_EXACT_MAX = 5000;
const PRECISION_OF_MOST = 0.03;
const ROOM_OF_MOST = 1.05;
const RATE_SHARE_OF_MOST = 0.98;

/** Deadlines that can all be kept: the fewest moved, and those all by the same, least time. */
export function deadlinesToKeep(work: Work): Float64Array {
  if (missingSeconds(work) === 0) return work.deadlineSeconds;
  if (work.count > SITES_EXACT_MAX) {
    const late = lateSites({ ...work, rateBps: work.rateBps * RATE_SHARE_OF_MOST });
    return moved(work, late, leastMove(work, late, PRECISION_OF_MOST) * ROOM_OF_MOST);
  }
  const late = lateSites(work);
  const isMany = work.count > SITES_TO_TRY_MAX;
  const bySeconds = leastMove(work, late, isMany ? PRECISION_OF_MANY : undefined);
  return isMany ? moved(work, late, bySeconds) : lessLate(work, late, bySeconds);
}

/** As many others late instead, one for one, as long as all can be less late for it. */
function lessLate(work: Work, late: readonly number[], bySeconds: number): Float64Array {
  let best = { late: [...late], bySeconds };
  let swaps = new Swaps(work, best.late, bySeconds * LESS_SHARE);
  let triesLeft = SWAPS_MAX;
  for (let at = 0; at < late.length; at++) {
    if (!fitsAlone(work, late[at] as number)) continue;
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
  return moved(work, best.late, best.bySeconds);
}

/** Whether all would do with late deadlines moved by so much, were another one late instead of one that is. */
class Swaps {
  readonly #work: Work;
  readonly #bySeconds: number;
  readonly #cuts: Cuts;
  /** Sites that could not do by then whoever else is late. */
  readonly #hopeless: ReadonlySet<number>;

  constructor(work: Work, late: readonly number[], bySeconds: number) {
    this.#work = work;
    this.#bySeconds = bySeconds;
    const dated = byDeadlineDescending(work);
    const deadlines = columnOf(work.deadlineSeconds, dated);
    const later = deadlines.map((seconds) => seconds + bySeconds);
    this.#cuts = new Cuts(work.rateBps, Float64Array.from([...deadlines, ...later]).sort());
    const isLate = new Set(late);
    for (const site of dated) this.#cuts.add(claimOf(work, site, isLate.has(site) ? bySeconds : 0));
    this.#hopeless = new Set(late.filter((site) => !fitsAlone(work, site, bySeconds)));
  }

  isEnough(lateSite: number, site: number): boolean {
    for (const hopeless of this.#hopeless) if (hopeless !== lateSite) return false;
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

function leastMove(work: Work, late: readonly number[], precision?: number): number {
  const isLate = new Uint8Array(work.count);
  for (const site of late) isLate[site] = 1;
  const dated = byDeadlineDescending(work);
  const inTime = dated.filter((site) => isLate[site] === 0);
  const moving = dated.filter((site) => isLate[site] === 1);
  const missingAt = (seconds: number) => {
    const deadlineSeconds = moved(work, late, seconds);
    // Each of the two stays in order, so that nothing is to be sorted again.
    const lastFirst = merged(inTime, moving, deadlineSeconds);
    return missingLooking(withDeadlines(work, deadlineSeconds), work.bytes, lastFirst);
  };
  return leastWithout(0, missingAt, precision);
}

/** What is missing; of many sites, as much as a first look finds, if that finds any. */
function missingLooking(work: Work, bytes: Float64Array, lastFirst: Int32Array): number {
  const isMany = work.count > SITES_TO_TRY_MAX;
  const atLeast = isMany ? missingAtLeast(work, bytes, lastFirst) : 0;
  return atLeast > 0 ? atLeast : missingSeconds(work, bytes, lastFirst);
}

/** Two lists of sites with the latest deadline first, as one. */
function merged(a: Int32Array, b: Int32Array, deadlineSeconds: Float64Array): Int32Array {
  const all = new Int32Array(a.length + b.length);
  const deadlineOf = (site: number | undefined) =>
    site === undefined ? Number.NEGATIVE_INFINITY : (deadlineSeconds[site] as number);
  let fromB = 0;
  for (let place = 0; place < all.length; place++) {
    const isA = deadlineOf(a[place - fromB]) >= deadlineOf(b[fromB]);
    all[place] = (isA ? a[place - fromB] : b[fromB++]) as number;
  }
  return all;
}

function missingWhenMoved(work: Work, late: readonly number[], bySeconds: number): number {
  return missingSeconds(withDeadlines(work, moved(work, late, bySeconds)));
}

function moved(work: Work, late: readonly number[], bySeconds: number): Float64Array {
  const deadlineSeconds = work.deadlineSeconds.slice();
  for (const site of late) deadlineSeconds[site] = (deadlineSeconds[site] as number) + bySeconds;
  return deadlineSeconds;
}

/** The sites to be late. */
function lateSites(work: Work): number[] {
  const late: number[] = [];
  const fitting: number[] = [];
  for (let site = 0; site < work.count; site++) {
    if (!fitsAlone(work, site)) late.push(site);
    else if ((work.deadlineSeconds[site] as number) < Number.POSITIVE_INFINITY) fitting.push(site);
  }
  const rest = sorted(Int32Array.from(fitting), work.deadlineSeconds);
  const isCapped = rest.some((site) => (work.capBps[site] as number) < work.rateBps);
  if (!isCapped) return late.concat(goneAt(work, rest, work.rateBps));
  return late.concat(work.count > SITES_TO_TRY_MAX ? goneOfMany(work, rest) : goneOf(work, rest));
}

/** By trying: whenever they no longer fit, the largest without which the others do; the last when there is none. */
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

/** First by looking not too closely, and if that lets too many be in time, again. */
function goneOfMany(work: Work, rest: Int32Array): number[] {
  const lastFirst = rest.toReversed();
  const gone = goneAtLowerRate(work, rest, (bytes) => missingAtLeast(work, bytes, lastFirst));
  if (missingSeconds(work, bytesWithout(work, gone), lastFirst) === 0) return gone;
  return goneAtLowerRate(work, rest, (bytes) => missingSeconds(work, bytes, lastFirst));
}

/** As if they shared a lower rate without caps: the highest that is low enough, as far as it is looked for. */
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

/** Moore and Hodgson's rule for one machine. Sites come by deadline. */
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
