/**
 * The list schedule under guard: the order decides, but never so that a deadline is lost.
 *
 * Between one deadline and the next, each site has bytes that must come in this stretch (`dues.ts`).
 * That can be done in time as long as nobody needs more than its cap until the end, and all of them
 * together no more than the rate. So the order is followed, a site that comes to need its whole cap is
 * held there until the end, and when all of the rate is needed for what is due, only what is due runs.
 *
 * Promise: when some schedule keeps all deadlines, this one does. O(k n log n) for k distinct deadlines.
 */

import { Dues } from "./dues.ts";
import { firstSites } from "./order-by.ts";
import { SiteHeap } from "./site-heap.ts";
import type { Track } from "./track.ts";
import { reordered, type Work } from "./work.ts";

/** The first of the order, as many as are urgent, run at their cap from the beginning. */
export function guardedFinishes(
  work: Work,
  order: Int32Array,
  track?: Track,
  urgentCount = 0,
): Float64Array {
  const inOrder = reordered(work, order);
  const crawl = new Guarded(inOrder, (place, seconds, rateBps) =>
    track?.set(order[place] as number, seconds, rateBps),
  );
  const dues = new Dues(inOrder, urgentCount);
  for (const toSeconds of dues.deadlines.toReversed())
    crawl.runUntil(toSeconds, dues.next(crawl.nowSeconds, toSeconds, crawl.bytesLeft));
  crawl.runUntil(Number.POSITIVE_INFINITY, new Float64Array(work.count));
  const finishes = new Float64Array(work.count);
  for (const [place, site] of order.entries()) finishes[site] = crawl.finishes[place] as number;
  return finishes;
}

/** Parts of a site's bytes, or of the rate, that are only rounding. */
const BYTES_ROUNDING = 1e-13;
/** What many steps can add up to; so little more or less keeps no deadline from being kept. */
const BYTES_ROUNDING_AT_DEADLINE = 1e-9;
const RATE_ROUNDING = 1e-12;

/**
 * One crawl; between deadlines its state is what is left of every site. A site is known by its place in
 * the order, so that whoever goes through them in order reads one column after the other.
 */
class Guarded {
  readonly bytesLeft: Float64Array;
  readonly finishes: Float64Array;
  nowSeconds = 0;
  readonly #work: Work;
  readonly #write: (site: number, nowSeconds: number, rateBps: number | undefined) => void;
  readonly #rates: Float64Array;
  readonly #sinceSeconds: Float64Array;
  readonly #pinned: Uint8Array;
  /** In order, the sites of which something is left, or was when the stretch began. */
  #open: Int32Array;
  /** Those of them that ran until it began. */
  #ran: number[] = [];
  #due: Float64Array = new Float64Array(0);
  #endSeconds = 0;
  #freeBps = 0;
  /** The unpinned site that runs below its cap, if there is one: the last in order of those that run. */
  #partial = -1;
  /** What of the rate goes to sites of which something is due. */
  #dueBps = 0;
  /** What can come in this stretch besides all that is due. */
  #spareBytes = 0;
  #onlyDue = false;
  /** When something of a site comes to an end, or it comes to need its whole cap: the latter is a pin. */
  readonly #turns: SiteHeap;
  readonly #isPin: Uint8Array;
  /** From this one of the open sites on nobody has run in this stretch. */
  #next = 0;
  /** Those that ran and must wait again, the first on top; some no longer do. */
  readonly #waiting: SiteHeap;
  /** Those that run, the last on top; some no longer do. */
  readonly #running: SiteHeap;

  constructor(
    work: Work,
    write: (site: number, nowSeconds: number, rateBps: number | undefined) => void,
  ) {
    const { count } = work;
    this.#work = work;
    this.#write = write;
    this.bytesLeft = work.bytes.slice();
    this.finishes = new Float64Array(count);
    this.#rates = new Float64Array(count);
    this.#sinceSeconds = new Float64Array(count);
    this.#pinned = new Uint8Array(count);
    this.#open = firstSites(count);
    this.#turns = new SiteHeap(count);
    this.#isPin = new Uint8Array(count);
    this.#waiting = new SiteHeap(count);
    this.#running = new SiteHeap(count);
  }

