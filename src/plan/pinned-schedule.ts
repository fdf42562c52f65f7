/**
 * The list schedule with a last call: whoever could no longer be in time otherwise runs at its cap from then on.
 *
 * The order is followed until some site needs its whole cap up to its deadline. That site is pinned: it gets its
 * cap until it is done, and the last in order of those that run make room. Nothing looks ahead here, so where too many
 * are called at once somebody is late; an order that foresees it (`start-order.ts`) leaves few to be called, and
 * then all are in time at the price of a list schedule. Without a call this is the list schedule. O(n log n).
 */

import { orderBy } from "./order-by.ts";
import { SiteHeap } from "./site-heap.ts";
import type { Track } from "./track.ts";
import type { Work } from "./work.ts";

/** Parts of the rate that are only rounding. */
const RATE_ROUNDING = 1e-12;

/** Sites by the last moment at which each can begin. */
export function byLastCall({ bytes, capBps, deadlineSeconds, count }: Work): Int32Array {
  return orderBy(
    count,
    (site) => (deadlineSeconds[site] as number) - (bytes[site] as number) / (capBps[site] as number),
  );
}

/** When each site is done; the rates are written down where a track is given. */
export function pinnedFinishes(
  work: Work,
  order: Int32Array,
  calls: Int32Array = byLastCall(work),
  track?: Track,
): Float64Array {
  const crawl = new Pinned(work, order, calls, track);
  crawl.run();
  return crawl.finishes;
}

const [FRESH, RUNS, STOPPED, DONE] = [0, 1, 2, 3];
/** Called and given its cap; called when there was nobody left to make room. */
const [PINNED, TOO_LATE] = [1, 2];

class Pinned {
  readonly finishes: Float64Array;
  readonly #work: Work;
  readonly #order: Int32Array;
  readonly #calls: Int32Array;
  readonly #track: Track | undefined;
  #nowSeconds = 0;
  #freeBps: number;
  readonly #roundingBps: number;
  /** Of those that do not run at their cap. */
  readonly #left: Float64Array;
  readonly #states: Uint8Array;
  readonly #called: Uint8Array;
  /** Those at their cap, by when they will be done. */
  readonly #full: SiteHeap;
  /** The one below its cap, if there is one: the last in order of those that run and are not pinned. */
  #partial = -1;
  #partialBps = 0;
  /** In order, those that run; some are done or have been pinned since. */
  readonly #running: Int32Array;
  #runningCount = 0;
  /** Those that had to make room, the first in order on top; some have been pinned since. */
  readonly #stopped: Int32Array;
  #stoppedCount = 0;
  #next = 0;
  #nextCall = 0;
  /** Those that have begun and are not at their cap, by their last call. */
  readonly #laterCalls: SiteHeap;

  constructor(work: Work, order: Int32Array, calls: Int32Array, track: Track | undefined) {
    const { count, bytes, rateBps } = work;
    this.#work = work;
    this.#order = order;
    this.#calls = calls;
    this.#track = track;
    this.#freeBps = rateBps;
    this.#roundingBps = rateBps * RATE_ROUNDING;
    this.finishes = new Float64Array(count);
    this.#left = bytes.slice();
    this.#states = new Uint8Array(count);
    this.#called = new Uint8Array(count);
    this.#full = new SiteHeap(count);
    this.#running = new Int32Array(count);
    this.#stopped = new Int32Array(count);
    this.#laterCalls = new SiteHeap(count);
    for (let site = 0; site < count; site++) if (bytes[site] === 0) this.#states[site] = DONE;
  }

