/**
 * Counts distinct items over several processes, from a small sketch of each.
 *
 * The k smallest of all fingerprints are kept (Bar-Yossef et al. 2002, "KMV"; the estimator (k − 1) / v of
 * Beyer et al. 2007, where v is the k-th smallest as a share of the range). Merged sketches of parts equal the sketch
 * of the whole even if the parts overlap, so overlap is measured without comparing lists of URLs.
 *
 * Promises: exact up to k − 1 distinct items; beyond that the error is near 1 / √k of the count (1.6 % for
 * k = 4096). The same items give the same sketch, in any order and with any repeats.
 *
 * 8 bytes × k. O(1) for a fingerprint too large to be kept, soon nearly all of them; else O(k).
 */

import { assert } from "../base/assert.ts";

const SKETCH_SIZE_DEFAULT = 4096;

export class DistinctCount {
  /** Ascending and distinct; fingerprints as shares of their range, in [0, 1). */
  readonly #smallest: Float64Array;
  #size = 0;

  constructor(sketchSize = SKETCH_SIZE_DEFAULT) {
    assert(sketchSize >= 2, "an estimate needs two");
    this.#smallest = new Float64Array(sketchSize);
  }

  /** Adds an item by its uniformly distributed 64-bit fingerprint. */
  add(high: number, low: number): void {
    this.#keep((high * 2 ** 21 + (low >>> 11)) / 2 ** 53);
  }

  /** Adds the items of another sketch of the same size. */
  merge(values: Iterable<number>): void {
    for (const value of values) this.#keep(value);
  }

  /** Input for `merge`, for sending. */
  get values(): readonly number[] {
    return [...this.#smallest.subarray(0, this.#size)];
  }

  get count(): number {
    const kept = this.#smallest;
    if (this.#size < kept.length) return this.#size;
    return (kept.length - 1) / (kept[kept.length - 1] as number);
  }

  #keep(value: number): void {
    const kept = this.#smallest;
    const isFull = this.#size === kept.length;
    if (isFull && value >= (kept[kept.length - 1] as number)) return;
    const place = this.#placeOf(value);
    if (place < this.#size && kept[place] === value) return;
    kept.copyWithin(place + 1, place, isFull ? kept.length - 1 : this.#size);
    kept[place] = value;
    if (!isFull) this.#size += 1;
  }

  /** Index of the first value that is not smaller. */
  #placeOf(value: number): number {
    let from = 0;
    let behind = this.#size;
    while (from < behind) {
      const middle = (from + behind) >>> 1;
      if ((this.#smallest[middle] as number) < value) from = middle + 1;
      else behind = middle;
    }
    return from;
  }
}
