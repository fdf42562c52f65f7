/**
 * Makes an answer in whole sites from the relaxed one, in which a site may be divided between intervals.
 *
 * The relaxed program is answered within a second, and in its answer all but a few sites (at most two an
 * interval) are in one interval each. Those stay. The others are put into the earliest interval with
 * room; where there is none, sites that may run later make room. Then sites are moved to
 * earlier intervals as long as that can be done: into free room; by moving another one on, not as far; or
 * by gathering the room that is left in other intervals, exchanging a site for a slightly smaller one
 * there, until it is enough.
 *
 * Promise: places, bytes and deadlines are kept; the same input gives the same answer. Every move makes
 * the sum smaller, and the work is bounded by `looksMax`: a few seconds at most.
 */

import { assert } from "../../base/assert.ts";
import { Heap } from "../../base/heap.ts";
import type { MipModel, MipSite } from "./mip.ts";

/** How often another site may be looked at, or a partner for an exchange searched, unless said otherwise. */
const LOOKS_MAX = 40_000_000;
/** Exchanges that one move may be made of. */
const EXCHANGES_MAX = 8;
/** What is this near to a whole site is one. */
const WHOLE = 0.999;
const ROUNDING = 1e-12;
const UNPLACED = -1;

interface Exchange {
  readonly site: number;
  /** What comes in its place, and how much room that makes. */
  readonly other: number;
  readonly share: number;
}

interface Room {
  readonly interval: number;
  /** Who has to leave, and how much of the interval they have. */
  readonly without: readonly number[];
  readonly share: number;
}

/**
 * For each site its interval, or undefined when this simple way does not find room for all of them.
 * `relaxed` has a value for each column of the model.
 */
export function roundedIntervals(
  model: MipModel,
  relaxed: ArrayLike<number>,
  looksMax = LOOKS_MAX,
): number[] | undefined {
  // The smallest first makes the sum small; the largest first needs fewer intervals.
  for (const isSmallFirst of [true, false]) {
    const packing = new Packing(model, looksMax);
    putWhole(packing, model, relaxed);
    if (!packing.placeRest(isSmallFirst)) continue;
    while (packing.improve());
    return packing.intervalOf;
  }
  return undefined;
}

function putWhole(packing: Packing, { sites }: MipModel, relaxed: ArrayLike<number>): void {
  let column = 0;
  for (const [site, { intervals }] of sites.entries())
    for (let interval = 0; interval < intervals; interval++)
      if ((relaxed[column++] as number) > WHOLE) packing.put(site, interval);
}

class Packing {
  readonly intervalOf: number[];
  readonly #sites: readonly MipSite[];
  /** The smallest first. */
  readonly #members: number[][];
  /** What is left of each interval: bytes as a share of all, and places. */
  readonly #room: number[];
  readonly #places: number[];
  readonly #looksMax: number;
  #looks = 0;

  constructor({ sites, intervals, sitesMax }: MipModel, looksMax: number) {
    this.#looksMax = looksMax;
    this.#sites = sites;
    this.intervalOf = sites.map(() => UNPLACED);
    this.#members = Array.from({ length: intervals }, () => []);
    this.#room = Array.from({ length: intervals }, () => 1);
    this.#places = Array.from({ length: intervals }, () => sitesMax);
  }

