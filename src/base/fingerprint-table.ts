/**
 * A hash table from 64-bit fingerprints to ids, in one typed array.
 *
 * A Map would need a string or a BigInt per key and about a hundred bytes per entry; here an entry is
 * three consecutive words, so that a probe costs one cache line and no garbage collection. Open
 * addressing with linear probing; id 0 marks a free slot. The table grows when it is five eighths full,
 * so a table planned for half load has reserve for one large batch.
 *
 * O(1) to get and set; growing copies everything and doubles the memory: 19 to 39 bytes per entry.
 */

import { assert } from "./assert.ts";

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

  /** High, low, id; high, low, id; … with id 0 for free slots. Shared with other threads. */
  get words(): Uint32Array<SharedArrayBuffer> {
    return this.#words;
  }

  /** 0 when absent. */
  get(high: number, low: number): number {
    return this.#words[this.#find(high, low) + 2] as number;
  }

  has(high: number, low: number): boolean {
    return this.get(high, low) !== 0;
  }

  /** Sets the id of a fingerprint; replaces an earlier one. */
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

  /** Removes all entries and keeps the memory, because garbage collection would free it late. */
  clear(): void {
    this.#words.fill(0);
    this.#size = 0;
  }

  /** Index of the fingerprint's entry, or of the free slot for it. */
  #find(high: number, low: number): number {
    const words = this.#words;
    // Mixed, because fingerprints may be any numbers, and consecutive ones would cluster.
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
