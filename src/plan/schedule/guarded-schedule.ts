/**
 * The guarded list schedule: the order decides, but no deadline that can be kept is lost.
 *
 * Every site with a deadline has a last call: the moment from which on it needs its whole cap. A
 * deadline is lost in two ways. A site waits beyond its last call; so at that moment it is pinned,
 * runs at its cap until it is done, and the last in order give way. Or more bytes are due by some
 * deadline than the line carries until then, where a site counts with the bytes that it cannot
 * receive after it, at its cap until its own deadline; so the spare bytes are tracked, and when
 * they are used up, only sites with due bytes run. No more is needed: a cut that proves deadlines
 * lost never has gaps in time that could not be filled or left out (max-flow, min-cut).
 *
 * Promise: when some schedule keeps all deadlines, this one does, given all of them as marks. With
 * fewer marks it looks ahead only to those, and a site may be called too late. O((n + k) log n) for
 * k marks, and O(k) for each moment at which the line could become short.
 */

import { orderBy } from "./radix-sort.ts";
import { SiteHeap } from "./index-heap.ts";
import { Spare } from "./spare.ts";
import type { Track } from "./recorder.ts";
import type { Work } from "./columns.ts";

/** Parts of the rate that are only rounding. */
const RATE_ROUNDING = 1e-12;
/** Part of a site's bytes that is only rounding. */
const BYTES_ROUNDING = 1e-10;

/** A site that is done within this share of the time gives way to a called one. */
const TIME_ROUNDING = 1e-11;
/** Share of the rate that may be unused while only due bytes may run: it is rounding too. */
const IDLE_MAX = 1e-9;

/** Facts that follow from the deadlines, for any order. */
export interface Watch {
  /** Sites by their last possible start. */
  readonly calls: Int32Array;
  /** Deadlines to look ahead to, ascending. */
  readonly marks: Float64Array;
}

export function watchFor(work: Work, marks: Float64Array): Watch {
  return { calls: orderBy(work.count, (site) => lastCallOf(work, site)), marks };
}

/** Finish time of each site; the rates are recorded if there is a track. */
export function guardedFinishes(
  work: Work,
  order: Int32Array,
  watch: Watch,
  track?: Track,
): Float64Array {
  const crawl = new Guarded(work, order, watch, track);
  crawl.run();
  return crawl.finishes;
}

function lastCallOf({ bytes, capBps, deadlineSeconds }: Work, site: number): number {
  return (deadlineSeconds[site] as number) - (bytes[site] as number) / (capBps[site] as number);
}

const [FRESH, RUNS, STOPPED, DONE] = [0, 1, 2, 3];
/** Called and given its cap; called when no site could give way. */
const [PINNED, TOO_LATE] = [1, 2];

class Guarded {
  readonly finishes: Float64Array;
  readonly #work: Work;
  /** Some of the sites before `#next` are done. */
  readonly #order: Int32Array;
  #openCount: number;
  readonly #calls: Int32Array;
  readonly #track: Track | undefined;
  readonly #spare: Spare;
  #nowSeconds = 0;
  #freeBps: number;
  readonly #roundingBps: number;
  /** Of sites below their cap. */
  readonly #left: Float64Array;
  readonly #states: Uint8Array;
  readonly #called: Uint8Array;
  /** Sites at their cap, by finish time. */
  readonly #full: SiteHeap;
  /** The one site below its cap, if any: the last in order of those that run and are not pinned. */
  #partial = -1;
  #partialBps = 0;
  /** Running sites in order; some are done or have been pinned since. */
  readonly #running: Int32Array;
  #runningCount = 0;
  /** Sites that had to give way, the first in order on top; some have been pinned since. */
  readonly #stopped: Int32Array;
  #stoppedCount = 0;
  /** They precede all that are not pinned. */
  readonly #tooLate: number[] = [];
  #next = 0;
  #nextCall = 0;
  /** Started sites below their cap, by their last call. */
  readonly #laterCalls: SiteHeap;
  /** Running sites, by the moment from which none of their bytes is due by their first mark. */
  readonly #dueEnds: SiteHeap;

  constructor(work: Work, order: Int32Array, { calls, marks }: Watch, track: Track | undefined) {
    const { count, bytes, rateBps } = work;
    this.#work = work;
    this.#order = order.slice();
    this.#openCount = count;
    this.#calls = calls;
    this.#track = track;
    this.#spare = new Spare(work, marks);
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
    this.#dueEnds = new SiteHeap(count);
    for (let site = 0; site < count; site++) if (bytes[site] === 0) this.#states[site] = DONE;
  }

