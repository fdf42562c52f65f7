/**
 * Checks the deadlines of a crawl by several processes before its first request, as one process does
 * (`check-promises.ts`).
 */

import { systemClock } from "../base/clock.ts";
import { checkPromises } from "../crawl/deadlines/check-promises.ts";
import { speedTableFor } from "../crawl/limit/link-budget.ts";
import type { CrawlOrder } from "../crawl/open.ts";
import { hasStore } from "../store/folder.ts";
import { serversOf } from "../store/joined/joined-servers.ts";
import { openReadOnly } from "../store/joined/open-read-only.ts";
import { openMemoryStore } from "../store/sqlite/store-sqlite.ts";
import { partFolders } from "../store/team-file.ts";
import { SharedLimit } from "./shared-limit.ts";

/** The stores of its processes are in `folder`; that of a node knows only its own part. */
export function checkWhole({
  settings,
  seeds,
  folder,
  log,
}: CrawlOrder & { readonly folder: string }): void {
  const isKnown = !settings.fresh && partFolders(folder).some(hasStore);
  const store = isKnown ? openReadOnly(folder) : openMemoryStore();
  const limitBps = new SharedLimit(systemClock, settings).agreedBps();
  const speeds = speedTableFor(settings);
  speeds.restore(serversOf(folder, settings.speedsFile));
  try {
    checkPromises({ settings, seeds, store, clock: systemClock, log, speeds, limitBps });
  } finally {
    void store.close();
  }
}
