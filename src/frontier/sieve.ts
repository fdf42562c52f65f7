/**
 * Remembers recently decided links, so that most links of most pages cost no lookup in the store.
 *
 * Three of four links of a page were found on the pages just before it (Broder, Najork and Wiener
 * 2003: a cache of some 50,000 URLs answers 80 % of the lookups). This is that cache: a table of
 * 64-bit fingerprints in fixed sets of four, where a new entry overwrites the oldest of its set. Lost
 * entries are looked up in the store; there are no false positives.
 *
 * O(1), no allocation; 8 bytes per entry.
 */

import { assert } from "../base/assert.ts";

const WAYS = 4;
const SET_LENGTH = 2 * WAYS;

export class Sieve {
  /** Low and high halves alternating: a whole set lies in one line of the processor's cache. */
  readonly #halves: Uint32Array;
  readonly #setMask: number;
  #turn = 0;

  /** `entriesMax` is rounded up to a power of two. */
  constructor(entriesMax: number) {
    assert(entriesMax >= WAYS, "a sieve holds at least one set");
    const entries = 2 ** Math.ceil(Math.log2(entriesMax));
    this.#halves = new Uint32Array(2 * entries);
    this.#setMask = entries / WAYS - 1;
  }

  has(high: number, low: number): boolean {
    const halves = this.#halves;
    const first = (low & this.#setMask) * SET_LENGTH;
    for (let at = first; at < first + SET_LENGTH; at += 2)
      if (halves[at] === low && halves[at + 1] === high) return true;
    return false;
  }

  add(high: number, low: number): void {
    if (this.has(high, low)) return;
    this.#turn = (this.#turn + 1) & (WAYS - 1);
    const at = (low & this.#setMask) * SET_LENGTH + 2 * this.#turn;
    this.#halves[at] = low;
    this.#halves[at + 1] = high;
  }
}
