/**
 * What is due in the next stretches when the last in order go as late as they can.
 *
 * `latest.ts` says what must be due so that as little as possible is, and takes it from all alike. Often there
 * is a choice whose bytes wait, and then it should be the last in order. Stretch by stretch from the last deadline
 * backwards, this fills the line with the last in order, and only with others what would no longer fit into the
 * time before. It can fail where `latest.ts` finds a way; the caller checks. O(k n) for k deadlines.
 */

import { columnOf, type Work } from "./work.ts";

/** Dated sites in the order, the last first; deadlines distinct, the latest first. */
export interface Dated {
  readonly lastFirst: Int32Array;
  readonly deadlines: Float64Array;
  readonly stretchesAhead: number;
  /** Sites that run at their cap from the beginning, whatever happens. */
  readonly urgent: Int32Array;
}

/** What those bring between two moments. */
function urgentBytes(
  { bytes, capBps }: Work,
  urgent: Int32Array,
  fromSeconds: number,
  toSeconds: number,
): number {
  let sum = 0;
  for (const site of urgent) {
    const cap = capBps[site] as number;
    const endSeconds = Math.min((bytes[site] as number) / cap, toSeconds);
    if (endSeconds > fromSeconds) sum += cap * (endSeconds - fromSeconds);
  }
  return sum;
}

/** Part of all the time there was that may be missing: it is only rounding. */
const ROUNDING = 1e-12;
/** How much of the time before a stretch a site may need: the less, the more alike all are treated. */
const SHARES_BEFORE = [1, 0.6];

/**
 * From now on, for as many stretches as asked or there are, the bytes of each dated site that are to come in
 * each, sites in the order of `lastFirst`; undefined when this way leads nowhere.
 */
export function dueInOrder(
  nowSeconds: number,
  work: Work,
  bytes: Float64Array,
  dated: Dated,
): Float64Array[] | undefined {
  for (const shareBefore of SHARES_BEFORE) {
    const dues = new Filling(nowSeconds, work, bytes, dated).fill(shareBefore);
    if (dues !== undefined) return dues;
  }
  return undefined;
}

class Filling {
  readonly #nowSeconds: number;
  readonly #work: Work;
  readonly #dated: Dated;
  /** By place among the dated, so that they are gone through one after the other. */
  readonly #left: Float64Array;
  readonly #capBps: Float64Array;
  readonly #deadlineSeconds: Float64Array;
  #taken: Float64Array;
  #freeBytes = 0;

  constructor(nowSeconds: number, work: Work, bytes: Float64Array, dated: Dated) {
    const { lastFirst } = dated;
    this.#nowSeconds = nowSeconds;
    this.#work = work;
    this.#dated = dated;
    this.#left = columnOf(bytes, lastFirst);
    this.#capBps = columnOf(work.capBps, lastFirst);
    this.#deadlineSeconds = columnOf(work.deadlineSeconds, lastFirst);
    this.#taken = new Float64Array(lastFirst.length);
  }

  fill(shareBefore: number): Float64Array[] | undefined {
    const { deadlines, stretchesAhead, lastFirst } = this.#dated;
    const ahead = deadlines.filter((deadline) => deadline > this.#nowSeconds);
    const dues: Float64Array[] = [];
    for (let index = 0; index + 1 < ahead.length; index++) {
      const endSeconds = ahead[index] as number;
      const beginSeconds = ahead[index + 1] as number;
      const beforeSeconds = (beginSeconds - this.#nowSeconds) * shareBefore;
      this.#freeBytes = this.#bytesBetween(beginSeconds, endSeconds);
      // First what would not fit before, then the last in order.
      for (const needed of [true, false])
        this.#pour(endSeconds, endSeconds - beginSeconds, needed ? beforeSeconds : 0);
      if (ahead.length - index <= stretchesAhead) {
        dues.push(this.#taken);
        this.#taken = new Float64Array(lastFirst.length);
      } else this.#taken.fill(0);
    }
    const firstSeconds = (ahead.at(-1) ?? this.#nowSeconds) - this.#nowSeconds;
    return this.#isDoable(firstSeconds) ? [...dues, this.#left].toReversed() : undefined;
  }

  /** Takes from each what is beyond the time it has before. */
  #pour(endSeconds: number, seconds: number, beforeSeconds: number): void {
    const lefts = this.#left;
    const takens = this.#taken;
    let freeBytes = this.#freeBytes;
    for (let place = 0; place < lefts.length && freeBytes > 0; place++) {
      const left = lefts[place] as number;
      if (left === 0 || (this.#deadlineSeconds[place] as number) < endSeconds) continue;
      const cap = this.#capBps[place] as number;
      const taken = takens[place] as number;
      const more = Math.min(left - cap * beforeSeconds, cap * seconds - taken, freeBytes);
      if (more <= 0) continue;
      takens[place] = taken + more;
      lefts[place] = left - more;
      freeBytes -= more;
    }
    this.#freeBytes = freeBytes;
  }

  #isDoable(firstSeconds: number): boolean {
    const seconds = firstSeconds + ROUNDING * (firstSeconds + this.#nowSeconds);
    let sum = 0;
    for (const [place, left] of this.#left.entries()) {
      if (left > (this.#capBps[place] as number) * seconds) return false;
      sum += left;
    }
    return sum <= this.#bytesBetween(this.#nowSeconds, this.#nowSeconds + seconds);
  }

  /** What the line brings of those that are not urgent. */
  #bytesBetween(fromSeconds: number, toSeconds: number): number {
    const { urgent } = this.#dated;
    const all = this.#work.rateBps * (toSeconds - fromSeconds);
    return all - urgentBytes(this.#work, urgent, fromSeconds, toSeconds);
  }
}
