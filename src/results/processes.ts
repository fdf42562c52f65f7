/** The totals of each process of a crawl, to show them side by side. */

import { basename } from "node:path";
import { StoreBrowser } from "../store/joined/browse.ts";
import type { Totals } from "../store/store.ts";
import { readTeam, storeFolders } from "../store/team-file.ts";
import type { ParallelView } from "../control/snapshot.ts";

export interface ProcessSums {
  readonly name: string;
  readonly totals: Totals;
}

/** In order, without processes that have not started. */
export function processesIn(folder: string): ProcessSums[] {
  return storeFolders(folder).map((part) => {
    using browser = new StoreBrowser(part);
    return { name: basename(part), totals: browser.totals };
  });
}

/** Several processes that no longer run; undefined for a crawl by one process. */
export function processesAtRest(folder: string): ParallelView | undefined {
  if (readTeam(folder) === undefined) return undefined;
  const procs = processesIn(folder).map(({ name, totals }) => {
    const pending = pendingOf(totals);
    const state = pending === 0 ? "done" : "stopped";
    return { name, pages: totals.pages, pending, rateBps: 0, limitBps: undefined, state };
  });
  // The numbers of exchanged URLs are not stored.
  return { procs, flows: [] };
}

export function pendingOf({ known, done, failed, skipped }: Totals): number {
  return known - done - failed - skipped;
}
