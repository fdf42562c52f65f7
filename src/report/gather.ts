/**
 * Collects what a report tells of a crawl: from the store, the rates written down, and the speeds of
 * servers; of a crawl that runs, too, without disturbing it.
 *
 * However large the crawl, only so many sites and servers are kept: the walk over all of them holds
 * no more than twice that number at a time.
 */

import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { bookedIn, Books, type BytesByPurpose, type StoredBooks } from "../bandwidth/ledger.ts";
import { readTold, type ToldSetting } from "../config/told-settings.ts";
import { readChronicle, type RateHistory } from "../crawl/chronicle.ts";
import { metricsOf, type ParallelMetrics } from "../crawl/parallel-metrics.ts";
import { pendingOf, processesIn, type ProcessSums } from "../crawl/processes.ts";
import { mirrorsIn, type NamedMirror } from "../crawl/mirrors-in.ts";
import type { Snapshot, TopicsResult, Trouble } from "../crawl/snapshot.ts";
import { topicFigures } from "../crawl/topic-figures.ts";
import { serversOf } from "../store/joined-servers.ts";
import type { StoredServer } from "../store/server-file.ts";
import { openReadOnly } from "../store/store-sqlite.ts";
import type { Totals } from "../store/store.ts";
import { readTeam, storeFolders } from "../store/team-file.ts";

export const SITES_MAX = 100;
export const SERVERS_MAX = 30;
const MIRRORS_MAX = 30;

export interface ReportSite {
  readonly site: string;
  readonly known: number;
  readonly pending: number;
  readonly pages: number;
  readonly bytes: number;
  readonly ledger: BytesByPurpose;
}

/** Several processes, and what they did together. */
export interface ReportParallel {
  readonly processes: readonly ProcessSums[];
  readonly metrics: ParallelMetrics;
}

export interface ReportData {
  /** Of the folder, without the way to it: a report may be sent to others. */
  readonly name: string;
  readonly madeAtMs: number;
  readonly state: "running" | "stopped" | "done";
  readonly totals: Totals;
  readonly pending: number;
  readonly ledger: BytesByPurpose;
  /** Those with the most bytes, and how many there are in all. */
  readonly sites: readonly ReportSite[];
  readonly siteCount: number;
  readonly rates: RateHistory;
  /** Those measured most, and how many there are in all. */
  readonly servers: readonly StoredServer[];
  readonly serverCount: number;
  readonly troubles: readonly Trouble[];
  /** undefined for a crawl by one process that is not compared with another crawl. */
  readonly parallel: ReportParallel | undefined;
  /** Sites that are mostly copies of others, the likest first. */
  readonly mirrors: readonly NamedMirror[];
  /** What was promised, and what came of it, as the crawl last said. */
  readonly promises: readonly ReportPromise[];
  /** Addresses that each process sent to each, in the order of the rows. */
  readonly flows: readonly { readonly name: string; readonly sent: readonly number[] }[];
  /** What pages are about; undefined where nobody asked. */
  readonly topics: Pick<TopicsResult, "locality" | "byTopic"> | undefined;
  /** Those that were not as they are by default. */
  readonly settings: readonly ToldSetting[];
}

/** Times count from the start. */
export interface ReportPromise {
  readonly site: string;
  readonly deadlineMs: number;
  /** undefined while the site is not done. */
  readonly finishedMs: number | undefined;
}

export interface ReportWish {
  readonly folder: string;
  /** Where the speeds of servers are, when they are not kept in the folder. */
  readonly speedsFile: string | undefined;
  /** The crawl to compare it with. */
  readonly referenceFolder: string | undefined;
  readonly nowMs: number;
  readonly isRunning: boolean;
}

export async function gatherReport(wish: ReportWish): Promise<ReportData> {
  const { folder, nowMs, isRunning } = wish;
  // What is open in the books of a crawl that no longer runs will never end.
  const booksOf = isRunning
    ? bookedIn
    : (stored: StoredBooks): BytesByPurpose => Books.restore(stored).byPurpose();
  const store = openReadOnly(folder);
  try {
    const { totals } = store;
    const pending = pendingOf(totals);
    const sites = most(store.sites(), SITES_MAX, (site) => site.bytes);
    const servers = most(serversOf(folder, wish.speedsFile), SERVERS_MAX, measurements);
    return {
      name: basename(resolve(folder)),
      madeAtMs: nowMs,
      state: isRunning ? "running" : pending === 0 ? "done" : "stopped",
      totals,
      pending,
      ledger: booksOf(totals),
      sites: sites.kept.map((row) => ({ ...row, site: row.key, ledger: booksOf(row) })),
      siteCount: sites.count,
      rates: readChronicle(folder, nowMs),
      servers: servers.kept,
      serverCount: servers.count,
      mirrors: mirrorsIn(store).slice(0, MIRRORS_MAX),
      parallel: await parallelOf(wish, store),
      topics: await topicsIn(folder),
      settings: readTold(folder),
      ...lastWords(folder),
    };
  } finally {
    await store.close();
  }
}

async function parallelOf(
  { folder, referenceFolder }: ReportWish,
  store: ReturnType<typeof openReadOnly>,
): Promise<ReportParallel | undefined> {
  if (readTeam(folder) === undefined && referenceFolder === undefined) return undefined;
  const metrics = await metricsOf({ folder, store, referenceFolder });
  return { processes: processesIn(folder), metrics };
}

async function topicsIn(folder: string): Promise<ReportData["topics"]> {
  const stores = storeFolders(folder).map((part) => openReadOnly(part));
  try {
    const isAsked = stores.some(
      (store) => store.pageTopics()[Symbol.iterator]().next().done !== true,
    );
    return isAsked ? topicFigures(stores, "") : undefined;
  } finally {
    for (const store of stores) await store.close();
  }
}

function measurements({ workingCount, holidayCount }: StoredServer): number {
  return workingCount + holidayCount;
}

/** The items with the highest values, the highest first. */
export function most<T>(
  items: Iterable<T>,
  countMax: number,
  valueOf: (item: T) => number,
): { readonly kept: readonly T[]; readonly count: number } {
  const highestFirst = (a: T, b: T): number => valueOf(b) - valueOf(a);
  let kept: T[] = [];
  let count = 0;
  for (const item of items) {
    count += 1;
    kept.push(item);
    if (kept.length >= 2 * countMax) kept = kept.toSorted(highestFirst).slice(0, countMax);
  }
  return { kept: kept.toSorted(highestFirst).slice(0, countMax), count };
}

/** A crawl says these while it runs and as it ends; they are not stored. */
function lastWords(folder: string): Pick<ReportData, "troubles" | "promises" | "flows"> {
  try {
    const text = readFileSync(join(folder, "status.json"), "utf8");
    const { troubles, sites, parallel } = JSON.parse(text) as Snapshot;
    const promises = sites.flatMap(({ site, deadlineMs, finishedMs }) =>
      deadlineMs === undefined ? [] : [{ site, deadlineMs, finishedMs }],
    );
    const flows = (parallel?.procs ?? []).map(({ name }, index) => ({
      name,
      sent: parallel?.flows[index] ?? [],
    }));
    return { troubles, promises: promises.sort((a, b) => a.deadlineMs - b.deadlineMs), flows };
  } catch {
    return { troubles: [], promises: [], flows: [] };
  }
}
