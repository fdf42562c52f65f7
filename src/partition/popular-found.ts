/**
 * Finds on the way which URLs are popular: those that several processes found for themselves.
 *
 * Their owner counts by how many it was told of each; what two have told is named to all, and nobody else
 * sends it any more. Nothing is lost by that: the owner knows it already. An earlier crawl tells the same
 * beforehand and better (`popular.ts`).
 *
 * Bounded: what is counted, and what is known as popular.
 */

import { HeavyHitters } from "./heavy-hitters.ts";

/** The two halves of a fingerprint. */
export type Halves = readonly [high: number, low: number];

const COUNTED_MAX = 100_000;
const KNOWN_MAX = 100_000;
const TOLD_BY_MIN = 2;

export class PopularFound {
  readonly #counts = new HeavyHitters(COUNTED_MAX);
  readonly #known = new Set<string>();
  #fresh: Halves[] = [];

  has(high: number, low: number): boolean {
    return this.#known.has(keyOf(high, low));
  }

  /** Another process has sent it here. */
  told(high: number, low: number): void {
    if (this.#counts.add(high, low) !== TOLD_BY_MIN || this.has(high, low)) return;
    this.#fresh.push([high, low]);
  }

  /** What all should know from now on. */
  take(countMax: number): Halves[] {
    return this.#fresh.splice(0, countMax);
  }

  learn(found: readonly Halves[]): void {
    for (const [high, low] of found)
      if (this.#known.size < KNOWN_MAX) this.#known.add(keyOf(high, low));
  }
}

function keyOf(high: number, low: number): string {
  return `${high.toString(36)}-${low.toString(36)}`;
}
