/**
 * Says who owns which bucket: computed by everyone alike, handed out by a coordinator, or adjusted.
 *
 * `assignStatic` needs no memory: who knows the processes knows the owners. It is weighted
 * rendezvous hashing (Thaler and Ravishankar 1998; weights as in Schindelhauer and Schomaker 2005): each pair of
 * bucket and process has a score that nothing else changes, and a bucket wants the process with its highest.
 * Chance alone would leave loads uneven, so each process has a capacity, as in consistent hashing with bounded
 * loads (Mirrokni, Thorup and Zadimoghaddam 2018), and keeps the buckets that score highest with it. Both
 * sides rank by the same scores, so exactly one stable matching exists, whatever the order of asking.
 *
 * `reassign` knows what was before, and moves no bucket that need not move.
 *
 * Promises, each held by a test: every bucket has an owner; with `assignStatic` no process has more
 * than its share by weight, rounded up, or 3 % more, and a process that joins or leaves moves little beyond its own
 * share; after `reassign` nobody has one bucket above or below their share, and nothing moves in vain.
 *
 * O(buckets × processes) to assign.
 */

import { assert } from "../base/assert.ts";
import { Heap } from "../base/heap.ts";
import { fractionOf } from "./hash.ts";
import type { Partition } from "./partition.ts";

export interface Worker {
  readonly name: string;
  readonly weight: number;
}

/** owners[bucket] = name of the process, or "" while nobody has it. */
export interface Assignment {
  readonly epoch: number;
  readonly owners: readonly string[];
}

export interface Move {
  readonly bucket: number;
  readonly from: string;
  readonly to: string;
}

/** How far above its share a process may be: less would move more buckets when processes change. */
const SLACK = 0.03;

export function assignStatic(bucketCount: number, workers: readonly Worker[]): readonly string[] {
  checkWorkers(workers);
  const owners = Array.from({ length: bucketCount }, () => "");
  if (workers.length === 0) return owners;
  const shares = sharesOf(bucketCount, workers);
  const seats = workers.map((worker, index) => ({
    worker,
    capacity: capacityOf(shares[index] as number),
    held: new Heap<Suit>((a, b) => a.score - b.score),
  }));
  const asking = owners.map((_, bucket) => bucket);
  const refusedBelow = owners.map(() => Infinity);
  for (let bucket = asking.pop(); bucket !== undefined; bucket = asking.pop()) {
    const ceiling = refusedBelow[bucket] as number;
    let best: { readonly seat: (typeof seats)[number]; readonly score: number } | undefined;
    for (const seat of seats) {
      const score = scoreOf(bucket, seat.worker);
      if (score < ceiling && (best === undefined || score > best.score)) best = { seat, score };
    }
    assert(best !== undefined, "the capacities have room for all buckets");
    const { seat, score } = best;
    refusedBelow[bucket] = score;
    seat.held.push({ bucket, score });
    const refused = seat.held.size > seat.capacity ? seat.held.pop() : undefined;
    if (refused !== undefined) asking.push(refused.bucket);
  }
  for (const { worker, held } of seats)
    for (let suit = held.pop(); suit !== undefined; suit = held.pop())
      owners[suit.bucket] = worker.name;
  return owners;
}

/**
 * The same for a partition with groups: one named like a process belongs to it, and the others are dealt to
 * those that have none yet.
 */
export function assignGroups(
  { bucketCount, groups }: Pick<Partition, "bucketCount" | "groups">,
  workers: readonly Worker[],
): readonly string[] {
  const owners = [...assignStatic(bucketCount, workers)];
  const isNamed = (name: string): boolean => groups.includes(name);
  const open = workers.filter(({ name }) => !isNamed(name));
  const unnamed = groups.filter((group) => workers.every(({ name }) => name !== group));
  const dealt = assignStatic(unnamed.length, open.length > 0 ? open : workers);
  for (const [bucket, group] of groups.entries()) {
    const place = unnamed.indexOf(group);
    owners[bucket] = place < 0 ? group : (dealt[place] as string);
  }
  return owners;
}

/**
 * Fits an assignment to other processes: those that are gone lose all, those that have too much lose the
 * rest, those that have too little get it, in the order of the same scores.
 *
 * The first buckets may be groups, which count for nothing here since each may hold any amount: one stays with its
 * owner until the process of its name comes, or the owner goes.
 */
export function reassign(
  owners: readonly string[],
  workers: readonly Worker[],
  groups: readonly string[] = [],
): readonly string[] {
  checkWorkers(workers);
  if (workers.length === 0) return owners.map(() => "");
  const after = [...owners];
  const held = new Map<string, number[]>(workers.map(({ name }) => [name, []]));
  const free: number[] = [];
  for (const [bucket, owner] of owners.entries())
    if (bucket < groups.length) after[bucket] = ownerOfGroup(bucket, groups, owner, workers);
    else (held.get(owner) ?? free).push(bucket);
  const counts = workers.map(({ name }) => (held.get(name) as number[]).length);
  const quotas = quotasOf(owners.length - groups.length, workers, counts);
  const short = workers.map((worker, index) => {
    const quota = quotas[index] as number;
    const own = held.get(worker.name) as number[];
    const best = own.toSorted((a, b) => scoreOf(b, worker) - scoreOf(a, worker));
    free.push(...best.slice(quota));
    return Math.max(0, quota - own.length);
  });
  for (const bucket of free) {
    const taker = bestOf(bucket, workers, (index) => (short[index] as number) > 0);
    short[taker] = (short[taker] as number) - 1;
    after[bucket] = (workers[taker] as Worker).name;
  }
  return after;
}

