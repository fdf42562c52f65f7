/**
 * What is due in the next stretches when the last in order go as late as they can.
 *
 * `latest.ts` says what must be due so that as little as possible is, and takes it from all alike. Often there
 * is a choice whose bytes wait, and then it should be the last in order. Stretch by stretch from the last deadline
 * backwards, this fills the line with the last in order, and only with others what would no longer fit into the
 * time before. It can fail where `latest.ts` finds a way; the caller checks. O(k n) for k deadlines.
 */

import type { Work } from "./work.ts";

/** Dated sites in the order, the last first; deadlines distinct, the latest first. */
export interface Dated {
  readonly lastFirst: Int32Array;
  readonly deadlines: Float64Array;
  readonly stretchesAhead: number;
  /** Sites that run at their cap from the beginning, whatever happens. */
  readonly urgent: Int32Array;
}

/** What those bring between two moments. */
export function urgentBytes(
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
 * From now on, for as many stretches as asked or there are, the bytes of each site that are to come in
 * each; undefined when this way leads nowhere.
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
  readonly #left: Float64Array;
  readonly #nowSeconds: number;
  readonly #work: Work;
  readonly #dated: Dated;
  #taken: Float64Array;
  #freeBytes = 0;

  constructor(nowSeconds: number, work: Work, bytes: Float64Array, dated: Dated) {
    this.#nowSeconds = nowSeconds;
    this.#work = work;
    this.#dated = dated;
    this.#taken = new Float64Array(work.count);
    this.#left = new Float64Array(work.count);
    for (const site of dated.lastFirst) this.#left[site] = bytes[site] as number;
  }

  fill(shareBefore: number): Float64Array[] | undefined {
    const { deadlines, stretchesAhead } = this.#dated;
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
        this.#taken = new Float64Array(this.#work.count);
      } else this.#taken.fill(0);
    }
    const firstSeconds = (ahead.at(-1) ?? this.#nowSeconds) - this.#nowSeconds;
    return this.#isDoable(firstSeconds) ? [...dues, this.#left].toReversed() : undefined;
  }

  /** Takes from each what is beyond the time it has before. */
  #pour(endSeconds: number, seconds: number, beforeSeconds: number): void {
    const { capBps, deadlineSeconds } = this.#work;
    for (const site of this.#dated.lastFirst) {
      if (this.#freeBytes <= 0) return;
      const left = this.#left[site] as number;
      if (left === 0 || (deadlineSeconds[site] as number) < endSeconds) continue;
      const cap = capBps[site] as number;
      const taken = this.#taken[site] as number;
      const more = Math.min(left - cap * beforeSeconds, cap * seconds - taken, this.#freeBytes);
      if (more <= 0) continue;
      this.#taken[site] = taken + more;
      this.#left[site] = left - more;
      this.#freeBytes -= more;
    }
  }

  #isDoable(firstSeconds: number): boolean {
    const seconds = firstSeconds + ROUNDING * (firstSeconds + this.#nowSeconds);
    let sum = 0;
    for (const site of this.#dated.lastFirst) {
      const left = this.#left[site] as number;
      if (left > (this.#work.capBps[site] as number) * seconds) return false;
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
