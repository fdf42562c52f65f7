/**
 * Remembers which links have been decided lately, so that most links of most pages cost nothing.
 *
 * Three of four links on a page have been met on the pages just before it (Broder, Najork and Wiener
 * 2003: a cache of some 50,000 URLs answers 80 % of the questions). This is that cache: a table of
 * 64-bit fingerprints in fixed sets of four, the oldest of a set overwritten. It may forget, and then
 * the store is asked; it never claims to know what it was not told.
 *
 * O(1), no allocation; 8 bytes an entry.
 */

import { assert } from "../base/assert.ts";

const WAYS = 4;

export class Sieve {
  readonly #high: Uint32Array;
  readonly #low: Uint32Array;
  readonly #setMask: number;
  #turn = 0;

  /** `entriesMax` is rounded up to a power of two. */
  constructor(entriesMax: number) {
    assert(entriesMax >= WAYS, "a sieve holds at least one set");
    const entries = 2 ** Math.ceil(Math.log2(entriesMax));
    this.#high = new Uint32Array(entries);
    this.#low = new Uint32Array(entries);
    this.#setMask = entries / WAYS - 1;
  }

  has(high: number, low: number): boolean {
    const first = (low & this.#setMask) * WAYS;
    for (let slot = first; slot < first + WAYS; slot++) {
      if (this.#low[slot] === low && this.#high[slot] === high) return true;
    }
    return false;
  }

  add(high: number, low: number): void {
    if (this.has(high, low)) return;
    this.#turn = (this.#turn + 1) & (WAYS - 1);
    const slot = (low & this.#setMask) * WAYS + this.#turn;
    this.#high[slot] = high;
    this.#low[slot] = low;
  }
}
