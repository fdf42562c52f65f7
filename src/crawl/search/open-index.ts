/**
 * Opens the full-text index for a crawl, in the state of its store, or warns that pages are not indexed.
 *
 * A crawl does not wait long for its index, and does not fail without it, because the index can be completed later
 * from the archive. Without an archive only the index has the texts, so it must be available.
 */

import { CrawlError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Settings } from "../../config/schema.ts";
import { lockIndex } from "../../search/index-file.ts";
import { openIndex, type PageIndex } from "../../search/index-thread.ts";
import { IndexWriter, type IndexWriterOptions } from "../../search/index-writer.ts";
import { addMissing, type FollowedStore, pagesMissing, takeOutUnknown } from "./upkeep.ts";

/** Adding more pages than this would delay the start of a crawl by more than about ten seconds. */
const MISSING_PAGES_MAX = 20_000;

export function openIndexFor(
  settings: Pick<Settings, "warc" | "searchStemming">,
  crawlFolder: string,
  { store, log }: { readonly store: FollowedStore; readonly log: Log },
): PageIndex | undefined {
  const warn = (what: string): void =>
    log.write({
      level: "warn",
      message: `${what}; \`weir search\` completes the index`,
      values: {},
    });
  const keepsText = !settings.warc;
  const stemming = settings.searchStemming;
  const lock = lockIndex(crawlFolder);
  if (lock === undefined) {
    if (keepsText) throw new CrawlError("STORE_LOCKED", `${crawlFolder} is being indexed`);
    warn("Pages are not indexed, because the search index is in use");
    return undefined;
  }
  try {
    if (isInStep(crawlFolder, { keepsText, stemming }, store)) {
      const onTrouble = (what: string): void => warn(`Pages are no longer indexed: ${what}`);
      return openIndex({ crawlFolder, keepsText, stemming, onTrouble }, lock);
    }
    warn("Pages are not indexed, because too many earlier ones are not");
  } catch (error) {
    lock.release();
    throw error;
  }
  lock.release();
  return undefined;
}

/** Adds missing pages, unless that would take too long. */
function isInStep(crawlFolder: string, options: IndexWriterOptions, store: FollowedStore): boolean {
  const writer = new IndexWriter(crawlFolder, options);
  try {
    takeOutUnknown(writer, store);
    if (pagesMissing(writer, store) > MISSING_PAGES_MAX && !options.keepsText) return false;
    for (const _ of addMissing(writer, store, crawlFolder));
    return true;
  } finally {
    writer.close();
  }
}
