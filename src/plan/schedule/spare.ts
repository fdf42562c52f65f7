/**
 * The bytes that can be received besides those due by each mark, while sites run at changing rates.
 *
 * By a mark the due bytes of a site are those that it could not receive between the mark and its
 * own deadline at its cap. So a site with its last call at some moment has due bytes by all marks
 * after that moment and by none before. Rates are booked with their times at the first mark by
 * which bytes are due; sums over the marks give the received bytes for each. O(1) per rate, O(k)
 * per check, and a check returns how long none is needed.
 */

import type { Work } from "./columns.ts";

/** Shares of the rate, or of the time until a mark, that are only rounding. */
const RATE_ROUNDING = 1e-12;
const TIME_ROUNDING = 1e-11;

export class Spare {
  readonly #rateBps: number;
  readonly #marks: Float64Array;
  /** By mark: bytes that the line carries until then, less those due, both from the start. */
  readonly #atStart: Float64Array;
  /** By site: index of the first mark by which its bytes are due; the number of marks for none. */
  readonly #firstMarks: Int32Array;
  /** By first mark: the rates of sites, and the same times their start times. */
  readonly #dueBps: Float64Array;
  readonly #dueMoments: Float64Array;
  /** Marks before this one have passed; their rates and times are added to its own. */
  #next = 0;
  /** The mark by which only due bytes may be received. */
  #tight: number;
  #nextTight = 0;
  #safeUntilSeconds = 0;

  /** Marks ascend. */
  constructor(work: Work, marks: Float64Array) {
    this.#rateBps = work.rateBps;
    this.#marks = marks;
    this.#tight = marks.length;
    this.#firstMarks = new Int32Array(work.count);
    this.#dueBps = new Float64Array(marks.length + 1);
    this.#dueMoments = new Float64Array(marks.length + 1);
    this.#atStart = marks.map((seconds) => seconds * work.rateBps);
    this.#subtractDue(work);
  }

  #subtractDue({ count, bytes, capBps, deadlineSeconds }: Work): void {
    const marks = this.#marks;
    const whole = new Float64Array(marks.length + 1);
    for (let site = 0; site < count; site++) {
      const deadline = deadlineSeconds[site] as number;
      const left = bytes[site] as number;
      const cap = capBps[site] as number;
      let mark = firstAbove(marks, deadline - left / cap);
      this.#firstMarks[site] = mark;
      for (; mark < marks.length && (marks[mark] as number) < deadline; mark++) {
        const due = left - cap * (deadline - (marks[mark] as number));
        this.#atStart[mark] = (this.#atStart[mark] as number) - due;
      }
      whole[mark] = (whole[mark] as number) + left;
    }
    let sum = 0;
    for (let mark = 0; mark < marks.length; mark++) {
      sum += whole[mark] as number;
      this.#atStart[mark] = (this.#atStart[mark] as number) - sum;
    }
  }

  /** Whether a site may run: its bytes are due, or there are spare bytes. */
  allows(site: number): boolean {
    return (this.#firstMarks[site] as number) <= this.#tight;
  }

  get isTight(): boolean {
    return this.#tight < this.#marks.length;
  }

  /** The first mark by which its bytes are due; Infinity for none. */
  firstMarkOf(site: number): number {
    return this.#marks[this.#firstMarks[site] as number] ?? Number.POSITIVE_INFINITY;
  }

  /** Adds to the rate of a site from now on. */
  add(site: number, rateBps: number, nowSeconds: number): void {
    this.#book(Math.max(this.#next, this.#firstMarks[site] as number), rateBps, nowSeconds);
  }

  #book(mark: number, rateBps: number, nowSeconds: number): void {
    this.#dueBps[mark] = (this.#dueBps[mark] as number) + rateBps;
    this.#dueMoments[mark] = (this.#dueMoments[mark] as number) + rateBps * nowSeconds;
  }

  /** No bytes of a site with this rate are due any more by its first mark. */
  passMark(site: number, rateBps: number, nowSeconds: number): void {
    this.add(site, -rateBps, nowSeconds);
    this.#firstMarks[site] = (this.#firstMarks[site] as number) + 1;
    this.add(site, rateBps, nowSeconds);
  }

  /**
   * The next moment at which the sites that may run must be decided again, if it is before the
   * given one and no rate changes.
   */
  nextChange(nowSeconds: number, untilSeconds: number): number {
    const endSeconds = this.#marks[this.#tight] ?? Number.POSITIVE_INFINITY;
    if (untilSeconds <= this.#safeUntilSeconds) return endSeconds;
    return Math.min(endSeconds, this.#look(nowSeconds));
  }

  /** For the moment that `nextChange` returned. */
  change(nowSeconds: number): void {
    const endSeconds = this.#marks[this.#tight] ?? Number.POSITIVE_INFINITY;
    this.#tight = endSeconds <= nowSeconds ? this.#marks.length : this.#nextTight;
    this.#safeUntilSeconds = nowSeconds;
  }

  /** The allowed sites cannot use the whole line: the mark is given up. */
  giveUp(): void {
    this.#atStart[this.#tight] = Number.POSITIVE_INFINITY;
    this.#tight = this.#marks.length;
    this.#safeUntilSeconds = 0;
  }

  /** The first moment without spare bytes by a mark before the tight one. */
  #look(nowSeconds: number): number {
    this.#passUntil(nowSeconds);
    const rate = this.#rateBps;
    let dueBps = 0;
    let moments = 0;
    let leastBytes = Number.POSITIVE_INFINITY;
    let firstSeconds = Number.POSITIVE_INFINITY;
    for (let mark = this.#next; mark < this.#tight; mark++) {
      dueBps += this.#dueBps[mark] as number;
      moments += this.#dueMoments[mark] as number;
      const otherBps = rate - dueBps;
      const spareBytes = (this.#atStart[mark] as number) - moments - otherBps * nowSeconds;
      if (spareBytes < leastBytes) leastBytes = spareBytes;
      if (otherBps <= rate * RATE_ROUNDING) continue;
      const seconds = nowSeconds + Math.max(0, spareBytes) / otherBps;
      if (seconds < firstSeconds && seconds < (this.#marks[mark] as number) * (1 - TIME_ROUNDING)) {
        firstSeconds = seconds;
        this.#nextTight = mark;
      }
    }
    this.#safeUntilSeconds = nowSeconds + leastBytes / rate;
    return firstSeconds;
  }

  #passUntil(nowSeconds: number): void {
    while ((this.#marks[this.#next] ?? Number.POSITIVE_INFINITY) <= nowSeconds) {
      const passed = this.#next++;
      this.#dueBps[passed + 1] =
        (this.#dueBps[passed + 1] as number) + (this.#dueBps[passed] as number);
      this.#dueMoments[passed + 1] =
        (this.#dueMoments[passed + 1] as number) + (this.#dueMoments[passed] as number);
    }
  }
}

/** Index of the first of ascending marks above a value; their number if there is none. */
function firstAbove(marks: Float64Array, value: number): number {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle] as number) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
