/**
 * What a byte of the line's time costs at each moment, and what every site would do at these prices.
 *
 * Prices fall towards the end along a line that is bent at a few knots and flattens at each. A site alone with them
 * chooses when to run at its cap so that weight × finish + what its bytes cost is least; as the line is convex, the
 * best start is where the price falls by weight / cap while the site runs. The sum of all these least costs, less what
 * the whole line would cost, is below what any schedule can reach: the rate of the line is a constraint
 * that has been replaced by a price (Lagrange; Fisher 1981). So any prices give a bound, and good ones a good one.
 *
 * O(log k) for a site and k knots.
 */

import type { Work } from "../schedule/columns.ts";

const BUCKETS = 1024;
/** A start is looked for so often, or until the price falls as wanted to this part. */
const STEPS_MAX = 12;
const FALL_PRECISION = 1e-6;

export class Prices {
  /** The sum of weighted finishes that no schedule is below, for the prices last set. */
  boundSumSeconds = 0;
  /** When each site would begin. */
  readonly starts: Float64Array;
  /** At each knot: bytes that would have come by then, beyond what the line can bring. */
  readonly excessBytes: Float64Array;
  readonly knots: Float64Array;
  readonly endSeconds: number;
  readonly #work: Work;
  readonly #prices: Float64Array;
  /** By knot: how fast the price falls from there to the next. */
  #falls: Float64Array = new Float64Array(0);
  /** Up to each knot: the integral of the prices. */
  readonly #sums: Float64Array;
  /** The last knot at or before the begin of each of many equal stretches. */
  readonly #buckets: Int32Array;
  /** Rate that begins less rate that ends between this knot and the next, and the same times its moment. */
  readonly #changesBps: Float64Array;
  readonly #changesBytes: Float64Array;

  /** Knots ascend from 0. */
  constructor(work: Work, knots: Float64Array) {
    this.#work = work;
    this.knots = knots;
    this.endSeconds = knots[knots.length - 1] as number;
    this.starts = new Float64Array(work.count);
    this.excessBytes = new Float64Array(knots.length);
    this.#prices = new Float64Array(knots.length);
    this.#sums = new Float64Array(knots.length);
    this.#changesBps = new Float64Array(knots.length);
    this.#changesBytes = new Float64Array(knots.length);
    this.#buckets = new Int32Array(BUCKETS + 1);
    let knot = 0;
    for (let bucket = 0; bucket <= BUCKETS; bucket++) {
      const seconds = (this.endSeconds * bucket) / BUCKETS;
      while (knot + 2 < knots.length && (knots[knot + 1] as number) <= seconds) knot++;
      this.#buckets[bucket] = knot;
    }
  }