  run(): void {
    for (;;) {
      this.#handOut();
      if (this.#spare.isTight && this.#freeBps > this.#work.rateBps * IDLE_MAX) {
        this.#spare.giveUp();
        this.#beginAnew();
      }
      const fullSeconds = this.#full.firstKey;
      const partialSeconds =
        this.#partial < 0
          ? Number.POSITIVE_INFINITY
          : this.#nowSeconds + (this.#left[this.#partial] as number) / this.#partialBps;
      const doneSeconds = Math.min(fullSeconds, partialSeconds);
      const callSeconds = this.#callSeconds();
      const dueEndSeconds = this.#dueEnds.firstKey;
      const nextSeconds = Math.min(doneSeconds, callSeconds, dueEndSeconds);
      const changeSeconds = this.#spare.nextChange(this.#nowSeconds, nextSeconds);
      if (changeSeconds <= nextSeconds && changeSeconds < Number.POSITIVE_INFINITY) {
        this.#moveTo(changeSeconds);
        this.#spare.change(this.#nowSeconds);
        this.#beginAnew();
      } else if (nextSeconds === Number.POSITIVE_INFINITY) return;
      else {
        this.#moveTo(nextSeconds);
        if (dueEndSeconds <= nextSeconds) this.#dueEnded(this.#dueEnds.take() as number);
        else if (callSeconds < doneSeconds * (1 - TIME_ROUNDING)) this.#pin(this.#takeCalled());
        else
          this.#finish(partialSeconds < fullSeconds ? this.#partial : (this.#full.first as number));
      }
      // When no site runs any more, the rounding errors of the sums are reset.
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

  #finish(site: number): void {
    this.#take(site);
    this.#markDone(site);
  }

  #markDone(site: number): void {
    this.finishes[site] = this.#nowSeconds;
    this.#states[site] = DONE;
    this.#laterCalls.remove(site);
    this.#track?.set(site, this.#nowSeconds, undefined);
  }

