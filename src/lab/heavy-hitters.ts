/**
 * Finds the most frequent fingerprints of an endless stream with a fixed number of counters.
 *
 * Space-Saving (Metwally, Agrawal and El Abbadi 2005): a fingerprint without a counter takes over the one with
 * the lowest count, including the count. So a count may be too high, by at most `overcount`, but never too low.
 *
 * Promises, held by tests: with k counters and n additions in all, no count is too high by more than n / k,
 * and every fingerprint added more than n / k times has a counter.
 *
 * O(log k) for each addition; about 45 bytes per counter, no allocation after construction.
 */

import { assert } from "../base/assert.ts";

interface Hitter {
  readonly high: number;
  readonly low: number;
  readonly count: number;
  /** The true count is at most this much lower. */
  readonly overcount: number;
}

const EMPTY = 0xffffffff;

export class HeavyHitters {
  readonly #high: Uint32Array;
  readonly #low: Uint32Array;
  readonly #counts: Float64Array;
  readonly #overcounts: Float64Array;
  /** Counters as a heap, the lowest count first; and the position of each counter in it. */
  readonly #heap: Uint32Array;
  readonly #places: Uint32Array;
  /** Slots of a hash table from fingerprint to counter, with open addressing. */
  readonly #table: Uint32Array;
  readonly #mask: number;
  #used = 0;

  constructor(countersMax: number) {
    assert(countersMax > 0 && countersMax < 2 ** 30, "there is at least one counter");
    this.#high = new Uint32Array(countersMax);
    this.#low = new Uint32Array(countersMax);
    this.#counts = new Float64Array(countersMax);
    this.#overcounts = new Float64Array(countersMax);
    this.#heap = new Uint32Array(countersMax);
    this.#places = new Uint32Array(countersMax);
    this.#table = new Uint32Array(2 ** (1 + Math.ceil(Math.log2(countersMax)))).fill(EMPTY);
    this.#mask = this.#table.length - 1;
  }

  /** Returns a lower bound of how often it was added. */
  add(high: number, low: number, count = 1): number {
    const slot = this.#slotOf(high, low);
    const known = this.#table[slot] as number;
    const counter = known === EMPTY ? this.#takeCounter(high, low) : known;
    this.#counts[counter] = (this.#counts[counter] as number) + count;
    this.#sink(this.#places[counter] as number);
    return (this.#counts[counter] as number) - (this.#overcounts[counter] as number);
  }

  /** Fingerprints certainly added at least `countMin` times, the most frequent first. */
  above(countMin: number): Hitter[] {
    const found: Hitter[] = [];
    for (let counter = 0; counter < this.#used; counter++) {
      const count = this.#counts[counter] as number;
      const overcount = this.#overcounts[counter] as number;
      if (count - overcount < countMin) continue;
      const high = this.#high[counter] as number;
      found.push({ high, low: this.#low[counter] as number, count, overcount });
    }
    return found.toSorted((a, b) => b.count - a.count || a.high - b.high || a.low - b.low);
  }

  /** A free counter, or the lowest one, whose fingerprint is dropped. */
  #takeCounter(high: number, low: number): number {
    let counter = this.#used;
    if (counter < this.#heap.length) {
      this.#used += 1;
      this.#rise(counter, counter);
    } else {
      counter = this.#heap[0] as number;
      this.#overcounts[counter] = this.#counts[counter] as number;
      this.#emptySlot(this.#slotOf(this.#high[counter] as number, this.#low[counter] as number));
    }
    this.#high[counter] = high;
    this.#low[counter] = low;
    this.#table[this.#slotOf(high, low)] = counter;
    return counter;
  }

  #slotOf(high: number, low: number): number {
    const table = this.#table;
    let slot = low & this.#mask;
    for (let counter = table[slot] as number; counter !== EMPTY; counter = table[slot] as number) {
      if (this.#low[counter] === low && this.#high[counter] === high) break;
      slot = (slot + 1) & this.#mask;
    }
    return slot;
  }

  /** Empties a slot and closes the gap, so that entries after it in the probe sequence are still found. */
  #emptySlot(emptied: number): void {
    const table = this.#table;
    let gap = emptied;
    for (let slot = (gap + 1) & this.#mask; table[slot] !== EMPTY; slot = (slot + 1) & this.#mask) {
      const home = (this.#low[table[slot] as number] as number) & this.#mask;
      if (((slot - home) & this.#mask) < ((slot - gap) & this.#mask)) continue;
      table[gap] = table[slot] as number;
      gap = slot;
    }
    table[gap] = EMPTY;
  }

  /** Places a counter without a count in the heap, upwards from a position. */
  #rise(counter: number, from: number): void {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = this.#heap[parent] as number;
      if ((this.#counts[above] as number) <= (this.#counts[counter] as number)) break;
      this.#put(above, place);
      place = parent;
    }
    this.#put(counter, place);
  }

  #sink(from: number): void {
    const counter = this.#heap[from] as number;
    const count = this.#counts[counter] as number;
    let place = from;
    for (;;) {
      const child = this.#lesserChild(place);
      const below = this.#heap[child] as number;
      if (child >= this.#used || (this.#counts[below] as number) >= count) break;
      this.#put(below, place);
      place = child;
    }
    this.#put(counter, place);
  }

  #lesserChild(place: number): number {
    const left = 2 * place + 1;
    const right = left + 1;
    if (right >= this.#used) return left;
    return this.#countAt(right) < this.#countAt(left) ? right : left;
  }

  #countAt(place: number): number {
    return this.#counts[this.#heap[place] as number] as number;
  }

  #put(counter: number, place: number): void {
    this.#heap[place] = counter;
    this.#places[counter] = place;
  }
}
