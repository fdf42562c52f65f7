/** What came of topics in the folder of several processes: their stores are read one beside the other. */

import type { Settings } from "../config/schema.ts";
import type { CrawlResult } from "../control/snapshot.ts";
import { topicFigures } from "../results/topic-figures.ts";
import { modelFor } from "../crawl/topics/setup.ts";
import type { ReadableStore } from "../store/store.ts";
import { openReadOnly } from "../store/joined/open-read-only.ts";
import { storeFolders } from "../store/team-file.ts";

/** null where nobody asked what pages are about. */
export function topicsIn(folder: string, settings: Settings): CrawlResult["topics"] {
  const model = modelFor(settings);
  return model === undefined
    ? null
    : reading(folder, (stores) => topicFigures(stores, model.digest));
}

/** Pages that one process fetched and another keeps. */
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