  /** Stops a site; if only a rounding error of it is left, it is done. */
  #halt(site: number): void {
    this.#take(site);
    const rounding = (this.#work.bytes[site] as number) * BYTES_ROUNDING;
    if ((this.#left[site] as number) <= rounding) return this.#markDone(site);
    this.#states[site] = STOPPED;
    this.#awaitCall(site, 0);
  }

  /** Its rate is free now. */
  #take(site: number): void {
    let rateBps = this.#partialBps;
    if (site === this.#partial) this.#partial = -1;
    else {
      rateBps = this.#capOf(site);
      this.#left[site] = rateBps * Math.max(0, this.#full.keyOf(site) - this.#nowSeconds);
      this.#full.remove(site);
    }
    this.#freeBps += rateBps;
    this.#spare.add(site, -rateBps, this.#nowSeconds);
    this.#dueEnds.remove(site);
  }

  /**
   * Gives free rate to the site below its cap, then to those that had to stop, then to the next.
   */
  #handOut(): void {
    while (this.#freeBps > this.#roundingBps) {
      const site = this.#partial < 0 ? this.#nextInOrder() : this.#partial;
      if (site < 0) return;
      if (site === this.#partial) this.#take(site);
      else this.#running[this.#runningCount++] = site;
      if (this.#capOf(site) <= this.#freeBps) this.#runFull(site);
      else this.#runPartly(site, this.#freeBps);
    }
  }

  #nextInOrder(): number {
    while (this.#stoppedCount > 0) {
      const site = this.#stopped[--this.#stoppedCount] as number;
      if (this.#states[site] === STOPPED) return site;
    }
    while (this.#next < this.#openCount) {
      const site = this.#order[this.#next++] as number;
      const state = this.#states[site] as number;
      if ((state === FRESH || state === STOPPED) && this.#spare.allows(site)) return site;
    }
    return -1;
  }

  #runFull(site: number): void {
    const cap = this.#capOf(site);
    this.#full.put(site, this.#nowSeconds + (this.#left[site] as number) / cap);
    this.#laterCalls.remove(site);
    this.#run(site, cap);
  }

  #runPartly(site: number, rateBps: number): void {
    this.#partial = site;
    this.#partialBps = rateBps;
    this.#awaitCall(site, rateBps);
    this.#run(site, rateBps);
  }

  #run(site: number, rateBps: number): void {
    this.#states[site] = RUNS;
    this.#freeBps -= rateBps;
    this.#track?.set(site, this.#nowSeconds, rateBps);
    this.#spare.add(site, rateBps, this.#nowSeconds);
    this.#awaitDueEnd(site, rateBps);
  }

  #awaitDueEnd(site: number, rateBps: number): void {
    const markSeconds = this.#spare.firstMarkOf(site);
    if (markSeconds >= (this.#work.deadlineSeconds[site] as number)) return;
    const speed = rateBps / this.#capOf(site);
    const untilSeconds = Math.max(0, markSeconds - this.#lastCallOf(site)) / speed;
    this.#dueEnds.put(site, this.#nowSeconds + untilSeconds);
  }

  /** The moment from which on it would need its whole cap. */
  #lastCallOf(site: number): number {
    const isFull = this.#states[site] === RUNS && site !== this.#partial;
    const neededSeconds = isFull
      ? this.#full.keyOf(site) - this.#nowSeconds
      : (this.#left[site] as number) / this.#capOf(site);
    return (this.#work.deadlineSeconds[site] as number) - neededSeconds;
  }

  /** None of its bytes is due any more by a mark. */
  #dueEnded(site: number): void {
    const rateBps = site === this.#partial ? this.#partialBps : this.#capOf(site);
    this.#spare.passMark(site, rateBps, this.#nowSeconds);
    if (this.#spare.allows(site) || this.#called[site] === PINNED)
      return this.#awaitDueEnd(site, rateBps);
    this.#halt(site);
    this.#track?.set(site, this.#nowSeconds, undefined);
  }

  /** Other sites may run now: starts again from the first in order. */
  #beginAnew(): void {
    const ran: number[] = [];
    for (let place = 0; place < this.#runningCount; place++) {
      const site = this.#running[place] as number;
      if (!this.#canMakeRoom(site)) continue;
      this.#halt(site);
      ran.push(site);
    }
    this.#forgetDone();
    this.#runningCount = 0;
    this.#next = 0;
    this.#stoppedCount = 0;
    for (const site of this.#tooLate) this.#stopped[this.#stoppedCount++] = site;
    this.#handOut();
    for (const site of ran)
      if (this.#states[site] !== RUNS) this.#track?.set(site, this.#nowSeconds, undefined);
  }

  #forgetDone(): void {
    let open = 0;
    for (let place = 0; place < this.#openCount; place++) {
      const site = this.#order[place] as number;
      if (this.#states[site] !== DONE) this.#order[open++] = site;
    }
    this.#openCount = open;
  }

  /** For a started site below its cap. */
  #awaitCall(site: number, rateBps: number): void {
    const deadlineSeconds = this.#work.deadlineSeconds[site] as number;
    if (deadlineSeconds === Number.POSITIVE_INFINITY || this.#called[site] === TOO_LATE) return;
    const cap = this.#capOf(site);
    const spareSeconds = deadlineSeconds - this.#nowSeconds - (this.#left[site] as number) / cap;
    const untilCall = Math.max(0, spareSeconds) / (1 - rateBps / cap);
    this.#laterCalls.put(site, this.#nowSeconds + untilCall);
  }

  #callSeconds(): number {
    for (; this.#nextCall < this.#calls.length; this.#nextCall++) {
      const site = this.#calls[this.#nextCall] as number;
      if (this.#states[site] === FRESH)
        return Math.min(lastCallOf(this.#work, site), this.#laterCalls.firstKey);
    }
    return this.#laterCalls.firstKey;
  }

  /** The site whose last call has come. */
  #takeCalled(): number {
    if (this.#laterCalls.firstKey <= this.#nowSeconds) return this.#laterCalls.take() as number;
    return this.#calls[this.#nextCall++] as number;
  }

  /** From now on it needs its whole cap; the last in order give way. */
  #pin(site: number): void {
    const cap = this.#capOf(site);
    this.#called[site] = PINNED;
    if (this.#partial === site) this.#halt(site);
    if (this.#states[site] === DONE) return;
    while (cap - this.#freeBps > this.#roundingBps) {
      const last = this.#lastRunning();
      if (last < 0) break;
      this.#makeRoom(last, cap - this.#freeBps);
    }
    if (cap - this.#freeBps <= this.#roundingBps) return this.#runFull(site);
    this.#called[site] = TOO_LATE;
    this.#tooLate.push(site);
    this.#laterCalls.remove(site);
    this.#states[site] = STOPPED;
    this.#wait(site);
  }

  /** The last in order of those that run and are not pinned; -1 when there is none. */
  #lastRunning(): number {
    for (; this.#runningCount > 0; this.#runningCount--) {
      const site = this.#running[this.#runningCount - 1] as number;
      if (this.#canMakeRoom(site)) return site;
    }
    return -1;
  }

  #canMakeRoom(site: number): boolean {
    return this.#states[site] === RUNS && this.#called[site] !== PINNED;
  }

  #makeRoom(site: number, neededBps: number): void {
    const keptBps = (site === this.#partial ? this.#partialBps : this.#capOf(site)) - neededBps;
    this.#halt(site);
    if (this.#states[site] === DONE) return;
    if (keptBps > this.#roundingBps) return this.#runPartly(site, keptBps);
    this.#runningCount--;
    this.#wait(site);
  }

  /** As the first of those that had to stop. */
  #wait(site: number): void {
    this.#stopped[this.#stoppedCount++] = site;
    this.#track?.set(site, this.#nowSeconds, undefined);
  }

  #capOf(site: number): number {
    return this.#work.capBps[site] as number;
  }
}
