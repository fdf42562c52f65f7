/**
 * The distinct targets of one page: has this fingerprint been met on it, and as which?
 *
 * A table with open addressing that grows before it is half full. A new page changes a stamp instead
 * of clearing it, so a page with three links costs three probes. After a page with very many targets
 * the table is made small again. The halves of fingerprints are signed here.
 *
 * A page may be made of colliding fingerprints, so the place of one depends on two numbers drawn for
 * each process (multiply-shift hashing): no page can know which of its links share a slot.
 */

import { randomInt } from "node:crypto";

export const NOT_FOUND = -1;
/** Slots kept between pages: 128 KiB. */
const SLOTS_KEPT = 8192;

export class TargetTable {
  readonly #factorA = randomInt(2 ** 31) * 2 + 1;
  readonly #factorB = randomInt(2 ** 31) * 2 + 1;
  #high = new Int32Array(SLOTS_KEPT);
  #low = new Int32Array(SLOTS_KEPT);
  #number = new Int32Array(SLOTS_KEPT);
  #stamps = new Uint32Array(SLOTS_KEPT);
  #mask = SLOTS_KEPT - 1;
  #shift = Math.clz32(SLOTS_KEPT - 1);
  #count = 0;
  #stamp = 0;
  #slot = 0;

  reset(): void {
    this.#count = 0;
    if (this.#mask >= SLOTS_KEPT) this.#allot(SLOTS_KEPT);
    this.#stamp = (this.#stamp + 1) >>> 0;
    if (this.#stamp > 0) return;
    this.#stamps.fill(0);
    this.#stamp = 1;
  }

  /** The number under which a fingerprint was put; `NOT_FOUND` when it was not. */
  find(high: number, low: number): number {
    let slot = this.#firstSlot(high, low);
    while (this.#stamps[slot] === this.#stamp) {
      if (this.#low[slot] === low && this.#high[slot] === high) return this.#number[slot] as number;
      slot = (slot + 1) & this.#mask;
    }
    this.#slot = slot;
    return NOT_FOUND;
  }

  /** Puts the fingerprint that `find` has just missed. */
  put(high: number, low: number, number: number): void {
    this.#high[this.#slot] = high;
    this.#low[this.#slot] = low;
    this.#number[this.#slot] = number;
    this.#stamps[this.#slot] = this.#stamp;
    this.#count += 1;
    if (2 * this.#count > this.#mask) this.#grow();
  }

  #firstSlot(high: number, low: number): number {
    return (Math.imul(high, this.#factorA) + Math.imul(low, this.#factorB)) >>> this.#shift;
  }

  #grow(): void {
    const [high, low, number, stamps] = [this.#high, this.#low, this.#number, this.#stamps];
    const stamp = this.#stamp;
    this.#allot(2 * stamps.length);
    this.#stamp = 1;
    for (let slot = 0; slot < stamps.length; slot++) {
      if (stamps[slot] !== stamp) continue;
      let free = this.#firstSlot(high[slot] as number, low[slot] as number);
      while (this.#stamps[free] === 1) free = (free + 1) & this.#mask;
      this.#high[free] = high[slot] as number;
      this.#low[free] = low[slot] as number;
      this.#number[free] = number[slot] as number;
      this.#stamps[free] = 1;
    }
  }

  #allot(slots: number): void {
    this.#high = new Int32Array(slots);
    this.#low = new Int32Array(slots);
    this.#number = new Int32Array(slots);
    this.#stamps = new Uint32Array(slots);
    this.#mask = slots - 1;
    this.#shift = Math.clz32(slots - 1);
    this.#stamp = 0;
  }
}
