/**
 * Whether a set of sites can all keep their deadlines, told anew at once when one comes or goes.
 *
 * By each of some moments a site has to have brought what it could not bring between then and its deadline, at its
 * cap. All deadlines can be kept if nobody needs more than its cap and, by each deadline, all together no more than the
 * line brings until then (`guarded-schedule.ts` says why). O(k) a site for k deadlines.
 */

import { marksFor } from "../schedule/marks.ts";
import { columnOf, type Work } from "../schedule/columns.ts";

/** So much less than the line brings, for sums are rounded; deadlines have more to spare than that (`work.ts`). */
const BROUGHT_SHARE = 1 - 1e-12;
/** Moments at which a first look is taken at very many. */
const MARKS_OF_MANY = 300;

export interface Claim {
  readonly bytes: number;
  readonly capBps: number;
  readonly deadlineSeconds: number;
}

export class Cuts {
  readonly #rateBps: number;
  readonly #marks: Float64Array;
  /** By mark: due of sites with later deadlines, and all of those that have theirs between the mark before and this. */
  readonly #partBytes: Float64Array;
  readonly #wholeBytes: Float64Array;

  /** Moments that ascend; the answer is exact if all deadlines are among them. */
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

  /** One more like this, or one less with -1. */
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

  /** 0 when all can be kept, else how long the line takes for what is too much. */
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
 * How long the line takes at least for what no schedule can bring in time: a first look at very many sites, which come
 * with the latest deadline first. Where it finds nothing, a closer one may. O(n log k).
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

/** The first of ascending marks that is not below a value; as many as there are for none. */
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
