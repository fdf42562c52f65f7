/**
 * Many crawling processes over a web that is only a graph: who owns which page, where each begins, and the two
 * modes in which they never talk.
 *
 * Owners come from the production code (`partition/`). A download takes no time and none fails: each process
 * gets a page in turn, since the paper's figures are counts and not times. 64 processes over a million
 * pages take seconds.
 */

import { below, type Random } from "../base/random.ts";
import { assignGroups } from "../partition/assignment.ts";
import { coverage, overlap } from "../partition/metrics.ts";
import {
  BUCKETS_DEFAULT,
  type PartitionKind,
  partitionFor,
  type PartitionRule,
} from "../partition/partition.ts";
import type { GraphWeb } from "./graph-web.ts";
import { PageQueue } from "./page-queue.ts";

export interface Division {
  readonly procs: number;
  readonly names: readonly string[];
  /** By page, the number of the process that owns it. */
  readonly owners: Uint16Array;
}

export function divide(
  web: GraphWeb,
  kind: PartitionKind,
  procs: number,
  rules: readonly PartitionRule[] = [],
): Division {
  const partition = partitionFor(kind, { bucketCount: BUCKETS_DEFAULT, rules });
  const names = Array.from({ length: procs }, (_, proc) => `p${proc}`);
  const ownerNames = assignGroups(
    partition,
    names.map((name) => ({ name, weight: 1 })),
  );
  const numbers = new Map(names.map((name, proc) => [name, proc]));
  const ownerOf = ownerNames.map((name) => numbers.get(name) as number);
  const owners = Uint16Array.from(web.urls, (url) => ownerOf[partition.bucketOf(url)] as number);
  return { procs, names, owners };
}

/** For each process, so many pages of its own to begin with; fewer only where it has fewer. */
export function drawSeedsEach(
  random: Random,
  { procs, owners }: Division,
  each: number,
): number[][] {
  const own = Map.groupBy(owners.keys(), (page) => owners[page] as number);
  return Array.from({ length: procs }, (_, proc) => drawFrom(random, own.get(proc) ?? [], each));
}

/** So many in all, each given to its owner: the same pages however the web is divided. */
export function drawSeedsInAll(
  random: Random,
  { procs, owners }: Division,
  all: number,
): number[][] {
  const drawn = drawFrom(random, [...owners.keys()], all);
  const byOwner = Map.groupBy(drawn, (page) => owners[page] as number);
  return Array.from({ length: procs }, (_, proc) => byOwner.get(proc) ?? []);
}

function drawFrom(random: Random, pages: readonly number[], count: number): number[] {
  const drawn = new Set<number>();
  while (drawn.size < Math.min(count, pages.length))
    drawn.add(pages[below(random, pages.length)] as number);
  return [...drawn];
}

/** Firewall: only links inside a part are followed. Answers how many pages that reaches. */
export function crawlFirewalled(
  { pageCount, offsets, targets }: GraphWeb,
  { owners }: Division,
  seeds: readonly (readonly number[])[],
): number {
  const seen = new Uint8Array(pageCount);
  const waiting: number[] = [];
  let pages = 0;
  const meet = (page: number): void => {
    if (seen[page] === 1) return;
    seen[page] = 1;
    pages += 1;
    waiting.push(page);
  };
  for (const own of seeds) for (const page of own) meet(page);
  for (let page = waiting.pop(); page !== undefined; page = waiting.pop()) {
    const behind = offsets[page + 1] as number;
    for (let link = offsets[page] as number; link < behind; link++) {
      const target = targets[link] as number;
      if (owners[target] === owners[page]) meet(target);
    }
  }
  return pages;
}

export interface CrossedPoint {
  readonly coverage: number;
  readonly overlap: number;
}

export interface CrossOverWatch {
  /** Looks each time so much more of the web has been got, */
  readonly every: number;
  /** until pages have been downloaded in vain so often. */
  readonly overlapMax: number;
}

/**
 * Cross-over: a process with nothing of its own left follows links to others' pages, one page at a time, and
 * comes back as soon as one of them leads home.
 */
export function crawlCrossing(
  web: GraphWeb,
  { procs, owners }: Division,
  seeds: readonly (readonly number[])[],
  { every, overlapMax }: CrossOverWatch,
): CrossedPoint[] {
  const { pageCount, offsets, targets } = web;
  const known = Array.from({ length: procs }, () => new Uint8Array(pageCount));
  const own = known.map(() => new PageQueue());
  const held = known.map(() => new PageQueue());
  const meet = (proc: number, page: number): void => {
    const seen = known[proc] as Uint8Array;
    if (seen[page] === 1) return;
    seen[page] = 1;
    ((owners[page] === proc ? own : held)[proc] as PageQueue).push(page);
  };
  for (const [proc, pages] of seeds.entries()) for (const page of pages) meet(proc, page);

  const got = new Uint8Array(pageCount);
  const points: CrossedPoint[] = [];
  let downloads = 0;
  let different = 0;
  const look = (): boolean => {
    const point = {
      coverage: coverage(different, pageCount),
      overlap: overlap(downloads, different),
    };
    if (point.coverage >= points.length * every) points.push(point);
    return point.overlap < overlapMax;
  };
  for (let isBusy = true; isBusy && look();) {
    isBusy = false;
    for (let proc = 0; proc < procs; proc++) {
      const page = own[proc]?.shift() ?? held[proc]?.shift();
      if (page === undefined) continue;
      isBusy = true;
      downloads += 1;
      if (got[page] === 0) different += 1;
      got[page] = 1;
      const behind = offsets[page + 1] as number;
      for (let link = offsets[page] as number; link < behind; link++)
        meet(proc, targets[link] as number);
    }
  }
  return points;
}
