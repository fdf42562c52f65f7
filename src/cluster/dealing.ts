/**
 * Deals the web to processes: all at once by a function, or piece by piece to whoever has run dry; and
 * again when processes come and go.
 *
 * A part that changes hands is in transit until its old owner has said that everything known of it has
 * arrived. One whose owner is lost is free at once: what it knew comes when it comes back.
 */

import type { Division } from "../crawl/border.ts";
import { assignGroups, nextBuckets, reassign, type Worker } from "../partition/assignment.ts";
import type { Coordination } from "../partition/mode.ts";
import type { Partition } from "../partition/partition.ts";

export interface DealingRules {
  readonly coordination: Exclude<Coordination, "independent">;
  readonly partition: Partition;
  /** Buckets that a process which has run dry gets at once. */
  readonly grain: number;
  /** Buckets of the starting addresses: work is known to wait there. */
  readonly seeded: readonly number[];
}

export class Dealing {
  readonly #rules: DealingRules;
  #division: Division;
  /** Who is still handing a bucket over, and since which epoch. */
  readonly #transit = new Map<number, { readonly from: string; readonly epoch: number }>();

  /** Goes on with an earlier division where there is one. */
  constructor(rules: DealingRules, workers: readonly Worker[], kept: Division | undefined) {
    this.#rules = rules;
    this.#division = kept ?? this.#first(workers);
  }

  get division(): Division {
    return this.#division;
  }

  /** Answers whether there was something to give. */
  handOut(dry: string, wanted: readonly number[]): boolean {
    const { coordination, grain, seeded } = this.#rules;
    if (coordination !== "dynamic") return false;
    const { owners } = this.#division;
    const known = new Set([...seeded, ...wanted]);
    const waitingIn = (bucket: number): number =>
      owners[bucket] === "" && known.has(bucket) ? 1 : 0;
    const isAnyFree = [...known].some((bucket) => waitingIn(bucket) > 0);
    if (!isAnyFree) return false;
    const given = new Set(nextBuckets(this.#division, dry, grain, waitingIn));
    this.#next(owners.map((owner, bucket) => (given.has(bucket) ? dry : owner)));
    return true;
  }

  /**
   * Fits the division to who is there now. `lost` are gone without having handed anything over; members that
   * are not among the workers are on their way out.
   */
  refit(
    workers: readonly Worker[],
    lost: ReadonlySet<string>,
    members: ReadonlySet<string> = new Set(workers.map(({ name }) => name)),
  ): void {
    const { owners } = this.#division;
    const { coordination } = this.#rules;
    const names = new Set(workers.map(({ name }) => name));
    const after =
      coordination === "dynamic"
        ? owners.map((owner) => (names.has(owner) ? owner : ""))
        : owners.every((owner) => owner === "")
          ? assignGroups(this.#rules.partition, workers)
          : reassign(owners, workers, this.#rules.partition.groups);
    const epoch = this.#division.epoch + 1;
    for (const [bucket, from] of owners.entries()) {
      const to = after[bucket];
      if (to === from || from === "" || lost.has(from)) this.#transit.delete(bucket);
      else this.#transit.set(bucket, { from, epoch });
    }
    this.#next(after, members);
  }

  /** The next division has a higher number than this: somebody knows of one that we do not. */
  skipTo(epoch: number): void {
    this.#division = { ...this.#division, epoch };
    this.#next(this.#division.owners);
  }

  /** A process says that what it lost has arrived. Answers whether that changed anything. */
  handedOver(from: string, epoch: number): boolean {
    let hasChanged = false;
    for (const [bucket, transit] of this.#transit) {
      if (transit.from !== from || transit.epoch > epoch) continue;
      this.#transit.delete(bucket);
      hasChanged = true;
    }
    if (hasChanged) this.#next(this.#division.owners);
    return hasChanged;
  }

  /** Whether something of what it had has not arrived yet. */
  isHandingOver(name: string): boolean {
    return this.#transit.values().some(({ from }) => from === name);
  }

  #first(workers: readonly Worker[]): Division {
    const { coordination, partition } = this.#rules;
    const members = new Set(workers.map(({ name }) => name));
    const owners =
      coordination === "static"
        ? assignGroups(partition, workers)
        : Array.from({ length: partition.bucketCount }, () => "");
    return { epoch: 1, owners, inTransit: new Set(), members };
  }

  #next(owners: readonly string[], members = this.#division.members): void {
    const inTransit = new Set(this.#transit.keys());
    this.#division = { epoch: this.#division.epoch + 1, owners, inTransit, members };
  }
}
