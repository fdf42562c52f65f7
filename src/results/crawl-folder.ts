/**
 * Reads the state of a crawl from its folder, in another process.
 *
 * A running crawl rewrites `status.json` every second; this file, a living process and a recent
 * date together show that it runs. Otherwise the store is read, without changing it.
 */

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Books } from "../bandwidth/history/ledger.ts";
import { pendingOf, processesAtRest } from "./processes.ts";
import { NO_NEWS } from "../store/store.ts";
import type { SiteView, Snapshot } from "../control/snapshot.ts";
import { openReadOnly } from "../store/joined/open-read-only.ts";

/**
 * Greatest age of a status file. The process id may be reused, but no other process rewrites the
 * file.
 */
const STATUS_AGE_MS_MAX = 15_000;
const SITES_MAX = 50;

/** The last status of a running crawl; undefined when none runs. */
export function runningSnapshot(folder: string): Snapshot | undefined {
  const file = join(folder, "status.json");
  try {
    if (Date.now() - statSync(file).mtimeMs > STATUS_AGE_MS_MAX) return undefined;
    const snapshot = JSON.parse(readFileSync(file, "utf8")) as Snapshot;
    const isOver = snapshot.state === "done" || snapshot.state === "stopped";
    return isOver || !isAlive(snapshot.processId) ? undefined : snapshot;
  } catch {
    return undefined;
  }
}

/** The same from the store. */
export async function storedSnapshot(folder: string): Promise<Snapshot> {
  const store = openReadOnly(folder);
  try {
    const { totals } = store;
    const pending = pendingOf(totals);
    const sites = Array.from(store.sites(), (row): SiteView => {
      const { key: site, known, pages, bytes } = row;
      return {
        site,
        known,
        pages,
        bytes,
        pending: row.pending,
        inFlight: 0,
        state: "idle",
        nextInMs: 0,
        round: {
          number: row.round?.number ?? 1,
          news: row.round?.news ?? NO_NEWS,
          nextInMs: undefined,
        },
        priority: 1,
        forecast: undefined,
        deadlineMs: undefined,
        finishedMs: undefined,
      };
    });
    return {
      state: pending === 0 ? "done" : "stopped",
      because: "",
      processId: 0,
      elapsedMs: totals.crawledMs,
      resumed: false,
      totals,
      pending,
      unreachable: 0,
      rateBps: 0,
      pagesPerSecond: 0,
      recentBps: [],
      limitBps: undefined,
      predictedBps: 0,
      waitingReaders: 0,
      ledger: Books.restore(totals).byPurpose(),
      remainingMs: undefined,
      connectionsOpen: 0,
      connectionsMax: 0,
      plan: undefined,
      siteCount: sites.length,
      sites: sites.sort((a, b) => b.pages - a.pages).slice(0, SITES_MAX),
      troubles: [],
      parallel: processesAtRest(folder),
    };
  } finally {
    await store.close();
  }
}

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    // EPERM: the process exists but may not be signalled.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
