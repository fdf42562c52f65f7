/**
 * Marks numbers from 1 up, and counts the marks below any number (a rank/select bit vector).
 *
 * Memory is one bit per number and one count per 512. Marked and unmarked numbers can be renumbered without
 * gaps and mapped back. O(1) to count; O(log n) to find.
 */

import { assert } from "../../base/assert.ts";

const BLOCK_BYTES = 64;
const BITS_BY_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => {
  let bits = 0;
  for (let rest = byte; rest > 0; rest >>= 1) bits += rest & 1;
  return bits;
});

export class RankedBits {
  #bytes = new Uint8Array(BLOCK_BYTES);
  /** Marks before each block; undefined after a change. */
  #before: Uint32Array | undefined;
  #last = 0;

  /** The highest number, marked or not. */
  get last(): number {
    return this.#last;
  }

  /** Number of marks. */
  get marked(): number {
    return this.countTo(this.#last);
  }

  /** Adds the number after the last. */
  add(isMarked: boolean): void {
    this.#last += 1;
    if (this.#last >> 3 >= this.#bytes.length) {
      const grown = new Uint8Array(2 * this.#bytes.length);
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#before = undefined;
    if (isMarked) this.mark(this.#last);
  }

  mark(number: number): void {
    assert(number >= 1 && number <= this.#last, "only an existing number is marked");
    const at = number >> 3;
    this.#bytes[at] = (this.#bytes[at] as number) | (1 << (number & 7));
    this.#before = undefined;
  }

  has(number: number): boolean {
    return (((this.#bytes[number >> 3] ?? 0) >> (number & 7)) & 1) === 1;
  }

  /** Number of marks from 1 up to and including this number. */
  countTo(number: number): number {
    this.#before ??= this.#countBlocks();
    const end = number >> 3;
    const block = Math.floor(end / BLOCK_BYTES);
    let count = this.#before[block] as number;
    for (let at = block * BLOCK_BYTES; at < end; at++)
      count += BITS_BY_BYTE[this.#bytes[at] as number] as number;
    const upTo = (2 << (number & 7)) - 1;
    return count + (BITS_BY_BYTE[(this.#bytes[end] as number) & upTo] as number);
  }

  /** The nth marked (or unmarked) number; undefined when there are fewer. */
  nth(count: number, isMarked: boolean): number | undefined {
    const countTo = (number: number): number => {
      const marked = this.countTo(number);
      return isMarked ? marked : number - marked;
    };
    if (count < 1 || countTo(this.#last) < count) return undefined;
    let [low, high] = [1, this.#last];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (countTo(middle) < count) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #countBlocks(): Uint32Array {
    const before = new Uint32Array(Math.ceil(this.#bytes.length / BLOCK_BYTES));
    let count = 0;
    for (const [at, byte] of this.#bytes.entries()) {
      if (at % BLOCK_BYTES === 0) before[at / BLOCK_BYTES] = count;
      count += BITS_BY_BYTE[byte] as number;
    }
    return before;
  }
}
