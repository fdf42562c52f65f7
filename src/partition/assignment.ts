/**
 * Assigns buckets to processes: computed alike by each process, handed out by a coordinator, or adjusted.
 *
 * `assignStatic` needs no memory: the list of processes determines the owners. It is weighted
 * rendezvous hashing (Thaler and Ravishankar 1998; weights as in Schindelhauer and Schomaker 2005): each pair of
 * bucket and process has a fixed score, and a bucket prefers the process with its highest. Hashing
 * alone would leave loads uneven, so each process has a capacity, as in consistent hashing with bounded loads
 * (Mirrokni, Thorup and Zadimoghaddam 2018), and keeps the buckets that score highest with it. Both sides
 * rank by the same scores, so there is exactly one stable matching, in any order of processing.
 *
 * `reassign` starts from the previous owners, and moves no bucket needlessly.
 *
 * Promises, each held by a test: every bucket has an owner; with `assignStatic` no process has more
 * than its share by weight, rounded up, or 3 % more, and a process that joins or leaves moves hardly more than its own
 * share; after `reassign` each process is within one bucket of its share.
 *
 * O(buckets × processes) to assign.
 */

import { assert } from "../base/assert.ts";
import { Heap } from "../base/heap.ts";
import { fractionOf } from "./hash.ts";
import type { Partition } from "./partition.ts";

export interface WeightedProcess {
  readonly name: string;
  readonly weight: number;
}

/** Share by which a process may exceed its own: less would move more buckets when processes change. */
const SLACK = 0.03;

export function assignStatic(
  bucketCount: number,
  workers: readonly WeightedProcess[],
): readonly string[] {
  checkProcesses(workers);
  const owners = Array.from({ length: bucketCount }, () => "");
  if (workers.length === 0) return owners;
  const shares = sharesOf(bucketCount, workers);
  const seats = workers.map((worker, index) => ({
    worker,
    capacity: capacityOf(shares[index] as number),
    held: new Heap<Scored>((a, b) => a.score - b.score),
  }));
  const unplaced = owners.map((_, bucket) => bucket);
  const triedScore = owners.map(() => Infinity);
  for (let bucket = unplaced.pop(); bucket !== undefined; bucket = unplaced.pop()) {
    const ceiling = triedScore[bucket] as number;
    let best: { readonly seat: (typeof seats)[number]; readonly score: number } | undefined;
    for (const seat of seats) {
      const score = scoreOf(bucket, seat.worker);
      if (score < ceiling && (best === undefined || score > best.score)) best = { seat, score };
    }
    assert(best !== undefined, "the capacities have room for all buckets");
    const { seat, score } = best;
    triedScore[bucket] = score;
    seat.held.push({ bucket, score });
    const refused = seat.held.size > seat.capacity ? seat.held.pop() : undefined;
    if (refused !== undefined) unplaced.push(refused.bucket);
  }
  for (const { worker, held } of seats)
    for (let kept = held.pop(); kept !== undefined; kept = held.pop())
      owners[kept.bucket] = worker.name;
  return owners;
}

/**
 * As `assignStatic` for a partition with groups: a group with the name of a process belongs to it, and the others
 * are divided among the processes without one.
 */
export function assignGroups(
  { bucketCount, groups }: Pick<Partition, "bucketCount" | "groups">,
  workers: readonly WeightedProcess[],
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
 * Adapts an assignment to a new list of processes: a process that left loses all buckets, one above its share
 * loses the excess, one below its share gains, in the order of the same scores.
 *
 * The first buckets may be groups, which are not counted because each may hold any number of URLs: a group keeps its
 * owner until the process of its name joins, or the owner leaves.
 */
export function reassign(
  owners: readonly string[],
  workers: readonly WeightedProcess[],
  groups: readonly string[] = [],
): readonly string[] {
  checkProcesses(workers);
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
    after[bucket] = (workers[taker] as WeightedProcess).name;
  }
  return after;
}

/** What a coordinator knows when it gives buckets to an idle process. */
interface HandOut {
  /** owners[bucket] = name of the process, or "" without an owner. */
  readonly owners: readonly string[];
  readonly idle: string;
  /** Number of processes, including the idle one. */
  readonly processes: number;
  /** At most this many buckets. */
  readonly grain: number;
  readonly waitingIn: (bucket: number) => number;
}

/**
 * The buckets that a coordinator gives to an idle process: those without an owner for which URLs wait, the fullest
 * first. A process that had none gets its share of all buckets for which URLs wait. Later parts are half a share of
 * what is left, as in factoring (Hummel, Schonberg and Flynn 1992): so the last ones go to the processes that need them.
 *
 * When all that wait have owners some are taken from the process with the most URLs: fullest first, at most half of
 * its URLs and not more than needed for one process's share of all. So the previous owner keeps at least as many as
 * the new one gets, and two processes cannot pass the same bucket back and forth. An owner's only bucket is not
 * taken: its URLs can be divided only with more buckets.
 */
