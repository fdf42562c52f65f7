/**
 * Assigns the web's buckets to processes: all at once by a function, or dynamically to a process without work; and again
 * when processes come and go.
 *
 * A bucket that changes hands is in transit until every former owner has reported that all it knew of it has arrived. A
 * bucket of a lost process is free at once, and the division lists it as lost: processes that sent URLs there send them
 * again.
 *
 * The division contains all state, so that a later coordinator can continue with it.
 */

import type { Division, Handing, Loss } from "../crawl/ownership.ts";
import type { Waiting } from "../crawl/peers/peer.ts";
import {
  assignGroups,
  nextBuckets,
  reassign,
  type WeightedProcess,
} from "../partition/assignment.ts";
import type { Coordination } from "../partition/mode.ts";
import type { Partition } from "../partition/partition.ts";
import { joinedTotals } from "../store/joined/joined-totals.ts";
import type { Totals } from "../store/store.ts";

interface OwnershipRules {
  readonly coordination: Coordination;
  readonly partition: Partition;
  /** The most buckets that a process without work gets at once. */
  readonly grain: number;
  /** Buckets of the seeds, where work is known to wait. */
  readonly seeded: readonly number[];
}

/** Older losses are merged under a later epoch; then some URLs are sent once more than needed. */
const LOSSES_MAX = 8;

/** Processes that left, by name; the totals of earlier ones are summed under `EARLIER`. */
const LEFT_MAX = 16;
const EARLIER = "";

/** No bucket has an owner. */
export function emptyDivision({ bucketCount }: Pick<Partition, "bucketCount">): Division {
  const owners = Array.from({ length: bucketCount }, () => "");
  return {
    epoch: 0,
    owners,
    inTransit: new Map(),
    losses: [],
    formerly: new Map(),
    members: new Set(),
    left: new Map(),
  };
}

export class Ownership {
  readonly #rules: OwnershipRules;
  #division: Division;

  /** Continues with an earlier division if there is one. */
  constructor(
    rules: OwnershipRules,
    workers: readonly WeightedProcess[],
    kept: Division | undefined,
  ) {
    this.#rules = rules;
    this.#division = kept ?? this.#first(workers);
  }

  get division(): Division {
    return this.#division;
  }

  /**
   * Gives a process without work a part: what has no owner yet, else some of the process with the most URLs.
   * `waiting` is the number of URLs by bucket, as all processes reported it. Returns what was given, with its URLs.
   */
  handOut(dry: string, waiting: ReadonlyMap<number, number>): readonly Waiting[] {
    const { coordination, grain, seeded } = this.#rules;
    if (coordination !== "dynamic") return [];
    const { owners, inTransit, members } = this.#division;
    const isSeeded = new Set(seeded);
    const isAwaiting = this.#isAwaiting(dry);
    const waitingIn = (bucket: number): number => {
      const isFree = owners[bucket] === "";
      // A part in transit is not moved again. One without an owner may always be given: messages wait for an owner.
      if (!isFree && (isAwaiting || inTransit.has(bucket))) return 0;
      return waiting.get(bucket) ?? (isFree && isSeeded.has(bucket) ? 1 : 0);
    };
    const processes = Math.max(1, members.size);
    const given = nextBuckets({ owners, idle: dry, processes, grain, waitingIn });
    if (given.length === 0) return [];
    const taken = new Set(given);
    this.#handOver(owners.map((owner, bucket) => (taken.has(bucket) ? dry : owner)));
    return given.map((bucket) => [bucket, waitingIn(bucket)]);
  }

