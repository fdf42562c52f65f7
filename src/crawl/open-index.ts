/**
 * Opens the full-text index for a crawl, in step with its store, or says why there will be none.
 *
 * A crawl never waits long for its index, nor fails for it: what is missing can be made up later from
 * the archive. Only where there is no archive the index is the one place that has the texts, and then
 * it must be there.
 */

import { CrawlError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Settings } from "../config/schema.ts";
import { lockIndex } from "../output/search-file.ts";
import { openIndex, type PageIndex } from "../output/search-index.ts";
import { IndexWriter } from "../output/search-writer.ts";
import { addMissing, type FollowedStore, pagesMissing, takeOutUnknown } from "./search-upkeep.ts";

/** More than this would hold up the crawl for more than some ten seconds. */
const MISSING_PAGES_MAX = 20_000;

export function openIndexFor(
  settings: Pick<Settings, "warc">,
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
  const lock = lockIndex(crawlFolder);
  if (lock === undefined) {
    if (keepsText) throw new CrawlError("STORE_LOCKED", `${crawlFolder} is being indexed`);
    warn("Pages are not made searchable, because the index is in use");
    return undefined;
  }
  try {
    if (isInStep(crawlFolder, keepsText, store)) {
      const onTrouble = (what: string): void =>
        warn(`Pages are no longer made searchable: ${what}`);
      return openIndex({ crawlFolder, keepsText, onTrouble }, lock);
    }
    warn("Pages are not made searchable, because too many earlier ones are not");
  } catch (error) {
    lock.release();
    throw error;
  }
  lock.release();
  return undefined;
}

/** Brings the index to the state of the store, unless that would take too long. */
function isInStep(crawlFolder: string, keepsText: boolean, store: FollowedStore): boolean {
  const writer = new IndexWriter(crawlFolder, keepsText);
  try {
    takeOutUnknown(writer, store);
    if (pagesMissing(writer, store) > MISSING_PAGES_MAX && !keepsText) return false;
    for (const _ of addMissing(writer, store, crawlFolder));
    return true;
  } finally {
    writer.close();
  }
}