export function nextBuckets({
  owners,
  idle,
  processes,
  grain,
  waitingIn,
}: HandOut): readonly number[] {
  assert(grain > 0, "at least one bucket may be handed out");
  const full = [...owners.keys()]
    .filter((bucket) => waitingIn(bucket) > 0)
    .toSorted((a, b) => waitingIn(b) - waitingIn(a) || a - b);
  const held = Map.groupBy(full, (bucket) => owners[bucket] as string);
  const free = held.get("") ?? [];
  if (free.length > 0) {
    const share = owners.includes(idle) ? free.length / (2 * processes) : full.length / processes;
    // Rounded up, the last process would get what is left of its share.
    return free.slice(0, Math.min(grain, Math.max(1, Math.floor(share))));
  }
  const sumOf = (buckets: readonly number[]): number =>
    buckets.reduce((sum, bucket) => sum + waitingIn(bucket), 0);
  held.delete(idle);
  const longest = [...held.values()].reduce((a, b) => (sumOf(b) > sumOf(a) ? b : a), []);
  const shareEach = sumOf(full) / processes;
  let left = sumOf(longest) / 2;
  const taken: number[] = [];
  for (const bucket of longest) {
    if (taken.length === grain || sumOf(taken) >= shareEach) break;
    if (waitingIn(bucket) > left) continue;
    left -= waitingIn(bucket);
    taken.push(bucket);
  }
  return taken;
}

/** A bucket and its score with one process. */
interface Scored {
  readonly bucket: number;
  readonly score: number;
}

function checkProcesses(workers: readonly WeightedProcess[]): void {
  for (const { name, weight } of workers) {
    assert(name !== "", "a process has a name");
    assert(weight > 0 && Number.isFinite(weight), "a process has weight");
  }
  assert(new Set(workers.map(({ name }) => name)).size === workers.length, "names differ");
}

/** Larger for heavier processes, so that each wins in proportion to its weight. */
function scoreOf(bucket: number, { name, weight }: WeightedProcess): number {
  return -weight / Math.log(fractionOf(`${bucket} ${name}`));
}

/** Rounds small shares up to a whole bucket, and gives large ones `SLACK` above their share. */
function capacityOf(share: number): number {
  return Math.max(Math.ceil(share), Math.floor(share * (1 + SLACK)));
}

/**
 * The shares as whole numbers with the same sum: where rounding leaves a choice, one more goes first to processes
 * that hold more already, then to the largest remainders.
 */
function quotasOf(
  bucketCount: number,
  workers: readonly WeightedProcess[],
  counts: readonly number[],
): number[] {
  const shares = sharesOf(bucketCount, workers);
  const quotas = shares.map(Math.floor);
  const left = bucketCount - quotas.reduce((sum, quota) => sum + quota, 0);
  const hasMore = (index: number): number =>
    Number((counts[index] as number) > (quotas[index] as number));
  const remainder = (index: number): number =>
    (shares[index] as number) - (quotas[index] as number);
  const byPriority = [...workers.keys()].toSorted(
    (a, b) => hasMore(b) - hasMore(a) || remainder(b) - remainder(a) || a - b,
  );
  for (const index of byPriority.slice(0, left)) quotas[index] = (quotas[index] as number) + 1;
  return quotas;
}

function ownerOfGroup(
  bucket: number,
  groups: readonly string[],
  owner: string,
  workers: readonly WeightedProcess[],
): string {
  const isPresent = (wanted: string): boolean => workers.some(({ name }) => name === wanted);
  if (isPresent(groups[bucket] as string)) return groups[bucket] as string;
  return isPresent(owner)
    ? owner
    : (workers[bestOf(bucket, workers, () => true)] as WeightedProcess).name;
}

function bestOf(
  bucket: number,
  workers: readonly WeightedProcess[],
  isOpen: (index: number) => boolean,
): number {
  let best: number | undefined;
  let bestScore = -Infinity;
  for (const [index, worker] of workers.entries()) {
    const score = isOpen(index) ? scoreOf(bucket, worker) : -Infinity;
    if (score > bestScore) [best, bestScore] = [index, score];
  }
  assert(best !== undefined, "one process is open");
  return best;
}

function sharesOf(bucketCount: number, workers: readonly WeightedProcess[]): number[] {
  const weightAll = workers.reduce((sum, { weight }) => sum + weight, 0);
  return workers.map(({ weight }) => (bucketCount * weight) / weightAll);
}