  /** Takes how fast the price falls between each knot and the next: never faster than before. */
  set(falls: Float64Array): void {
    const { knots } = this;
    this.#falls = falls;
    for (let knot = knots.length - 2; knot >= 0; knot--)
      this.#prices[knot] = this.#at(knot + 1) + (falls[knot] as number) * this.#length(knot);
    for (let knot = 1; knot < knots.length; knot++)
      this.#sums[knot] =
        (this.#sums[knot - 1] as number) +
        ((this.#at(knot - 1) + this.#at(knot)) / 2) * this.#length(knot - 1);
    this.#ask();
  }

  #ask(): void {
    this.#changesBps.fill(0);
    this.#changesBytes.fill(0);
    const { count, rateBps, bytes, capBps } = this.#work;
    let bound = -rateBps * (this.#sums[this.knots.length - 1] as number);
    for (let site = 0; site < count; site++) {
      if (bytes[site] === 0) continue;
      bound += this.#leastCost(site);
      const start = this.starts[site] as number;
      const cap = capBps[site] as number;
      this.#change(start, cap);
      this.#change(start + (bytes[site] as number) / cap, -cap);
    }
    this.boundSumSeconds = bound;
    let ratesBps = 0;
    let rateBytes = 0;
    for (const [knot, seconds] of this.knots.entries()) {
      this.excessBytes[knot] = ratesBps * seconds - rateBytes - rateBps * seconds;
      ratesBps += this.#changesBps[knot] as number;
      rateBytes += this.#changesBytes[knot] as number;
    }
  }

  #change(seconds: number, rateBps: number): void {
    if (seconds >= this.endSeconds) return;
    const knot = this.#knotAt(seconds);
    this.#changesBps[knot] = (this.#changesBps[knot] as number) + rateBps;
    this.#changesBytes[knot] = (this.#changesBytes[knot] as number) + rateBps * seconds;
  }

  /** Of one site, with the start it would choose, before its deadline. */
  #leastCost(site: number): number {
    const { bytes, capBps, weight, deadlineSeconds } = this.#work;
    const cap = capBps[site] as number;
    const seconds = (bytes[site] as number) / cap;
    const latest = Math.min(this.endSeconds, (deadlineSeconds[site] as number) - seconds);
    const wanted = (weight[site] as number) / cap;
    const off = this.#chooseStart(site, seconds, Math.max(0, latest), wanted);
    const start = this.starts[site] as number;
    const cost = (weight[site] as number) * (start + seconds);
    return cost + cap * (this.#sumAt(start + seconds) - this.#sumAt(start) - off);
  }

  /**
   * Finds where the price falls as much as wanted. As the cost is convex it lies above its tangents: what is
   * returned is how much lower, a byte per second, it could be where it was not looked for.
   */
  #chooseStart(site: number, seconds: number, latest: number, wanted: number): number {
    this.starts[site] = 0;
    let fallLow = this.#fall(0, seconds) - wanted;
    if (latest === 0 || fallLow <= 0) return 0;
    this.starts[site] = latest;
    let fallHigh = this.#fall(latest, seconds) - wanted;
    if (fallHigh >= 0) return 0;
    let first = 0;
    let last = latest < this.endSeconds ? this.#knotAt(latest) + 1 : this.knots.length - 1;
    while (last - first > 1) {
      const middle = (first + last) >> 1;
      const fall = this.#fallAfter(middle, this.knots[middle] as number, seconds) - wanted;
      if (fall > 0) {
        first = middle;
        fallLow = fall;
      } else {
        last = middle;
        fallHigh = fall;
      }
    }
    let low = this.knots[first] as number;
    let high = Math.min(latest, this.knots[last] as number);
    let start = low;
    let fall = fallLow;
    for (let step = 0; step < STEPS_MAX && high > low; step++) {
      start = (low * fallHigh - high * fallLow) / (fallHigh - fallLow);
      fall = this.#fallAfter(first, start, seconds) - wanted;
      if (Math.abs(fall) <= wanted * FALL_PRECISION) break;
      // A side that stays is made to weigh less, or one end would never move (the Illinois rule).
      if (fall > 0) {
        low = start;
        fallLow = fall;
        fallHigh /= 2;
      } else {
        high = start;
        fallHigh = fall;
        fallLow /= 2;
      }
    }
    this.starts[site] = start;
    return Math.abs(fall) * (high - low);
  }

  #fall(start: number, seconds: number): number {
    return this.#priceAt(start) - this.#priceAt(start + seconds);
  }

  /** The same where it is known between which knots it starts. */
  #fallAfter(knot: number, start: number, seconds: number): number {
    return this.#priceAfter(knot, start) - this.#priceAt(start + seconds);
  }

  #priceAt(seconds: number): number {
    return seconds >= this.endSeconds ? 0 : this.#priceAfter(this.#knotAt(seconds), seconds);
  }

  #priceAfter(knot: number, seconds: number): number {
    return (
      this.#at(knot) - (this.#falls[knot] as number) * (seconds - (this.knots[knot] as number))
    );
  }

  meanPrice(fromSeconds: number, toSeconds: number): number {
    return (this.#sumAt(toSeconds) - this.#sumAt(fromSeconds)) / (toSeconds - fromSeconds);
  }

  #sumAt(seconds: number): number {
    if (seconds >= this.endSeconds) return this.#sums[this.knots.length - 1] as number;
    const knot = this.#knotAt(seconds);
    const passed = seconds - (this.knots[knot] as number);
    const mean = (this.#at(knot) + this.#priceAfter(knot, seconds)) / 2;
    return (this.#sums[knot] as number) + mean * passed;
  }

  /** The last knot at or before a moment within the knots. */
  #knotAt(seconds: number): number {
    const bucket = Math.min(BUCKETS - 1, Math.floor((seconds / this.endSeconds) * BUCKETS));
    let low = this.#buckets[bucket] as number;
    let high = (this.#buckets[bucket + 1] as number) + 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.knots[middle] as number) <= seconds) low = middle;
      else high = middle;
    }
    return low;
  }

  #at(knot: number): number {
    return this.#prices[knot] as number;
  }

  #length(knot: number): number {
    return (this.knots[knot + 1] as number) - (this.knots[knot] as number);
  }
}
