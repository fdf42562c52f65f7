/**
 * Collects the data of a report from a crawl's store, its rate log and the measured speeds of
 * servers. Works on a running crawl too, without disturbing it.
 *
 * Memory stays bounded on any crawl: reading all sites and servers holds at most twice `SITES_MAX`
 * and `SERVERS_MAX` of them at a time.
 */

import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import {
  bookedIn,
  Books,
  type BytesByPurpose,
  type StoredBooks,
} from "../bandwidth/history/ledger.ts";
import { readSavedSettings, type SavedSetting } from "../config/saved-settings.ts";
import { readRateLog, type RateHistory } from "../control/rate-log.ts";
import { isOpen as isDeadlineOpen } from "../results/deadline-standing.ts";
import { metricsOf, type ParallelMetrics } from "../results/parallel-metrics.ts";
import { pendingOf, processesIn, type ProcessSums } from "../results/processes.ts";
import { mirrorsIn, type NamedMirror } from "../results/mirrors.ts";
import type { Snapshot, TopicsResult, Trouble } from "../control/snapshot.ts";
import { topicFigures } from "../results/topic-figures.ts";
import { serversOf } from "../store/joined/joined-servers.ts";
import type { StoredServer } from "../store/sqlite/server-file.ts";
import { openReadOnly } from "../store/joined/open-read-only.ts";
import type { Totals } from "../store/store.ts";
import { readTeam, storeFolders } from "../store/team-file.ts";

export const SITES_MAX = 100;
const SERVERS_MAX = 30;
const MIRRORS_MAX = 30;

interface ReportSite {
  readonly site: string;
  readonly known: number;
  readonly pending: number;
  readonly pages: number;
  readonly bytes: number;
  readonly ledger: BytesByPurpose;
}

/** Sums of each process, and the metrics of all together. */
interface ReportParallel {
  readonly processes: readonly ProcessSums[];
  readonly metrics: ParallelMetrics;
}

export interface ReportData {
  /** The folder's last part, without its path: a report may be published. */
  readonly name: string;
  readonly madeAtMs: number;
  readonly state: "running" | "stopped" | "done";
  readonly totals: Totals;
  readonly pending: number;
  readonly ledger: BytesByPurpose;
  /** The sites with the most bytes; `siteCount` counts all. */
  readonly sites: readonly ReportSite[];
  readonly siteCount: number;
  readonly rates: RateHistory;
  /** The servers with the most measurements; `serverCount` counts all. */
  readonly servers: readonly StoredServer[];
  readonly serverCount: number;
  readonly troubles: readonly Trouble[];
  /** undefined for a crawl by one process without a reference crawl. */
  readonly parallel: ReportParallel | undefined;
  /** Sites that are mostly copies of others, the most similar first. */
  readonly mirrors: readonly NamedMirror[];
  /** Sites with a deadline, as of the crawl's last status. */
  readonly promises: readonly ReportPromise[];
  /** URLs that each process sent to each process, in the order of the rows. */
  readonly flows: readonly { readonly name: string; readonly sent: readonly number[] }[];
  /** Pages by topic; undefined when the crawl does not classify pages. */
  readonly topics: Pick<TopicsResult, "locality" | "byTopic"> | undefined;
  /** Settings that differ from their default. */
  readonly settings: readonly SavedSetting[];
}

/** Times count from the start of the crawl. */
interface ReportPromise {
  readonly site: string;
  readonly deadlineMs: number;
  /** undefined while the site is not done. */
  readonly finishedMs: number | undefined;
  /** Neither met nor missed: the crawl was stopped before the deadline. */
  readonly isOpen: boolean;
}

interface ReportRequest {
  readonly folder: string;
  /** File with the speeds of servers, when it is outside the folder. */
  readonly speedsFile: string | undefined;
  /** Crawl to compare with. */
  readonly referenceFolder: string | undefined;
  readonly nowMs: number;
  readonly isRunning: boolean;
}

export async function gatherReport(request: ReportRequest): Promise<ReportData> {
  const { folder, nowMs, isRunning } = request;
  // Requests that were open when a crawl stopped will never end, so their bytes are booked now.
  const booksOf = isRunning
    ? bookedIn
    : (stored: StoredBooks): BytesByPurpose => Books.restore(stored).byPurpose();
  const store = openReadOnly(folder);
  try {
    const { totals } = store;
    const pending = pendingOf(totals);
    const sites = highest(store.sites(), SITES_MAX, (site) => site.bytes);
    const servers = highest(serversOf(folder, request.speedsFile), SERVERS_MAX, measurements);
    return {
      name: basename(resolve(folder)),
      madeAtMs: nowMs,
      state: isRunning ? "running" : pending === 0 ? "done" : "stopped",
      totals,
      pending,
      ledger: booksOf(totals),
      sites: sites.kept.map((row) => ({ ...row, site: row.key, ledger: booksOf(row) })),
      siteCount: sites.count,
      rates: readRateLog(folder, nowMs),
      servers: servers.kept,
      serverCount: servers.count,
      mirrors: mirrorsIn(store).slice(0, MIRRORS_MAX),
      parallel: await parallelOf(request, store),
      topics: await topicsIn(folder),
      settings: readSavedSettings(folder),
      ...lastStatus(folder),
    };
  } finally {
    await store.close();
  }
}

async function parallelOf(
  { folder, referenceFolder }: ReportRequest,
  store: ReturnType<typeof openReadOnly>,
): Promise<ReportParallel | undefined> {
  if (readTeam(folder) === undefined && referenceFolder === undefined) return undefined;
  const metrics = await metricsOf({ folder, store, referenceFolder });
  return { processes: processesIn(folder), metrics };
}

async function topicsIn(folder: string): Promise<ReportData["topics"]> {
  const stores = storeFolders(folder).map((part) => openReadOnly(part));
  try {
    const hasTopics = stores.some(
      (store) => store.pageTopics()[Symbol.iterator]().next().done !== true,
    );
    return hasTopics ? topicFigures(stores, "") : undefined;
  } finally {
    for (const store of stores) await store.close();
  }
}

function measurements({ workingCount, holidayCount }: StoredServer): number {
  return workingCount + holidayCount;
}

/** Returns the items with the highest values, highest first, and the count of all items. */
export function highest<T>(
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

/** Reads the figures that only `status.json` has: a crawl writes it while it runs and when it ends. */
function lastStatus(folder: string): Pick<ReportData, "troubles" | "promises" | "flows"> {
  try {
    const text = readFileSync(join(folder, "status.json"), "utf8");
    const last = JSON.parse(text) as Snapshot;
    const { troubles, sites, parallel } = last;
    const promises = sites.flatMap((view) => {
      const { site, deadlineMs, finishedMs } = view;
      const isOpen = isDeadlineOpen(view, last);
      return deadlineMs === undefined ? [] : [{ site, deadlineMs, finishedMs, isOpen }];
    });
    const flows = (parallel?.procs ?? []).map(({ name }, index) => ({
      name,
      sent: parallel?.flows[index] ?? [],
    }));
    return { troubles, promises: promises.sort((a, b) => a.deadlineMs - b.deadlineMs), flows };
  } catch {
    return { troubles: [], promises: [], flows: [] };
  }
}
