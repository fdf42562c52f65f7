/**
 * What is due in each stretch between deadlines, worked out for several stretches at a time.
 *
 * Preferably so that the last in order wait longest (`due-in-order.ts`), else so that as little as possible is due
 * (`latest.ts`), which never fails when all deadlines can be kept.
 */

import { dueInOrder } from "./due-in-order.ts";
import { byDeadlineDescending, bytesDueBy, distinctDeadlines } from "./latest.ts";
import { firstSites } from "./order-by.ts";
import { columnOf, withDeadlines, type Work } from "./work.ts";

/** So often at most is it worked out anew who is due when, and with many sites less often. */
const LOOKS_AHEAD_MAX = 32;
const LOOKED_AT_MAX = 10_000_000;
/** So that what takes all the time there is still fits into it. */
const ROUNDED_UP = 1 + 1e-12;

export class Dues {
  /** Distinct, the latest first. */
  readonly deadlines: Float64Array;
  readonly #work: Work;
  /** With deadlines for the urgent too, by which they are done when they always run at their cap. */
  readonly #bound: Work;
  readonly #dated: Int32Array;
  /** Of which something is left. */
  #lastFirst: Int32Array;
  readonly #urgent: Int32Array;
  readonly #due: Float64Array;
  /** As it was worked out: what comes in each of the next stretches, and what is left before them. */
  #ahead: Float64Array[] = [];
  #planned: Float64Array = new Float64Array(0);
  /** For so many stretches it is not tried again. */
  #inVain = 0;

  /** Sites come in order; the first, as many as are urgent, run at their cap whatever happens. */
  constructor(work: Work, urgentCount: number) {
    this.#work = work;
    this.#urgent = firstSites(urgentCount);
    this.deadlines = distinctDeadlines(work, byDeadlineDescending(work));
    const deadlineSeconds = work.deadlineSeconds.slice();
    for (const site of this.#urgent)
      deadlineSeconds[site] =
        ((work.bytes[site] as number) / (work.capBps[site] as number)) * ROUNDED_UP;
    this.#bound = withDeadlines(work, deadlineSeconds);
    this.#dated = byDeadlineDescending(this.#bound);
    this.#due = new Float64Array(work.count);
    this.#lastFirst = firstSites(work.count)
      .filter((site) => (work.deadlineSeconds[site] as number) < Number.POSITIVE_INFINITY)
      .toReversed();
  }

  /** By site; holds until the next call. */
  next(nowSeconds: number, toSeconds: number, bytesLeft: Float64Array): Float64Array {
    if (this.#ahead.length === 0 && this.#inVain-- <= 0) this.#lookAhead(nowSeconds, bytesLeft);
    const due =
      this.#nextInOrder(bytesLeft) ?? bytesDueBy(toSeconds, this.#bound, bytesLeft, this.#dated);
    for (const site of this.#urgent) {
      const most = (this.#work.capBps[site] as number) * (toSeconds - nowSeconds);
      due[site] = Math.min(bytesLeft[site] as number, most);
    }
    return due;
  }

  #nextInOrder(bytesLeft: Float64Array): Float64Array | undefined {
    const ahead = this.#ahead.shift();
    if (ahead === undefined) return undefined;
    const due = this.#due;
    for (let place = 0; place < ahead.length; place++) {
      const site = this.#lastFirst[place] as number;
      const bytes = ahead[place] as number;
      const planned = this.#planned[place] as number;
      // What came before its time need not come now.
      const early = planned - (bytesLeft[site] as number);
      due[site] = Math.max(0, bytes - early);
      this.#planned[place] = planned - bytes;
    }
    return due;
  }

  #lookAhead(nowSeconds: number, bytesLeft: Float64Array): void {
    for (const site of this.#lastFirst) this.#due[site] = 0;
    this.#lastFirst = this.#lastFirst.filter((site) => bytesLeft[site] !== 0);
    const { deadlines } = this;
    const looks = Math.ceil(LOOKED_AT_MAX / (this.#dated.length * deadlines.length));
    const stretchesAhead = Math.ceil(deadlines.length / Math.min(looks, LOOKS_AHEAD_MAX));
    const dated = { lastFirst: this.#lastFirst, deadlines, stretchesAhead, urgent: this.#urgent };
    const found = dueInOrder(nowSeconds, this.#work, bytesLeft, dated);
    if (found === undefined) this.#inVain = stretchesAhead;
    this.#ahead = found ?? [];
    this.#planned = columnOf(bytesLeft, this.#lastFirst);
  }
}
