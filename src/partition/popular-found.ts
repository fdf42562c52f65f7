/**
 * Finds popular URLs during the crawl: those that several processes found.
 *
 * The owner remembers which URLs were received; a URL received twice is announced to all processes, which then
 * stop sending it. No link is lost, because the owner knows the URL already. An earlier crawl gives the same list in
 * advance and more completely (`--replicate`).
 *
 * Both the remembered URLs and the set of known popular URLs are bounded; of the former, those received last are kept.
 */

import { FingerprintTable } from "../base/fingerprint-table.ts";

/** The two halves of a fingerprint. */
export type Halves = readonly [high: number, low: number];

/** Between this many URLs and twice as many are remembered. */
const REMEMBERED_MIN = 100_000;
const KNOWN_MAX = 100_000;
const RECEIVED_ONCE = 1;
const RECEIVED_OFTEN = 2;

export class PopularFound {
  /** How often a URL was received. A full table becomes the older one, and the older one is forgotten. */
  #recent = new FingerprintTable();
  #older = new FingerprintTable();
  readonly #known = new FingerprintTable();
  #unannounced: Halves[] = [];

  has(high: number, low: number): boolean {
    return this.#known.has(high, low);
  }

  /** Notes a URL received from another process. */
  received(high: number, low: number): void {
    const before = this.#recent.get(high, low) || this.#older.get(high, low);
    if (before === RECEIVED_ONCE && !this.has(high, low)) this.#unannounced.push([high, low]);
    this.#recent.set(high, low, before === 0 ? RECEIVED_ONCE : RECEIVED_OFTEN);
    if (this.#recent.size < REMEMBERED_MIN) return;
    this.#older = this.#recent;
    this.#recent = new FingerprintTable();
  }

  /** Takes at most `countMax` URLs to announce to all processes. */
  take(countMax: number): Halves[] {
    return this.#unannounced.splice(0, countMax);
  }

  learn(found: readonly Halves[]): void {
    for (const [high, low] of found)
      if (this.#known.size < KNOWN_MAX) this.#known.set(high, low, 1);
  }
}
