/**
 * Counts the terms of a page in a hash table that is reused thousands of times a second without being
 * allocated or cleared.
 *
 * Open addressing with a stamp for each page: increasing the stamp empties the table. Distinct terms keep
 * the order of their first occurrence. The table holds at most the `TERMS_MAX` terms of a `Tokens`.
 */

import { TERMS_MAX, type Tokens } from "./tokens.ts";

const SLOTS = 2 ** 12;
const SLOT_SHIFT = 32 - 12;

/** Distinct terms and how often each occurs; the first `count` entries of both arrays are valid. */
export interface TermCounts {
  readonly terms: Int32Array;
  readonly counts: Uint16Array;
  readonly count: number;
}

export class Bag implements TermCounts {
  readonly terms = new Int32Array(TERMS_MAX);
  readonly counts = new Uint16Array(TERMS_MAX);
  count = 0;
  readonly #stamps = new Uint32Array(SLOTS);
  readonly #places = new Uint32Array(SLOTS);
  #stamp = 0;

  /** Counts the words of a page. */
  take(tokens: Tokens): void {
    this.#clear();
    const { terms, count } = tokens;
    for (let index = 0; index < count; index++) this.#add(terms[index] as number);
  }

  #clear(): void {
    this.count = 0;
    this.#stamp = (this.#stamp + 1) >>> 0;
    if (this.#stamp !== 0) return;
    this.#stamps.fill(0);
    this.#stamp = 1;
  }

  #add(term: number): void {
    let slot = slotOf(term);
    while (this.#stamps[slot] === this.#stamp) {
      const place = this.#places[slot] as number;
      if (this.terms[place] === term) {
        this.counts[place] = (this.counts[place] as number) + 1;
        return;
      }
      slot = (slot + 1) & (SLOTS - 1);
    }
    this.#stamps[slot] = this.#stamp;
    this.#places[slot] = this.count;
    this.terms[this.count] = term;
    this.counts[this.count] = 1;
    this.count += 1;
  }
}

function slotOf(term: number): number {
  return Math.imul(term, 0x9e3779b1) >>> SLOT_SHIFT;
}