  run(): void {
    for (;;) {
      this.#handOut();
      const fullSeconds = this.#full.firstKey;
      const partialSeconds =
        this.#partial < 0
          ? Number.POSITIVE_INFINITY
          : this.#nowSeconds + (this.#left[this.#partial] as number) / this.#partialBps;
      const doneSeconds = Math.min(fullSeconds, partialSeconds);
      const callSeconds = this.#callSeconds();
      if (callSeconds < doneSeconds) {
        this.#moveTo(callSeconds);
        this.#pin(this.#takeCalled());
        continue;
      }
      if (doneSeconds === Number.POSITIVE_INFINITY) return;
      this.#moveTo(doneSeconds);
      if (partialSeconds < fullSeconds) this.#freeBps += this.#finished(this.#partial);
      else this.#freeBps += this.#finished(this.#full.take() as number);
      // What rounding left over in the sums goes when nothing runs any more.
      if (this.#full.size === 0 && this.#partial < 0) this.#freeBps = this.#work.rateBps;
    }
  }

  #moveTo(seconds: number): void {
    const passedSeconds = seconds - this.#nowSeconds;
    if (passedSeconds <= 0) return;
    this.#nowSeconds = seconds;
    if (this.#partial < 0) return;
    const left = (this.#left[this.#partial] as number) - this.#partialBps * passedSeconds;
    this.#left[this.#partial] = Math.max(0, left);
  }

  /** Its rate is free now. */
  #finished(site: number): number {
    this.finishes[site] = this.#nowSeconds;
    this.#states[site] = DONE;
    this.#track?.set(site, this.#nowSeconds, undefined);
    if (site !== this.#partial) return this.#capOf(site);
    this.#partial = -1;
    this.#laterCalls.remove(site);
    return this.#partialBps;
  }

  /** Gives what is free to the one that got too little, then to those that had to stop, then to the next. */
  #handOut(): void {
    while (this.#freeBps > this.#roundingBps) {
      let site = this.#partial;
      if (site < 0) {
        site = this.#nextInOrder();
        if (site < 0) return;
        this.#running[this.#runningCount++] = site;
      } else this.#freeBps += this.#partialBps;
      this.#partial = -1;
      if (this.#capOf(site) <= this.#freeBps) this.#runFull(site);
      else this.#runPartly(site, this.#freeBps);
    }
  }

  #nextInOrder(): number {
    while (this.#stoppedCount > 0) {
      const site = this.#stopped[--this.#stoppedCount] as number;
      if (this.#called[site] !== PINNED) return site;
    }
    while (this.#next < this.#order.length) {
      const site = this.#order[this.#next++] as number;
      if (this.#states[site] === FRESH) return site;
    }
    return -1;
  }

  #runFull(site: number): void {
    const cap = this.#capOf(site);
    this.#states[site] = RUNS;
    this.#freeBps -= cap;
    this.#full.put(site, this.#nowSeconds + (this.#left[site] as number) / cap);
    this.#laterCalls.remove(site);
    this.#track?.set(site, this.#nowSeconds, cap);
  }

  #runPartly(site: number, rateBps: number): void {
    this.#states[site] = RUNS;
    this.#freeBps -= rateBps;
    this.#partial = site;
    this.#partialBps = rateBps;
    this.#track?.set(site, this.#nowSeconds, rateBps);
    this.#awaitCall(site, rateBps);
  }

  /** For one that has begun and does not run at its cap. */
  #awaitCall(site: number, rateBps: number): void {
    const deadlineSeconds = this.#work.deadlineSeconds[site] as number;
    if (deadlineSeconds === Number.POSITIVE_INFINITY || this.#called[site] === TOO_LATE) return;
    const cap = this.#capOf(site);
    const spareSeconds = deadlineSeconds - this.#nowSeconds - (this.#left[site] as number) / cap;
    const untilCall = Math.max(0, spareSeconds) / (1 - rateBps / cap);
    this.#laterCalls.put(site, this.#nowSeconds + untilCall);
  }

  #callSeconds(): number {
    const { bytes, deadlineSeconds } = this.#work;
    for (; this.#nextCall < this.#calls.length; this.#nextCall++) {
      const site = this.#calls[this.#nextCall] as number;
      if (this.#states[site] !== FRESH) continue;
      const callSeconds =
        (deadlineSeconds[site] as number) - (bytes[site] as number) / this.#capOf(site);
      return Math.min(callSeconds, this.#laterCalls.firstKey);
    }
    return this.#laterCalls.firstKey;
  }

  /** The one whose moment has come. */
  #takeCalled(): number {
    if (this.#laterCalls.firstKey <= this.#nowSeconds) return this.#laterCalls.take() as number;
    return this.#calls[this.#nextCall++] as number;
  }

  /** From here on it needs its whole cap; the last in order make room. */
  #pin(site: number): void {
    const cap = this.#capOf(site);
    this.#called[site] = PINNED;
    if (this.#partial === site) this.#stopPartial();
    while (cap - this.#freeBps > this.#roundingBps) {
      const last = this.#lastRunning();
      if (last < 0) break;
      this.#makeRoom(last, cap - this.#freeBps);
    }
    if (cap - this.#freeBps <= this.#roundingBps) return this.#runFull(site);
    this.#called[site] = TOO_LATE;
    this.#laterCalls.remove(site);
    if (this.#states[site] === FRESH) this.#stop(site);
  }

  #stopPartial(): void {
    const site = this.#partial;
    this.#freeBps += this.#partialBps;
    this.#partial = -1;
    this.#runningCount--;
    this.#stop(site);
  }

  /** The last in order of those that run and are not pinned; -1 when there is none. */
  #lastRunning(): number {
    for (; this.#runningCount > 0; this.#runningCount--) {
      const site = this.#running[this.#runningCount - 1] as number;
      if (this.#states[site] !== DONE && this.#called[site] !== PINNED) return site;
    }
    return -1;
  }

  #makeRoom(site: number, neededBps: number): void {
    let rateBps = this.#partialBps;
    if (site !== this.#partial) {
      rateBps = this.#capOf(site);
      const leftSeconds = this.#full.keyOf(site) - this.#nowSeconds;
      this.#left[site] = rateBps * Math.max(0, leftSeconds);
      this.#full.remove(site);
    }
    this.#freeBps += rateBps;
    this.#partial = -1;
    if (rateBps - neededBps > this.#roundingBps)
      return this.#runPartly(site, rateBps - neededBps);
    this.#runningCount--;
    this.#stop(site);
  }

  #stop(site: number): void {
    this.#states[site] = STOPPED;
    this.#stopped[this.#stoppedCount++] = site;
    this.#track?.set(site, this.#nowSeconds, undefined);
    this.#awaitCall(site, 0);
  }

  #capOf(site: number): number {
    return this.#work.capBps[site] as number;
  }
}
