/**
 * A hash table from 64-bit fingerprints to ids, in one typed array.
 *
 * A Map would need a string or a BigInt per key and some hundred bytes per entry; here an entry is
 * three words side by side, so that a probe costs one cache line and nothing for the collector.
 * Open addressing with linear probing; id 0 marks a free place. It grows when five eighths are taken,
 * so one that is meant to be half full has some room for whatever comes in one go.
 *
 * O(1) to get and set; growing copies everything and doubles the memory: 19 to 39 bytes an entry.
 */

import { assert } from "../base/assert.ts";

const WORDS = 3;
const SLOTS_MIN = 1024;

export class FingerprintTable {
  #words: Uint32Array<SharedArrayBuffer>;
  #slotMask: number;
  #size = 0;

  constructor(slots = SLOTS_MIN) {
    assert(slots > 0 && (slots & (slots - 1)) === 0, "slots are a power of two");
    this.#words = sharedWords(slots * WORDS);
    this.#slotMask = slots - 1;
  }

  get size(): number {
    return this.#size;
  }

  get slots(): number {
    return this.#slotMask + 1;
  }

  /** High, low, id; high, low, id; ... with id 0 where nothing is. Shared with other threads. */
  get words(): Uint32Array<SharedArrayBuffer> {
    return this.#words;
  }

  /** 0 when absent. */
  get(high: number, low: number): number {
    return this.#words[this.#find(high, low) + 2] as number;
  }

  /** The last id set for a fingerprint is the one found. */
  set(high: number, low: number, id: number): void {
    assert(id > 0, "ids count from 1");
    let at = this.#find(high, low);
    if (this.#words[at + 2] === 0) {
      if (this.#size * 8 >= this.slots * 5) {
        this.#grow();
        at = this.#find(high, low);
      }
      this.#size++;
    }
    this.#words[at] = high;
    this.#words[at + 1] = low;
    this.#words[at + 2] = id;
  }

  /** Empties it and keeps its memory, which a collector would be slow to give back. */
  clear(): void {
    this.#words.fill(0);
    this.#size = 0;
  }

  /** Where the fingerprint is, or the free place where it would go. */
  #find(high: number, low: number): number {
    const words = this.#words;
    // Mixed, because a caller's fingerprints may be any numbers, and runs of them would pile up.
    let slot = Math.imul(low ^ (high >>> 15) ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1);
    slot = (slot ^ (slot >>> 15)) & this.#slotMask;
    for (;;) {
      const at = slot * WORDS;
      if (words[at + 2] === 0) return at;
      if (words[at + 1] === low && words[at] === high) return at;
      slot = (slot + 1) & this.#slotMask;
    }
  }

  #grow(): void {
    const old = this.#words;
    const slots = this.slots * 2;
    this.#words = sharedWords(slots * WORDS);
    this.#slotMask = slots - 1;
    for (let from = 0; from < old.length; from += WORDS) {
      if (old[from + 2] === 0) continue;
      const to = this.#find(old[from] as number, old[from + 1] as number);
      this.#words[to] = old[from] as number;
      this.#words[to + 1] = old[from + 1] as number;
      this.#words[to + 2] = old[from + 2] as number;
    }
  }
}

function sharedWords(count: number): Uint32Array<SharedArrayBuffer> {
  return new Uint32Array(new SharedArrayBuffer(count * 4));
}
