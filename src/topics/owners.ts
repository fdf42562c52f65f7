/**
 * Assigns topics to processes so that all have about the same load.
 *
 * The largest topic goes first, always to the process with the smallest load (Graham's rule, 1969: never
 * worse than 4/3 of the optimum). Ties are broken by name, so that every process computes the same
 * assignment. With more processes than topics some get none.
 */

import { assert } from "../base/assert.ts";

interface TopicShare {
  readonly topic: string;
  /** Share of all pages (or bytes) that is of this topic, measured or estimated; any unit. */
  readonly share: number;
}

/** For each process its topics. */
export function ownersOf(shares: readonly TopicShare[], processes: number): string[][] {
  assert(processes >= 1, "topics need at least one process");
  const owned = Array.from({ length: processes }, (): string[] => []);
  const loads = new Float64Array(processes);
  const byShare = shares.toSorted((a, b) => b.share - a.share || (a.topic < b.topic ? -1 : 1));
  for (const { topic, share } of byShare) {
    const least = leastLoaded(loads, owned);
    owned[least]?.push(topic);
    loads[least] = (loads[least] as number) + share;
  }
  return owned;
}

/** The process with the smallest load; of equals the one with fewer topics, which spreads topics of unknown size. */
function leastLoaded(loads: Float64Array, owned: readonly (readonly string[])[]): number {
  let best = 0;
  for (let other = 1; other < loads.length; other++) {
    const less = (loads[other] as number) - (loads[best] as number);
    const fewer = (owned[other]?.length ?? 0) - (owned[best]?.length ?? 0);
    if (less < 0 || (less === 0 && fewer < 0)) best = other;
  }
  return best;
}