/**
 * What a coordinator gives to a process that has run dry: buckets that nobody has, those first in which most waits.
 *
 * When all are taken it takes some back from whoever has most: fullest first, as long as they make up at
 * most half of what waits there, and never all. So the one who loses keeps at least as much as the other gets,
 * and two processes cannot pass the same bucket to and fro. Nothing is taken where one bucket is all there is:
 * dividing it needs more buckets, not another owner.
 */
export function nextBuckets(
  assignment: Assignment,
  dry: string,
  grain: number,
  waitingIn: (bucket: number) => number = () => 1,
): readonly number[] {
  assert(grain > 0, "something is handed out");
  const { owners } = assignment;
  const fullest = (buckets: readonly number[]): number[] =>
    buckets
      .filter((bucket) => waitingIn(bucket) > 0)
      .toSorted((a, b) => waitingIn(b) - waitingIn(a) || a - b);
  const held = Map.groupBy(owners.keys(), (bucket) => owners[bucket] as string);
  const free = held.get("") ?? [];
  if (free.length > 0) {
    const wanted = fullest(free);
    // Where nothing is known to wait something may yet be found, and then it has an owner.
    return (wanted.length > 0 ? wanted : free).slice(0, grain);
  }
  let richest: readonly number[] = [];
  let waitingMost = 0;
  for (const [owner, buckets] of held) {
    if (owner === dry) continue;
    const waiting = buckets.reduce((sum, bucket) => sum + waitingIn(bucket), 0);
    if (waiting > waitingMost) [richest, waitingMost] = [buckets, waiting];
  }
  let left = waitingMost / 2;
  const taken = fullest(richest).filter((bucket) => {
    const fits = waitingIn(bucket) <= left;
    if (fits) left -= waitingIn(bucket);
    return fits;
  });
  return taken.slice(0, grain);
}

export function movedBuckets(before: Assignment, after: Assignment): readonly Move[] {
  assert(before.owners.length === after.owners.length, "buckets never change in number");
  return after.owners.flatMap((to, bucket) => {
    const from = before.owners[bucket] as string;
    return from === to ? [] : [{ bucket, from, to }];
  });
}

interface Suit {
  readonly bucket: number;
  readonly score: number;
}

function checkWorkers(workers: readonly Worker[]): void {
  for (const { name, weight } of workers) {
    assert(name !== "", "a process has a name");
    assert(weight > 0 && Number.isFinite(weight), "a process has weight");
  }
  assert(new Set(workers.map(({ name }) => name)).size === workers.length, "names differ");
}

/** Larger for heavier processes, so that each wins in proportion to its weight. */
function scoreOf(bucket: number, { name, weight }: Worker): number {
  return -weight / Math.log(fractionOf(`${bucket} ${name}`));
}

/** Where shares are small a bucket more would be much, so there everybody gets what they are due. */
function capacityOf(share: number): number {
  return Math.max(Math.ceil(share), Math.floor(share * (1 + SLACK)));
}

/**
 * Whole numbers beside the shares that add up to all: where rounding leaves a choice, those get one more who
 * have it already, then those with the largest remainder.
 */
function quotasOf(
  bucketCount: number,
  workers: readonly Worker[],
  counts: readonly number[],
): number[] {
  const shares = sharesOf(bucketCount, workers);
  const quotas = shares.map(Math.floor);
  const left = bucketCount - quotas.reduce((sum, quota) => sum + quota, 0);
  const hasMore = (index: number): number =>
    Number((counts[index] as number) > (quotas[index] as number));
  const remainder = (index: number): number =>
    (shares[index] as number) - (quotas[index] as number);
  const byClaim = [...workers.keys()].toSorted(
    (a, b) => hasMore(b) - hasMore(a) || remainder(b) - remainder(a) || a - b,
  );
  for (const index of byClaim.slice(0, left)) quotas[index] = (quotas[index] as number) + 1;
  return quotas;
}

function ownerOfGroup(
  bucket: number,
  groups: readonly string[],
  owner: string,
  workers: readonly Worker[],
): string {
  const isThere = (wanted: string): boolean => workers.some(({ name }) => name === wanted);
  if (isThere(groups[bucket] as string)) return groups[bucket] as string;
  return isThere(owner) ? owner : (workers[bestOf(bucket, workers, () => true)] as Worker).name;
}

function bestOf(
  bucket: number,
  workers: readonly Worker[],
  isOpen: (index: number) => boolean,
): number {
  let best: number | undefined;
  let bestScore = -Infinity;
  for (const [index, worker] of workers.entries()) {
    const score = isOpen(index) ? scoreOf(bucket, worker) : -Infinity;
    if (score > bestScore) [best, bestScore] = [index, score];
  }
  assert(best !== undefined, "somebody can take it");
  return best;
}

function sharesOf(bucketCount: number, workers: readonly Worker[]): number[] {
  const weightAll = workers.reduce((sum, { weight }) => sum + weight, 0);
  return workers.map(({ weight }) => (bucketCount * weight) / weightAll);
}
