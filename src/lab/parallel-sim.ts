/**
 * Simulates many processes over a link graph: owners of pages, seeds, and the two modes without communication
 * (firewall and cross-over).
 *
 * Owners are computed by the production code (`partition/`). Downloads take no time and never fail; the processes
 * take turns, one page each, because the paper's figures are counts and not times. 64 processes over a million
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
  /** The number of the process that owns each page. */
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

/** Draws up to `each` of its own pages as seeds for each process. */
export function drawSeedsEach(
  random: Random,
  { procs, owners }: Division,
  each: number,
): number[][] {
  const own = Map.groupBy(owners.keys(), (page) => owners[page] as number);
  return Array.from({ length: procs }, (_, proc) => drawFrom(random, own.get(proc) ?? [], each));
}

/** Draws `all` seeds in total and gives each to its owner; the pages drawn do not depend on the partition. */
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

/** Firewall mode: follows only links within a process's part. Returns the number of pages reached. */
export function crawlFirewalled(
  { pageCount, offsets, targets }: GraphWeb,
  { owners }: Division,
  seeds: readonly (readonly number[])[],
): number {
  const seen = new Uint8Array(pageCount);
  const waiting: number[] = [];
  let pages = 0;
  const discover = (page: number): void => {
    if (seen[page] === 1) return;
    seen[page] = 1;
    pages += 1;
    waiting.push(page);
  };
  for (const own of seeds) for (const page of own) discover(page);
  for (let page = waiting.pop(); page !== undefined; page = waiting.pop()) {
    const end = offsets[page + 1] as number;
    for (let link = offsets[page] as number; link < end; link++) {
      const target = targets[link] as number;
      if (owners[target] === owners[page]) discover(target);
    }
  }
  return pages;
}

export interface CrossedPoint {
  readonly coverage: number;
  readonly overlap: number;
}

interface CrossOverWatch {
  /** Interval between two measurements, as a share of the web. */
  readonly every: number;
  /** The crawl ends at this overlap. */
  readonly overlapMax: number;
}

/**
 * Cross-over mode: a process without own pages left fetches pages of other processes, one at a time, until one
 * of them links to an own page.
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
  const foreign = known.map(() => new PageQueue());
  const discover = (proc: number, page: number): void => {
    const seen = known[proc] as Uint8Array;
    if (seen[page] === 1) return;
    seen[page] = 1;
    ((owners[page] === proc ? own : foreign)[proc] as PageQueue).push(page);
  };
  for (const [proc, pages] of seeds.entries()) for (const page of pages) discover(proc, page);

  const got = new Uint8Array(pageCount);
  const points: CrossedPoint[] = [];
  let downloads = 0;
  let unique = 0;
  const measure = (): boolean => {
    const point = {
      coverage: coverage(unique, pageCount),
      overlap: overlap(downloads, unique),
    };
    if (point.coverage >= points.length * every) points.push(point);
    return point.overlap < overlapMax;
  };
  for (let isBusy = true; isBusy && measure();) {
    isBusy = false;
    for (let proc = 0; proc < procs; proc++) {
      const page = own[proc]?.shift() ?? foreign[proc]?.shift();
      if (page === undefined) continue;
      isBusy = true;
      downloads += 1;
      if (got[page] === 0) unique += 1;
      got[page] = 1;
      const end = offsets[page + 1] as number;
      for (let link = offsets[page] as number; link < end; link++)
        discover(proc, targets[link] as number);
    }
  }
  return points;
}
