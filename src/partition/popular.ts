/**
 * A set of popular URLs that all processes know and do not send: fingerprints, 16 bytes each.
 *
 * In-links of pages follow a power law, so leaving out the few pages with most links saves a large share of the
 * exchange (Cho and Garcia-Molina 2002). The owner of such a page has it as a seed; the others only need to know
 * that it is popular.
 *
 * No false positives except for two URLs with the same 64-bit fingerprint. `has` is O(1) and does not allocate.
 */

import { assert } from "../base/assert.ts";

interface FingerprintList {
  readonly high: ArrayLike<number>;
  readonly low: ArrayLike<number>;
}

const SLOTS_PER_ENTRY = 2;

export class PopularSet {
  readonly size: number;
  /** Two words per slot, low and high; both 0 if it is empty. */
  readonly #halves: Uint32Array;
  readonly #slots: number;
  #hasZero = false;

  /** The fingerprints come in any order; repeats count once. */
  constructor({ high, low }: FingerprintList) {
    assert(high.length === low.length, "a fingerprint has two halves");
    this.#slots = SLOTS_PER_ENTRY * Math.max(1, low.length);
    this.#halves = new Uint32Array(2 * this.#slots);
    let size = 0;
    for (let index = 0; index < low.length; index++)
      if (this.#add((high[index] as number) >>> 0, (low[index] as number) >>> 0)) size += 1;
    this.size = size;
  }

  get bytes(): number {
    return this.#halves.byteLength;
  }

  has(high: number, low: number): boolean {
    if (high === 0 && low === 0) return this.#hasZero;
    const at = this.#find(high, low);
    return this.#halves[at] === low && this.#halves[at + 1] === high;
  }

  #add(high: number, low: number): boolean {
    if (high === 0 && low === 0) {
      const isNew = !this.#hasZero;
      this.#hasZero = true;
      return isNew;
    }
    const at = this.#find(high, low);
    const isNew = this.#halves[at] === 0 && this.#halves[at + 1] === 0;
    this.#halves[at] = low;
    this.#halves[at + 1] = high;
    return isNew;
  }

  /** Index of the entry, or of the empty slot for it: half of all slots are empty. */
  #find(high: number, low: number): number {
    const halves = this.#halves;
    let at = 2 * Math.floor((low / 2 ** 32) * this.#slots);
    while (halves[at] !== 0 || halves[at + 1] !== 0) {
      if (halves[at] === low && halves[at + 1] === high) break;
      at += 2;
      if (at === halves.length) at = 0;
    }
    return at;
  }
}
