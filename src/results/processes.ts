/** What each process of a crawl by several has stored, for showing them side by side. */

import { basename } from "node:path";
import { StoreBrowser } from "../store/joined/browse.ts";
import type { Totals } from "../store/store.ts";
import { readTeam, storeFolders } from "../store/team-file.ts";
import type { ParallelView } from "../control/snapshot.ts";

export interface ProcessSums {
  readonly name: string;
  readonly totals: Totals;
}

/** In order; those who have not begun are not there. */
export function processesIn(folder: string): ProcessSums[] {
  return storeFolders(folder).map((part) => {
    using browser = new StoreBrowser(part);
    return { name: basename(part), totals: browser.totals };
  });
}

/** How several processes look that do not run any more; undefined for one that crawled alone. */
export function processesAtRest(folder: string): ParallelView | undefined {
  if (readTeam(folder) === undefined) return undefined;
  const procs = processesIn(folder).map(({ name, totals }) => {
    const pending = pendingOf(totals);
    const state = pending === 0 ? "done" : "stopped";
    return { name, pages: totals.pages, pending, rateBps: 0, limitBps: undefined, state };
  });
  // Who sent how much to whom was told while they ran, and is not stored.
  return { procs, flows: [] };
}

export function pendingOf({ known, done, failed, skipped }: Totals): number {
  return known - done - failed - skipped;
}