  /** Whether a part of its own is still in transit to it. */
  #isAwaiting(name: string): boolean {
    const { owners, inTransit } = this.#division;
    return inTransit.keys().some((bucket) => owners[bucket] === name);
  }

  /**
   * Fits the division to the present processes. `lost` ones died without handing anything over; members that are not
   * among the workers are leaving; `veterans` took part in divisions unknown here, so they may know URLs of every
   * bucket.
   */
  refit(
    workers: readonly WeightedProcess[],
    lost: ReadonlySet<string>,
    members: ReadonlySet<string> = new Set(workers.map(({ name }) => name)),
    veterans: readonly string[] = [],
  ): void {
    const { owners, losses } = this.#division;
    const epoch = this.#division.epoch + 1;
    const isLost = (name: string): boolean => lost.has(name);
    const orphaned = new Set<number>();
    for (const [bucket, from] of owners.entries()) {
      const before = this.#division.inTransit.get(bucket) ?? [];
      if (isLost(from) || before.some((one) => isLost(one.from))) orphaned.add(bucket);
    }
    for (const name of lost)
      for (const bucket of this.#division.formerly.get(name) ?? []) orphaned.add(bucket);
    const all = orphaned.size === 0 ? losses : [...losses, { epoch, buckets: orphaned }];
    const left = new Map([...this.#division.left].filter(([name]) => !members.has(name)));
    const rest = { losses: withinBounds(all), members, left };
    this.#handOver(this.#ownersFor(workers), rest, veterans);
  }

  /** The next division; buckets that change hands are in transit until their former owner has handed them over. */
  #handOver(
    after: readonly string[],
    rest: Partial<Division> = {},
    veterans: readonly string[] = [],
  ): void {
    const { owners } = this.#division;
    const { members = this.#division.members } = rest;
    const epoch = this.#division.epoch + 1;
    const formerly = new Map([...this.#division.formerly].filter(([name]) => members.has(name)));
    const inTransit = new Map<number, readonly Handing[]>();
    for (const [bucket, from] of owners.entries()) {
      const before = this.#division.inTransit.get(bucket) ?? [];
      const handing = before.filter((one) => members.has(one.from));
      if (from !== "" && from !== after[bucket] && members.has(from)) {
        const earlier = handing.findIndex((one) => one.from === from);
        if (earlier >= 0) handing.splice(earlier, 1);
        handing.push({ from, epoch });
        formerly.set(from, new Set(formerly.get(from)).add(bucket));
      }
      for (const name of veterans) handing.push({ from: name, epoch });
      if (handing.length > 0) inTransit.set(bucket, handing);
    }
    for (const name of veterans) formerly.set(name, new Set(owners.keys()));
    this.#next({ owners: after, inTransit, formerly, ...rest });
  }

  /** Keeps the totals of a leaving process; they are part of the next division. */
  remember(name: string, totals: Totals): void {
    const left = new Map(this.#division.left).set(name, totals);
    const first = left.keys().find((one) => one !== EARLIER);
    if (left.size > LEFT_MAX && first !== undefined) {
      const before = [first, EARLIER].flatMap((one) => left.get(one) ?? []);
      left.delete(first);
      left.set(EARLIER, joinedTotals(before));
    }
    this.#division = { ...this.#division, left };
  }

  /** Publishes the same division under a new epoch. */
  renumber(): void {
    this.#next({});
  }

  /** Makes the next epoch higher than this one, which some process knows and this coordinator does not. */
  skipTo(epoch: number): void {
    const { losses } = this.#division;
    // A process with a higher epoch has not seen any of these losses.
    const told = losses.map(({ buckets }) => ({ epoch: epoch + 1, buckets }));
    this.#division = { ...this.#division, epoch };
    this.#next({ losses: told });
  }

  /** A process reports that the parts it lost have arrived. Returns whether that changed anything. */
  handedOver(from: string, epoch: number): boolean {
    const inTransit = new Map<number, readonly Handing[]>();
    let hasChanged = false;
    for (const [bucket, all] of this.#division.inTransit) {
      const left = all.filter((one) => one.from !== from || one.epoch > epoch);
      if (left.length > 0) inTransit.set(bucket, left);
      if (left.length < all.length) hasChanged = true;
    }
    if (hasChanged) this.#next({ inTransit });
    return hasChanged;
  }

  /** Whether some of its former buckets have not arrived yet. */
  isHandingOver(name: string): boolean {
    const { inTransit } = this.#division;
    return inTransit.values().some((all) => all.some(({ from }) => from === name));
  }

  #ownersFor(workers: readonly WeightedProcess[]): readonly string[] {
    const { coordination, partition } = this.#rules;
    const { owners } = this.#division;
    if (coordination === "dynamic") {
      const names = new Set(workers.map(({ name }) => name));
      return owners.map((owner) => (names.has(owner) ? owner : ""));
    }
    const isFirst = owners.every((owner) => owner === "");
    return isFirst ? assignGroups(partition, workers) : reassign(owners, workers, partition.groups);
  }

  #first(workers: readonly WeightedProcess[]): Division {
    const { coordination, partition } = this.#rules;
    const members = new Set(workers.map(({ name }) => name));
    const empty = emptyDivision(partition);
    const owners = coordination === "static" ? assignGroups(partition, workers) : empty.owners;
    return { ...empty, epoch: 1, owners, members };
  }

  #next(change: Partial<Omit<Division, "epoch">>): void {
    this.#division = { ...this.#division, ...change, epoch: this.#division.epoch + 1 };
  }
}

function withinBounds(losses: readonly Loss[]): readonly Loss[] {
  const [first, second, ...rest] = losses;
  if (losses.length <= LOSSES_MAX || first === undefined || second === undefined) return losses;
  const together = first.buckets.union(second.buckets);
  return [{ epoch: second.epoch, buckets: together }, ...rest];
}
