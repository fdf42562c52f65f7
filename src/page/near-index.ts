/**
 * Finds, among the latest pages, the one whose fingerprint differs least, in at most three bits.
 *
 * A fingerprint is cut into four bands of 16 bits. Two fingerprints that differ in at most three bits agree in
 * at least one whole band, so only pages that share a band are compared (Manku, Jain, Das Sarma
 * 2007). Pages that share one form a chain, newest first. Capacity is fixed: a new page replaces
 * the oldest, and a chain ends where it reaches a replaced page.
 *
 * 28 bytes per page and 1 MiB. A search examines at most 256 pages of each band, so that a site
 * made of one template cannot slow it down; beyond that an older likeness may be missed.
 */

import { assert } from "../base/assert.ts";
import { hammingDistance } from "./near-duplicate.ts";

export const NEAR_DISTANCE_MAX = 3;

const BANDS = 4;
const BAND_VALUES = 65_536;
const CHAIN_MAX = 256;

export class NearIndex {
  readonly #pagesMax: number;
  readonly #high: Uint32Array;
  readonly #low: Uint32Array;
  readonly #ids: Uint32Array;
  /** For each band: the newest page with a value, and for each page the next older one; 0 for none. */
  readonly #newest: readonly Uint32Array[];
  readonly #older: readonly Uint32Array[];
  /** Pages are numbered from 1 in order of arrival; page n is stored at n modulo the capacity. */
  #count = 0;

  constructor(pagesMax: number) {
    assert(pagesMax > 0, "an index has room for a page");
    this.#pagesMax = pagesMax;
    this.#high = new Uint32Array(pagesMax);
    this.#low = new Uint32Array(pagesMax);
    this.#ids = new Uint32Array(pagesMax);
    this.#newest = Array.from({ length: BANDS }, () => new Uint32Array(BAND_VALUES));
    this.#older = Array.from({ length: BANDS }, () => new Uint32Array(pagesMax));
  }

  /** The id of the nearest page within the distance; among ties the newest found. */
  find(high: number, low: number, distanceMax: number = NEAR_DISTANCE_MAX): number | undefined {
    assert(distanceMax <= NEAR_DISTANCE_MAX, "four bands find differences of up to three bits");
    let nearest: number | undefined;
    let nearestDistance = distanceMax + 1;
    for (let band = 0; band < BANDS && nearestDistance > 0; band++) {
      const older = this.#older[band] as Uint32Array;
      let page = this.#newest[band]?.[bandOf(band, high, low)] as number;
      for (let steps = 0; steps < CHAIN_MAX && this.#isKept(page); steps++) {
        const place = page % this.#pagesMax;
        const otherHigh = this.#high[place] as number;
        const distance = hammingDistance(otherHigh ^ high, (this.#low[place] as number) ^ low);
        if (distance < nearestDistance) {
          nearest = this.#ids[place];
          nearestDistance = distance;
        }
        page = older[place] as number;
      }
    }
    return nearest;
  }

  put(high: number, low: number, id: number): void {
    this.#count += 1;
    const place = this.#count % this.#pagesMax;
    this.#high[place] = high;
    this.#low[place] = low;
    this.#ids[place] = id;
    for (let band = 0; band < BANDS; band++) {
      const newest = this.#newest[band] as Uint32Array;
      const value = bandOf(band, high, low);
      (this.#older[band] as Uint32Array)[place] = newest[value] as number;
      newest[value] = this.#count;
    }
  }

  #isKept(page: number): boolean {
    return page > 0 && page > this.#count - this.#pagesMax;
  }
}

function bandOf(band: number, high: number, low: number): number {
  const half = band < 2 ? low : high;
  return (band & 1) === 0 ? half & 0xffff : half >>> 16;
}
