/**
 * Maps terms to rows: a hash table of integers that only grows.
 *
 * Key and row are adjacent, so a lookup costs one memory access, found or not. At most half full.
 */

const SLOTS_INITIAL = 1024;

export class TermTable {
  /** Number of terms; their rows are 0 … size - 1. */
  size = 0;
  /** Key and row + 1, alternating; a row of 0 is an empty slot. */
  #slots = new Int32Array(2 * SLOTS_INITIAL);
  #shift = 32 - Math.log2(SLOTS_INITIAL);

  static of(keys: Int32Array): TermTable {
    const table = new TermTable();
    for (const key of keys) table.add(key);
    return table;
  }

  /** The row of a term, or -1. */
  find(term: number): number {
    return (this.#slots[this.#placeOf(term) + 1] as number) - 1;
  }

  /** The row of a term, which is added if it is new. */
  add(term: number): number {
    const place = this.#placeOf(term);
    const row = (this.#slots[place + 1] as number) - 1;
    if (row >= 0) return row;
    this.#slots[place] = term;
    this.#slots[place + 1] = this.size + 1;
    this.size += 1;
    if (4 * this.size > this.#slots.length) this.#grow();
    return this.size - 1;
  }

  /** All terms by row. */
  keys(): Int32Array {
    const keys = new Int32Array(this.size);
    for (let place = 0; place < this.#slots.length; place += 2) {
      const row = (this.#slots[place + 1] as number) - 1;
      if (row >= 0) keys[row] = this.#slots[place] as number;
    }
    return keys;
  }

  #placeOf(term: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let place = 2 * (Math.imul(term, 0x9e3779b1) >>> this.#shift);
    while (slots[place + 1] !== 0 && slots[place] !== term) place = (place + 2) & mask;
    return place;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Int32Array(2 * before.length);
    this.#shift -= 1;
    for (let from = 0; from < before.length; from += 2) {
      if (before[from + 1] === 0) continue;
      const place = this.#placeOf(before[from] as number);
      this.#slots[place] = before[from] as number;
      this.#slots[place + 1] = before[from + 1] as number;
    }
  }
}
