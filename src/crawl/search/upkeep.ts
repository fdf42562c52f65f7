/**
 * Keeps the full-text index in step with the store: takes out what the store does not know, and adds
 * from the archive what the index has missed.
 *
 * Pages are numbered as they are recorded, and the index knows how far it has come; so what is
 * missing is a walk over the pages behind that number. It is needed after a kill, after a crawl
 * without an index, and for a collection that never had one. About a millisecond a page, most of it
 * for reading the archive; in commits of a thousand pages, so that it can be broken off at any time.
 */

import { join } from "node:path";
import { archivedText } from "../../output/lines/jsonl.ts";
import type { IndexWriter } from "../../search/index-writer.ts";
import { DamagedRecord } from "../../output/warc/warc-read.ts";
import type { ArchivePlace } from "../../page/page.ts";
import type { Store } from "../../store/store.ts";
import { writtenOf } from "../../url/url.ts";
import { textPlaceOf } from "../../results/text-place.ts";

/** What the upkeep asks of a store, which somebody else may be writing. */
export type FollowedStore = Pick<Store, "lastPageSeq" | "pagesAfter" | "page" | "url" | "topicOf">;

const PAGES_PER_COMMIT = 1_024;
const PAGES_PER_STEP = 64;

/** How many pages, at most, the index of a folder lacks. */
export function pagesMissing(writer: IndexWriter, store: FollowedStore): number {
  return Math.max(0, store.lastPageSeq - writer.cursor);
}

/** After this the index holds nothing that the store does not know. */
export function takeOutUnknown(writer: IndexWriter, store: FollowedStore): void {
  const isAhead = writer.cursor > store.lastPageSeq;
  // Where texts are kept, pages go into the index first: a kill may have come in between.
  if (!isAhead && (!writer.keepsText || writer.wasClosed)) return;
  const unknown: number[] = [];
  for (const id of writer.ids()) {
    const digest = store.page(id)?.digest;
    if (digest === undefined || !writer.holds(id, digest)) unknown.push(id);
  }
  for (const id of unknown) writer.remove(id);
  writer.commit(Math.min(writer.cursor, store.lastPageSeq));
}

interface UpkeepStep {
  readonly done: number;
  /** Pages that the archive could not give the text of. */
  readonly damaged: number;
}

/** Adds what is missing, some pages at a step, so that the caller can tell how far it is. */
export function* addMissing(
  writer: IndexWriter,
  store: FollowedStore,
  crawlFolder: string,
): Generator<UpkeepStep> {
  const archiveFolder = join(crawlFolder, "archive");
  let done = 0;
  let damaged = 0;
  for (const { seq, page } of store.pagesAfter(writer.cursor)) {
    // A page that was only confirmed is in already; its text may be nowhere else.
    if (!writer.holds(page.id, page.digest)) {
      const known = store.url(page.id);
      const url = known === undefined ? "" : writtenOf(known);
      const place = textPlaceOf(store, page);
      const text = textAt(archiveFolder, place);
      if (text === undefined) damaged += 1;
      const topic = store.topicOf(page.id)?.topic ?? "";
      writer.put({ ...page, url, topic, archived: place, text: text ?? "" });
    }
    done += 1;
    if (done % PAGES_PER_COMMIT === 0) writer.commit(seq);
    if (done % PAGES_PER_STEP === 0) yield { done, damaged };
  }
  writer.commit(Math.max(writer.cursor, store.lastPageSeq));
  yield { done, damaged };
}

function textAt(archiveFolder: string, place: ArchivePlace | undefined): string | undefined {
  if (place === undefined) return "";
  try {
    return archivedText(archiveFolder, place) ?? "";
  } catch (error) {
    if (!(error instanceof DamagedRecord)) throw error;
    return undefined;
  }
}
