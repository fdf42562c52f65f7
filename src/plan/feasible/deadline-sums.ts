/**
 * Decides whether a set of sites can keep all deadlines, and updates the decision when a site is
 * added or removed.
 *
 * By each mark a site must have received what it cannot receive between the mark and its deadline,
 * at its cap. All deadlines can be kept if no site needs more than its cap and, by each deadline,
 * all together need no more than the line carries until then (`guarded-schedule.ts` explains why).
 * O(k) per site for k deadlines.
 */

import { marksFor } from "../schedule/marks.ts";
import { columnOf, type Work } from "../schedule/columns.ts";

/**
 * Share of the line's bytes that may be needed, because sums are rounded; deadlines have a larger
 * tolerance (`columns.ts`).
 */
const BROUGHT_SHARE = 1 - 1e-12;
/** Marks of the first, coarse check of very many sites. */
const MARKS_OF_MANY = 300;

export interface Claim {
  readonly bytes: number;
  readonly capBps: number;
  readonly deadlineSeconds: number;
}

export class Cuts {
  readonly #rateBps: number;
  readonly #marks: Float64Array;
  /**
   * By mark: bytes due of sites with later deadlines, and all bytes of those with deadlines between
   * the previous mark and this.
   */
  readonly #partBytes: Float64Array;
  readonly #wholeBytes: Float64Array;

  /** Ascending marks; the result is exact if they contain all deadlines. */
  constructor(rateBps: number, marks: Float64Array) {
    this.#rateBps = rateBps;
    this.#marks = marks;
    this.#partBytes = new Float64Array(marks.length);
    this.#wholeBytes = new Float64Array(marks.length + 1);
  }

  add(claim: Claim): void {
    this.change(claim.bytes, claim.capBps, claim.deadlineSeconds, 1);
  }

  remove(claim: Claim): void {
    this.change(claim.bytes, claim.capBps, claim.deadlineSeconds, -1);
  }

  /** Adds such a site, or removes one with -1. */
  change(bytes: number, capBps: number, deadlineSeconds: number, times: number): void {
    const marks = this.#marks;
    let mark = firstFrom(marks, deadlineSeconds);
    this.#wholeBytes[mark] = (this.#wholeBytes[mark] as number) + times * bytes;
    while (--mark >= 0) {
      const due = bytes - capBps * (deadlineSeconds - (marks[mark] as number));
      if (due <= 0) return;
      this.#partBytes[mark] = (this.#partBytes[mark] as number) + times * due;
    }
  }

  get areKept(): boolean {
    return this.missingSeconds === 0;
  }

  /** 0 when all can be kept, else the time that the line needs for the excess. */
  get missingSeconds(): number {
    let whole = 0;
    let missing = 0;
    for (let mark = 0; mark < this.#marks.length; mark++) {
      whole += this.#wholeBytes[mark] as number;
      const brought = (this.#marks[mark] as number) * this.#rateBps * BROUGHT_SHARE;
      missing = Math.max(missing, whole + (this.#partBytes[mark] as number) - brought);
    }
    return missing / this.#rateBps;
  }
}

/**
 * The least time that the line needs for bytes that no schedule can deliver in time: a first check
 * of very many sites, the latest deadline first. If it finds none, a closer check may. O(n log k).
 */
export function missingAtLeast(work: Work, bytes: Float64Array, lastFirst: Int32Array): number {
  const { capBps, deadlineSeconds, rateBps } = work;
  if (lastFirst.length === 0) return 0;
  const deadlines = columnOf(deadlineSeconds, lastFirst).reverse();
  const cuts = new Cuts(rateBps, marksFor(deadlines, MARKS_OF_MANY));
  for (const site of lastFirst)
    if (bytes[site] !== 0)
      cuts.change(
        bytes[site] as number,
        capBps[site] as number,
        deadlineSeconds[site] as number,
        1,
      );
  return cuts.missingSeconds;
}

/**
 * Index of the first of ascending marks that is not below a value; their number if there is none.
 */
function firstFrom(marks: Float64Array, value: number): number {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle] as number) >= value) high = middle;
    else low = middle + 1;
  }
  return low;
}
