/**
 * Opens the full-text index for a crawl, in step with its store, or says why there will be none.
 *
 * A crawl never waits long for its index, nor fails for it: what is missing can be made up later from
 * the archive. Only where there is no archive the index is the one place that has the texts, and then
 * it must be there.
 */

import { CrawlError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Settings } from "../../config/schema.ts";
import { lockIndex } from "../../search/index-file.ts";
import { openIndex, type PageIndex } from "../../search/index-thread.ts";
import { IndexWriter, type IndexWriterOptions } from "../../search/index-writer.ts";
import { addMissing, type FollowedStore, pagesMissing, takeOutUnknown } from "./upkeep.ts";

/** More than this would hold up the crawl for more than some ten seconds. */
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

/** Brings the index to the state of the store, unless that would take too long. */
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
