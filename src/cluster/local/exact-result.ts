/** What the stores of all processes contain of the result of a crawl: everything counted exactly. */

import type { Settings } from "../../config/schema.ts";
import type { CrawlResult } from "../../control/snapshot.ts";
import { modelFor } from "../../crawl/topics/setup.ts";
import { metricsOf } from "../../results/parallel-metrics.ts";
import { topicFigures } from "../../results/topic-figures.ts";
import { openReadOnly } from "../../store/joined/open-read-only.ts";
import type { ReadableStore } from "../../store/store.ts";
import { storeFolders } from "../../store/team-file.ts";
import type { Exact } from "../whole-result.ts";

export async function exactFrom(
  folder: string,
  settings: Settings,
  results: readonly CrawlResult[],
): Promise<Exact> {
  const store = openReadOnly(folder);
  const parts = storeFolders(folder).map((part) => openReadOnly(part));
  try {
    const { referenceFolder } = settings;
    const measured = await metricsOf({ folder, store, referenceFolder });
    const { unique, downloaded, coverage = null, quality = null } = measured;
    // An exported page was fetched by one process and is stored by another.
    const exported = results.reduce((sum, { outcomes }) => sum + (outcomes["exported"] ?? 0), 0);
    const fetched = downloaded - importedIn(parts) + exported;
    const model = modelFor(settings);
    const topics = model === undefined ? null : topicFigures(parts, model.digest);
    return { totals: store.totals, unique, downloaded: fetched, coverage, quality, topics };
  } finally {
    await Promise.all([store, ...parts].map((one) => one.close()));
  }
}

/** Pages that one process fetched and another stores. */
function importedIn(stores: readonly ReadableStore[]): number {
  let imported = 0;
  for (const store of stores)
    for (const { from } of store.pageTopics()) if (from !== "") imported += 1;
  return imported;
}
