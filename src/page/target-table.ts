/**
 * The distinct targets of one page: has this fingerprint been met on it, and as which?
 *
 * A table with open addressing, four times as large as it may get full. A new page changes a stamp
 * instead of clearing it, so a page with three links costs three probes. Allocates nothing. The
 * halves of fingerprints are signed here.
 */

import { assert } from "../base/assert.ts";

export const TARGETS_MAX = 2000;
export const NOT_FOUND = -1;
const SLOTS = 8192;

export class TargetTable {
  readonly #high = new Int32Array(SLOTS);
  readonly #low = new Int32Array(SLOTS);
  readonly #number = new Int32Array(SLOTS);
  readonly #stamps = new Uint32Array(SLOTS);
  #stamp = 0;
  #slot = 0;

  reset(): void {
    this.#stamp = (this.#stamp + 1) >>> 0;
    if (this.#stamp > 0) return;
    this.#stamps.fill(0);
    this.#stamp = 1;
  }

  /** The number under which a fingerprint was put; `NOT_FOUND` when it was not. */
  find(high: number, low: number): number {
    let slot = low & (SLOTS - 1);
    while (this.#stamps[slot] === this.#stamp) {
      if (this.#low[slot] === low && this.#high[slot] === high) return this.#number[slot] as number;
      slot = (slot + 1) & (SLOTS - 1);
    }
    this.#slot = slot;
    return NOT_FOUND;
  }

  /** Puts the fingerprint that `find` has just missed. */
  put(high: number, low: number, number: number): void {
    assert(number <= TARGETS_MAX, "a page has a bounded number of targets");
    this.#high[this.#slot] = high;
    this.#low[this.#slot] = low;
    this.#number[this.#slot] = number;
    this.#stamps[this.#slot] = this.#stamp;
  }
}
