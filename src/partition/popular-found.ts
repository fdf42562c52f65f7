/**
 * Finds popular URLs during the crawl: those that several processes found.
 *
 * The owner counts how often each URL was received; a URL received twice is announced to all processes, which then
 * stop sending it. No link is lost, because the owner knows the URL already. An earlier crawl gives the same list in
 * advance and more completely (`popular.ts`).
 *
 * Both the counters and the set of known popular URLs are bounded.
 */

import { HeavyHitters } from "./heavy-hitters.ts";

/** The two halves of a fingerprint. */
export type Halves = readonly [high: number, low: number];

const COUNTED_MAX = 100_000;
const KNOWN_MAX = 100_000;
const RECEIVED_MIN = 2;

export class PopularFound {
  readonly #counts = new HeavyHitters(COUNTED_MAX);
  readonly #known = new Set<string>();
  #unannounced: Halves[] = [];

  has(high: number, low: number): boolean {
    return this.#known.has(keyOf(high, low));
  }

  /** Counts a URL received from another process. */
  received(high: number, low: number): void {
    if (this.#counts.add(high, low) !== RECEIVED_MIN || this.has(high, low)) return;
    this.#unannounced.push([high, low]);
  }

  /** Takes at most `countMax` URLs to announce to all processes. */
  take(countMax: number): Halves[] {
    return this.#unannounced.splice(0, countMax);
  }

  learn(found: readonly Halves[]): void {
    for (const [high, low] of found)
      if (this.#known.size < KNOWN_MAX) this.#known.add(keyOf(high, low));
  }
}

function keyOf(high: number, low: number): string {
  return `${high.toString(36)}-${low.toString(36)}`;
}
