/**
 * Brings the full-text index to the state of the store: removes pages that the store does not have, and adds
 * missing ones from the archive.
 *
 * Pages are numbered as they are recorded, and the index stores the last number that it has, so the pages after that
 * number are missing. This is needed after a kill, after a crawl without an index, and for a collection that never had
 * one. It takes about 1 ms per page, mostly to read the archive, in commits of 1,024 pages, so it can be interrupted.
 */

import { join } from "node:path";
import { archivedText } from "../../output/lines/jsonl.ts";
import type { IndexWriter } from "../../search/index-writer.ts";
import { DamagedRecord } from "../../output/warc/warc-read.ts";
import type { ArchivePlace } from "../../page/page.ts";
import type { Store } from "../../store/store.ts";
import { writtenOf } from "../../url/url.ts";
import { textPlaceOf } from "../../results/text-place.ts";

/** The reads that an index needs of a store, which another process may be writing. */
export type FollowedStore = Pick<Store, "lastPageSeq" | "pagesAfter" | "page" | "url" | "topicOf">;

const PAGES_PER_COMMIT = 1_024;
const PAGES_PER_STEP = 64;

/** Pages that the index lacks, at most. */
export function pagesMissing(writer: IndexWriter, store: FollowedStore): number {
  return Math.max(0, store.lastPageSeq - writer.cursor);
}

/** Removes all pages that the store does not have. */
export function takeOutUnknown(writer: IndexWriter, store: FollowedStore): void {
  const isAhead = writer.cursor > store.lastPageSeq;
  // An index that keeps texts gets pages before the store does: a kill may have come in between.
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
  /** Pages whose text cannot be read from the archive. */
  readonly damaged: number;
}

/** Adds the missing pages, 64 at a step, so that the caller can show the progress. */
export function* addMissing(
  writer: IndexWriter,
  store: FollowedStore,
  crawlFolder: string,
): Generator<UpkeepStep> {
  const archiveFolder = join(crawlFolder, "archive");
  let done = 0;
  let damaged = 0;
  for (const { seq, page } of store.pagesAfter(writer.cursor)) {
    // A page that was only confirmed is in the index, which may have its only text.
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
