/**
 * How much can still come besides what is due by each of some deadlines, while sites run at changing rates.
 *
 * By a mark is due of a site what it could not bring between the mark and its own deadline at its cap. So of a
 * site that is called for the last time at some moment, something is due by all marks after that moment and by none before.
 * Rates are booked with their moments at the first mark by which something is due; sums over the marks tell what has
 * come for each. O(1) a rate, O(k) a look, and a look tells how long none is needed.
 */

import type { Work } from "./columns.ts";

/** Parts of the rate, or of the time until a mark, that are only rounding. */
const RATE_ROUNDING = 1e-12;
const TIME_ROUNDING = 1e-11;

export class Spare {
  readonly #rateBps: number;
  readonly #marks: Float64Array;
  /** By mark: what the line brings until then, less what is due then, both from the beginning. */
  readonly #atStart: Float64Array;
  /** By site: the first mark by which something of it is due; as many as there are marks for none. */
  readonly #firstMarks: Int32Array;
  /** By first mark: the rates of sites, and the same times the moments since when they run. */
  readonly #dueBps: Float64Array;
  readonly #dueMoments: Float64Array;
  /** Marks before this one have passed; their rates and moments are added up in its own. */
  #next = 0;
  /** Nothing but what is due by this mark can come. */
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

  /** Whether a site may run: something of it is due, or there is more to spare. */
  allows(site: number): boolean {
    return (this.#firstMarks[site] as number) <= this.#tight;
  }

  get isTight(): boolean {
    return this.#tight < this.#marks.length;
  }

  /** The first by which something of it is due; Infinity for none. */
  firstMarkOf(site: number): number {
    return this.#marks[this.#firstMarks[site] as number] ?? Number.POSITIVE_INFINITY;
  }

  /** From now on a site has so much more rate. */
  add(site: number, rateBps: number, nowSeconds: number): void {
    this.#book(Math.max(this.#next, this.#firstMarks[site] as number), rateBps, nowSeconds);
  }

  #book(mark: number, rateBps: number, nowSeconds: number): void {
    this.#dueBps[mark] = (this.#dueBps[mark] as number) + rateBps;
    this.#dueMoments[mark] = (this.#dueMoments[mark] as number) + rateBps * nowSeconds;
  }

  /** Nothing of a site that runs at this rate is due any more by its first mark. */
  passMark(site: number, rateBps: number, nowSeconds: number): void {
    this.add(site, -rateBps, nowSeconds);
    this.#firstMarks[site] = (this.#firstMarks[site] as number) + 1;
    this.add(site, rateBps, nowSeconds);
  }

  /** When it must be decided anew who may run, if that is before the given moment and no rate changes. */
  nextChange(nowSeconds: number, untilSeconds: number): number {
    const endSeconds = this.#marks[this.#tight] ?? Number.POSITIVE_INFINITY;
    if (untilSeconds <= this.#safeUntilSeconds) return endSeconds;
    return Math.min(endSeconds, this.#look(nowSeconds));
  }

  /** The moment told by `nextChange` has come. */
  change(nowSeconds: number): void {
    const endSeconds = this.#marks[this.#tight] ?? Number.POSITIVE_INFINITY;
    this.#tight = endSeconds <= nowSeconds ? this.#marks.length : this.#nextTight;
    this.#safeUntilSeconds = nowSeconds;
  }

  /** Those that may run cannot use the line: the mark is given up. */
  giveUp(): void {
    this.#atStart[this.#tight] = Number.POSITIVE_INFINITY;
    this.#tight = this.#marks.length;
    this.#safeUntilSeconds = 0;
  }

  /** The first moment at which nothing is to spare by a mark before the one that is tight. */
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

/** The first of ascending marks that is above a value; as many as there are for none. */
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
