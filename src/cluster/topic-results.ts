/** Topic metrics of a crawl by several processes, read from their stores. */

import type { Settings } from "../config/schema.ts";
import type { CrawlResult } from "../control/snapshot.ts";
import { topicFigures } from "../results/topic-figures.ts";
import { modelFor } from "../crawl/topics/setup.ts";
import type { ReadableStore } from "../store/store.ts";
import { openReadOnly } from "../store/joined/open-read-only.ts";
import { storeFolders } from "../store/team-file.ts";

/** null if pages were not classified. */
export function topicsIn(folder: string, settings: Settings): CrawlResult["topics"] {
  const model = modelFor(settings);
  return model === undefined
    ? null
    : reading(folder, (stores) => topicFigures(stores, model.digest));
}

/** Pages that one process fetched and another stores. */
export function importedIn(folder: string): number {
  return reading(folder, (stores) => {
    let imported = 0;
    for (const store of stores)
      for (const { from } of store.pageTopics()) if (from !== "") imported += 1;
    return imported;
  });
}

function reading<T>(folder: string, look: (stores: readonly ReadableStore[]) => T): T {
  const stores = storeFolders(folder).map((part) => openReadOnly(part));
  try {
    return look(stores);
  } finally {
    for (const store of stores) void store.close();
  }
}
