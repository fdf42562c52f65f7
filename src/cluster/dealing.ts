/**
 * Deals the web to processes: all at once by a function, or piece by piece to a process without work; and
 * again when processes come and go.
 *
 * A part that changes hands is in transit until everybody who had it has said that everything they knew
 * of it has arrived. One whose owner is lost is free at once, and the division says that it was lost: whoever sent
 * something there sends it again.
 *
 * Everything is in the division itself, so that a later coordinator can go on with it.
 */

import type { Division, Handing, Loss } from "../crawl/ownership.ts";
import type { Waiting } from "../crawl/peers/peer.ts";
import { assignGroups, nextBuckets, reassign, type Worker } from "../partition/assignment.ts";
import type { Coordination } from "../partition/mode.ts";
import type { Partition } from "../partition/partition.ts";
import { joinedTotals } from "../store/joined/joined-totals.ts";
import type { Totals } from "../store/store.ts";

export interface DealingRules {
  readonly coordination: Exclude<Coordination, "independent">;
  readonly partition: Partition;
  /** The most buckets that a process without work gets at once. */
  readonly grain: number;
  /** Buckets of the starting addresses: work is known to wait there. */
  readonly seeded: readonly number[];
}

/** Older losses are told as if they had been later: somebody sends something once more, in vain. */
const LOSSES_MAX = 8;

/** Of those who left, so many are known by name; the others are summed up under this one. */
const LEFT_MAX = 16;
const EARLIER = "";

/** Before anybody has said what is whose, nothing is anybody's. */
export function nobodysDivision({ bucketCount }: Pick<Partition, "bucketCount">): Division {
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

export class Dealing {
  readonly #rules: DealingRules;
  #division: Division;

  /** Goes on with an earlier division where there is one. */
  constructor(rules: DealingRules, workers: readonly Worker[], kept: Division | undefined) {
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
      // What is under way is not moved again. Parts without an owner may always go: letters wait for them.
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

  /** Whether something of its own is still on its way to it. */
  #isAwaiting(name: string): boolean {
    const { owners, inTransit } = this.#division;
    return inTransit.keys().some((bucket) => owners[bucket] === name);
  }

  /**
   * Fits the division to who is there now. `lost` are gone without having handed anything over; members that
   * are not among the workers are on their way out; `veterans` took part before anybody here knew of it, so
   * they may have something of every bucket.
   */
  refit(
    workers: readonly Worker[],
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

  /** The next division, with what changes hands in transit until its former owner has handed it over. */
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

  /** Somebody is about to leave, who has done this; told with the next division. */
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

  /** The same division once more, by a number of its own. */
  renumber(): void {
    this.#next({});
  }

  /** The next division has a higher number than this: somebody knows of one that we do not. */
  skipTo(epoch: number): void {
    const { losses } = this.#division;
    // Whoever counts further has not heard of any of these, whatever its numbers say.
    const told = losses.map(({ buckets }) => ({ epoch: epoch + 1, buckets }));
    this.#division = { ...this.#division, epoch };
    this.#next({ losses: told });
  }

  /** A process says that what it lost has arrived. Answers whether that changed anything. */
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

  /** Whether something of what it had has not arrived yet. */
  isHandingOver(name: string): boolean {
    const { inTransit } = this.#division;
    return inTransit.values().some((all) => all.some(({ from }) => from === name));
  }

  #ownersFor(workers: readonly Worker[]): readonly string[] {
    const { coordination, partition } = this.#rules;
    const { owners } = this.#division;
    if (coordination === "dynamic") {
      const names = new Set(workers.map(({ name }) => name));
      return owners.map((owner) => (names.has(owner) ? owner : ""));
    }
    const isFirst = owners.every((owner) => owner === "");
    return isFirst ? assignGroups(partition, workers) : reassign(owners, workers, partition.groups);
  }

  #first(workers: readonly Worker[]): Division {
    const { coordination, partition } = this.#rules;
    const members = new Set(workers.map(({ name }) => name));
    const nobodys = nobodysDivision(partition);
    const owners = coordination === "static" ? assignGroups(partition, workers) : nobodys.owners;
    return { ...nobodys, epoch: 1, owners, members };
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