  /** Follows the order up to a deadline by which these bytes are due. */
  runUntil(endSeconds: number, due: Float64Array): void {
    this.#begin(endSeconds, due);
    for (;;) {
      const spareSeconds = this.#spareSeconds();
      const nextSeconds = Math.min(this.#turns.firstKey, spareSeconds);
      if (nextSeconds >= endSeconds || nextSeconds === Number.POSITIVE_INFINITY) break;
      this.#moveTo(nextSeconds);
      if (spareSeconds <= nextSeconds) this.#keepToDue();
      else this.#take(this.#turns.take() as number);
      this.#handOut();
    }
    this.#end();
  }

  #begin(endSeconds: number, due: Float64Array): void {
    const { rateBps } = this.#work;
    this.#endSeconds = endSeconds;
    this.#due = due;
    this.#freeBps = rateBps;
    this.#dueBps = 0;
    this.#partial = -1;
    this.#onlyDue = false;
    let dueBytes = 0;
    for (const site of this.#open) dueBytes += due[site] as number;
    this.#spareBytes = rateBps * (endSeconds - this.nowSeconds) - dueBytes;
    this.#next = 0;
    this.#turns.clear();
    this.#waiting.clear();
    this.#running.clear();
    for (const site of this.#open) {
      if ((due[site] as number) > 0) this.#awaitTurn(site);
      if (this.#isOverdue(site)) this.#pin(site);
    }
    this.#handOut();
    for (const site of this.#ran)
      if (this.#rates[site] === 0) this.#write(site, this.nowSeconds, undefined);
  }

  /** Rounding left a little of it: that goes first. */
  #isOverdue(site: number): boolean {
    const deadlineSeconds = this.#work.deadlineSeconds[site] as number;
    const isLast = this.#endSeconds === Number.POSITIVE_INFINITY;
    return !isLast && deadlineSeconds <= this.nowSeconds && this.bytesLeft[site] !== 0;
  }

  #end(): void {
    const nowSeconds = this.#endSeconds;
    if (nowSeconds === Number.POSITIVE_INFINITY) return;
    this.nowSeconds = nowSeconds;
    this.#ran = [];
    let open = 0;
    for (const site of this.#open) {
      const hasRun = this.#rateOf(site) > 0;
      if (this.bytesLeft[site] === 0 && !hasRun) continue;
      this.#settle(site);
      this.#rates[site] = 0;
      if (this.#isDoneAtEnd(site)) this.#finish(site);
      else this.#open[open++] = site;
      if (hasRun) this.#ran.push(site);
    }
    this.#open = this.#open.subarray(0, open);
    this.#pinned.fill(0);
  }

  #isDoneAtEnd(site: number): boolean {
    if ((this.#work.deadlineSeconds[site] as number) > this.#endSeconds)
      return this.bytesLeft[site] === 0;
    const rounding = (this.#work.bytes[site] as number) * BYTES_ROUNDING_AT_DEADLINE;
    return (this.bytesLeft[site] as number) <= rounding;
  }

  /** When all of the rate is needed for what is due. */
  #spareSeconds(): number {
    const otherBps = this.#work.rateBps - this.#dueBps;
    if (this.#onlyDue || otherBps <= this.#work.rateBps * RATE_ROUNDING)
      return Number.POSITIVE_INFINITY;
    return this.nowSeconds + Math.max(0, this.#spareBytes) / otherBps;
  }

  #moveTo(seconds: number): void {
    const passedSeconds = Math.max(0, seconds - this.nowSeconds);
    this.#spareBytes -= (this.#work.rateBps - this.#dueBps) * passedSeconds;
    this.nowSeconds = Math.max(this.nowSeconds, seconds);
  }

  #keepToDue(): void {
    this.#onlyDue = true;
    for (const site of this.#open)
      if ((this.#rates[site] as number) > 0 && this.#due[site] === 0) this.#setRate(site, 0);
  }

  #take(site: number): void {
    const isPin = this.#isPin[site] === 1;
    const wasDue = this.#due[site] !== 0;
    this.#settle(site);
    if (isPin && this.#due[site] !== 0) {
      this.#pin(site);
      return;
    }
    // What rounding left of it is too little to take any time.
    if (!isPin && !wasDue) this.bytesLeft[site] = 0;
    if (this.#due[site] !== 0) this.#dueBps -= this.#rateOf(site);
    this.#due[site] = 0;
    this.#setRate(site, this.#onlyDue ? 0 : this.#rateOf(site));
  }

  #roundingOf(site: number): number {
    return (this.#work.bytes[site] as number) * BYTES_ROUNDING;
  }

  #finish(site: number): void {
    this.bytesLeft[site] = 0;
    if (this.finishes[site] === 0) this.finishes[site] = this.nowSeconds;
    this.#write(site, this.nowSeconds, undefined);
  }

  /** From here to the end it needs its whole cap; the last in order make room. */
  #pin(site: number): void {
    if (this.#partial === site) this.#partial = -1;
    this.#pinned[site] = 1;
    const neededBps = this.#capOf(site) - this.#rateOf(site);
    while (neededBps - this.#freeBps > this.#work.rateBps * RATE_ROUNDING) {
      const victim = this.#lastRunning();
      if (victim < 0) break;
      this.#setRate(victim, this.#rateOf(victim) - (neededBps - this.#freeBps));
      const isLeft = this.#rateOf(victim) > 0;
      this.#partial = isLeft ? victim : -1;
      if (isLeft) this.#running.put(victim, -victim);
      else this.#waiting.put(victim, victim);
    }
    const moreBps = Math.min(neededBps, Math.max(0, this.#freeBps));
    this.#setRate(site, this.#rateOf(site) + moreBps);
  }

  #lastRunning(): number {
    if (this.#partial >= 0) return this.#partial;
    for (;;) {
      const site = this.#running.take();
      if (site === undefined) return -1;
      if (this.#pinned[site] === 0 && this.#rateOf(site) > 0) return site;
    }
  }

  /** Gives what is free to the first in order that can take it. */
  #handOut(): void {
    while (this.#freeBps > this.#work.rateBps * RATE_ROUNDING) {
      const site = this.#partial >= 0 ? this.#partial : this.#firstWaiting();
      if (site < 0) return;
      const roomBps = this.#capOf(site) - this.#rateOf(site);
      const isPartial = roomBps > this.#freeBps;
      if (this.#rateOf(site) === 0) this.#running.put(site, -site);
      this.#setRate(site, this.#rateOf(site) + Math.min(roomBps, this.#freeBps));
      this.#partial = isPartial && this.#rateOf(site) > 0 ? site : -1;
    }
  }

  #firstWaiting(): number {
    for (;;) {
      const next = this.#open[this.#next] ?? Number.POSITIVE_INFINITY;
      const site = Math.min(this.#waiting.firstKey, next);
      if (site === Number.POSITIVE_INFINITY) return -1;
      if (site === next) this.#next++;
      else this.#waiting.take();
      const hasWork = this.#onlyDue ? this.#due[site] !== 0 : this.bytesLeft[site] !== 0;
      if (hasWork && this.#pinned[site] === 0 && this.#rateOf(site) === 0) return site;
    }
  }

  #setRate(site: number, wantedBps: number): void {
    this.#settle(site);
    // The last that was due of it may have come just now.
    const isWanted =
      this.bytesLeft[site] !== 0 &&
      wantedBps > this.#work.rateBps * RATE_ROUNDING &&
      !(this.#onlyDue && this.#due[site] === 0 && this.#pinned[site] === 0);
    const rateBps = isWanted ? wantedBps : 0;
    const change = rateBps - this.#rateOf(site);
    this.#freeBps -= change;
    this.#rates[site] = rateBps;
    if (this.#due[site] !== 0) this.#dueBps += change;
    if (rateBps === 0 && this.#partial === site) this.#partial = -1;
    this.#write(site, this.nowSeconds, rateBps === 0 ? undefined : rateBps);
    if (this.bytesLeft[site] === 0) this.#finish(site);
    this.#awaitTurn(site);
  }

  /** Books what has come since the rate was set. */
  #settle(site: number): void {
    const came = this.#rateOf(site) * (this.nowSeconds - (this.#sinceSeconds[site] as number));
    this.#sinceSeconds[site] = this.nowSeconds;
    if (came === 0) return;
    const rounding = this.#roundingOf(site);
    const left = (this.bytesLeft[site] as number) - came;
    this.bytesLeft[site] = left > rounding ? left : 0;
    if (this.#due[site] === 0) return;
    const due = (this.#due[site] as number) - came;
    this.#due[site] = due > rounding && left > rounding ? due : 0;
    if (this.#due[site] === 0) this.#dueBps -= this.#rateOf(site);
  }

  #awaitTurn(site: number): void {
    const rateBps = this.#rateOf(site);
    const due = this.#due[site] as number;
    let seconds = Number.POSITIVE_INFINITY;
    if (rateBps > 0) seconds = (due > 0 ? due : (this.bytesLeft[site] as number)) / rateBps;
    let isPin = false;
    const capBps = this.#capOf(site);
    if (due > 0 && this.#pinned[site] === 0 && rateBps < capBps) {
      const freeSeconds = this.#endSeconds - this.nowSeconds - due / capBps;
      const untilPin = Math.max(0, freeSeconds) / (1 - rateBps / capBps);
      isPin = untilPin < seconds;
      seconds = Math.min(seconds, untilPin);
    }
    const atSeconds = this.nowSeconds + seconds;
    this.#isPin[site] = isPin ? 1 : 0;
    if (atSeconds < this.#endSeconds) this.#turns.put(site, atSeconds);
    else this.#turns.remove(site);
  }

  #rateOf(site: number): number {
    return this.#rates[site] as number;
  }

  #capOf(site: number): number {
    return this.#work.capBps[site] as number;
  }
}