  put(site: number, interval: number): void {
    assert(this.intervalOf[site] === UNPLACED, "a site is crawled once");
    this.intervalOf[site] = interval;
    const members = this.#membersOf(interval);
    members.splice(this.#placeFor(members, this.#shareOf(site)), 0, site);
    this.#room[interval] = this.#roomOf(interval) - this.#shareOf(site);
    this.#places[interval] = (this.#places[interval] as number) - 1;
  }

  /**
   * The earliest deadlines first. A site without room takes it from sites with a later deadline,
   * which wait again; so it ends. False when a site finds none even so.
   */
  placeRest(isSmallFirst: boolean): boolean {
    const sign = isSmallFirst ? 1 : -1;
    const waiting = new Heap<number>(
      (a, b) =>
        this.#usableBy(a) - this.#usableBy(b) || sign * (this.#shareOf(a) - this.#shareOf(b)),
    );
    for (const [site, interval] of this.intervalOf.entries())
      if (interval === UNPLACED) waiting.push(site);
    for (let site = waiting.pop(); site !== undefined; site = waiting.pop()) {
      const room = this.#roomFor(site);
      if (room === undefined) return false;
      for (const other of room.without) {
        this.#take(other);
        waiting.push(other);
      }
      this.put(site, room.interval);
    }
    return true;
  }

  /** Tries to bring every site forward, the last ones first; true when it may be worth another time. */
  improve(): boolean {
    const before = this.#sum();
    const order = this.intervalOf
      .map((interval, site) => ({ interval, site }))
      .toSorted((a, b) => b.interval - a.interval || this.#shareOf(a.site) - this.#shareOf(b.site));
    for (const { site } of order) while (this.#bringForward(site));
    return this.#sum() < before && this.#looks < this.#looksMax;
  }

  #bringForward(site: number): boolean {
    const now = this.#intervalOf(site);
    const free = this.#earliest(site, now);
    if (free !== undefined) {
      this.#move(site, free);
      return true;
    }
    for (let to = 0; to < now; to++)
      if (this.#passOn(site, to) || this.#gather(site, to)) return true;
    return false;
  }

  /** Takes the place of another one, which goes on to an interval before the one that becomes free. */
  #passOn(site: number, to: number): boolean {
    const now = this.#intervalOf(site);
    for (const other of this.#membersOf(to)) {
      if (this.#looks++ >= this.#looksMax) return false;
      if (this.#shareOf(site) - this.#shareOf(other) > this.#roomOf(to) + ROUNDING) continue;
      const free = this.#earliest(other, Math.min(now, this.#usableBy(other)), to);
      if (free === undefined) continue;
      this.#move(other, free);
      this.#move(site, to);
      return true;
    }
    return false;
  }

  /** Gathers room in an interval by exchanges with others until the site fits; or leaves all as it was. */
  #gather(site: number, to: number): boolean {
    if ((this.#places[to] as number) < 1 || this.#looks >= this.#looksMax) return false;
    const now = this.#intervalOf(site);
    const done: Exchange[] = [];
    // Away from its interval meanwhile, so that others can use the room it leaves.
    this.#take(site);
    while (!this.#fits(site, to)) {
      const missing = this.#shareOf(site) - this.#roomOf(to);
      const found = done.length < EXCHANGES_MAX ? this.#exchangeFor(to, missing) : undefined;
      if (found === undefined) break;
      this.#swap(found.site, found.other);
      done.push(found);
    }
    const isRoom = this.#fits(site, to);
    if (!isRoom) for (const { site: a, other } of done.toReversed()) this.#swap(other, a);
    this.put(site, isRoom ? to : now);
    return isRoom;
  }

  /** The exchange that makes just enough room in an interval, or else as much as any. */
  #exchangeFor(to: number, missing: number): Exchange | undefined {
    let best: Exchange | undefined;
    for (let from = 0; from < this.#members.length; from++) {
      if (from === to || this.#roomOf(from) < ROUNDING) continue;
      for (const site of this.#membersOf(to)) {
        if (this.#usableBy(site) <= from) continue;
        const other = this.#partnerFor(site, from, missing);
        if (other === undefined) continue;
        const share = this.#shareOf(site) - this.#shareOf(other);
        if (isBetter(share, best?.share, missing)) best = { site, other, share };
      }
    }
    return best;
  }

  /** The one in an interval that is smaller by just enough, or by as much as there is room there. */
  #partnerFor(site: number, from: number, missing: number): number | undefined {
    this.#looks++;
    const others = this.#membersOf(from);
    const own = this.#shareOf(site);
    const canGo = (other: number | undefined): boolean =>
      other !== undefined && this.#usableBy(other) > this.#intervalOf(site);
    const least = this.#placeFor(others, own - this.#roomOf(from) - ROUNDING);
    const enough = this.#placeFor(others, own - missing + ROUNDING);
    for (let at = enough - 1; at >= least; at--) if (canGo(others[at])) return others[at];
    const end = this.#placeFor(others, own - ROUNDING);
    for (let at = Math.max(least, enough); at < end; at++) if (canGo(others[at])) return others[at];
    return undefined;
  }

  /** Where in a row of sites, smallest first, those begin that are at least so large. */
  #placeFor(row: readonly number[], share: number): number {
    let [low, high] = [0, row.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#shareOf(row[middle] as number) < share) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The earliest interval with room, or the one that has it without the fewest and smallest others. */
  #roomFor(site: number): Room | undefined {
    const free = this.#earliest(site, this.#usableBy(site));
    if (free !== undefined) return { interval: free, without: [], share: 0 };
    let best: Room | undefined;
    for (let interval = 0; interval < this.#usableBy(site); interval++) {
      const room = this.#roomWithout(site, interval);
      if (room === undefined) continue;
      const fewer = room.without.length - (best?.without.length ?? Infinity);
      if (fewer < 0 || (fewer === 0 && room.share < (best?.share ?? Infinity))) best = room;
    }
    return best;
  }

  #roomWithout(site: number, interval: number): Room | undefined {
    const later = this.#membersOf(interval).filter(
      (other) => this.#usableBy(other) > this.#usableBy(site),
    );
    const without: number[] = [];
    let missing = this.#shareOf(site) - this.#roomOf(interval) - ROUNDING;
    while (missing > 0 || (this.#places[interval] as number) + without.length < 1) {
      // The smallest that is enough, or else the largest there is.
      const enough = later.findIndex((other) => this.#shareOf(other) >= missing);
      const [other] = later.splice(enough, 1);
      if (other === undefined) return undefined;
      without.push(other);
      missing -= this.#shareOf(other);
    }
    const share = without.reduce((sum, other) => sum + this.#shareOf(other), 0);
    return { interval, without, share };
  }

  /** The first interval before another with room for the site; not the one it is in. */
  #earliest(site: number, before: number, own?: number): number | undefined {
    for (let interval = 0; interval < before; interval++)
      if (interval !== own && this.#fits(site, interval)) return interval;
    return undefined;
  }

  #fits(site: number, interval: number): boolean {
    return (
      (this.#places[interval] as number) > 0 &&
      this.#shareOf(site) <= this.#roomOf(interval) + ROUNDING
    );
  }

  #move(site: number, interval: number): void {
    this.#take(site);
    this.put(site, interval);
  }

  #swap(a: number, b: number): void {
    const [intervalA, intervalB] = [this.#intervalOf(a), this.#intervalOf(b)];
    this.#take(a);
    this.#move(b, intervalA);
    this.put(a, intervalB);
  }

  #take(site: number): void {
    const interval = this.#intervalOf(site);
    this.intervalOf[site] = UNPLACED;
    const members = this.#membersOf(interval);
    members.splice(members.indexOf(site), 1);
    this.#room[interval] = this.#roomOf(interval) + this.#shareOf(site);
    this.#places[interval] = (this.#places[interval] as number) + 1;
  }

  #sum(): number {
    return this.intervalOf.reduce((sum, interval) => sum + interval, 0);
  }

  #intervalOf(site: number): number {
    return this.intervalOf[site] as number;
  }

  #shareOf(site: number): number {
    return (this.#sites[site] as MipSite).share;
  }

  #usableBy(site: number): number {
    return (this.#sites[site] as MipSite).intervals;
  }

  #roomOf(interval: number): number {
    return this.#room[interval] as number;
  }

  #membersOf(interval: number): number[] {
    return this.#members[interval] as number[];
  }
}

/** Enough beats too little; of what is enough the least, of what is too little the most. */
function isBetter(share: number, best: number | undefined, missing: number): boolean {
  if (best === undefined) return true;
  const isEnough = share >= missing - ROUNDING;
  if (isEnough !== best >= missing - ROUNDING) return isEnough;
  return isEnough ? share < best : share > best;
}
