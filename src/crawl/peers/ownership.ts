/** How the web is divided among processes: by whoever coordinates them, for all of them. */

import type { Totals } from "../../store/store.ts";

/** Somebody who had a bucket before the epoch, and has not said that what it knew of it has arrived. */
export interface Handing {
  readonly from: string;
  readonly epoch: number;
}

export interface Loss {
  readonly epoch: number;
  readonly buckets: ReadonlySet<number>;
}

/** Who owns which part of the web, and what is still on its way to its owner. */
export interface Division {
  readonly epoch: number;
  /** The owner of each bucket; empty while nobody has it. */
  readonly owners: readonly string[];
  /** Buckets that their owner may not crawl yet, and who is still handing them over. */
  readonly inTransit: ReadonlyMap<number, readonly Handing[]>;
  /** Buckets of which something was lost with a process, by the epoch that said so; oldest first. */
  readonly losses: readonly Loss[];
  /** By process, buckets that were its own before: what it collected of them it still has. */
  readonly formerly: ReadonlyMap<string, ReadonlySet<number>>;
  /** Everybody who is there. */
  readonly members: ReadonlySet<string>;
  /** By process, what those had done who have left: it counts for the whole. */
  readonly left: ReadonlyMap<string, Totals>;
}
