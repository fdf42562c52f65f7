/**
 * Finished or running crawls as searchable collections: which folders hold one, and their indexes.
 *
 * A folder of several processes (`proc-1`, `proc-2` …) is as many collections. An index that is missing or
 * incomplete is completed first, from the archive, unless the crawl is writing it.
 */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { CrawlError } from "../../base/errors.ts";
import { canWriteIn, temporaryFolder } from "../../base/read-only-database.ts";
import { archivedText } from "../../output/lines/jsonl.ts";
import { type Collection, type Result, search } from "../../search/find.ts";
import { hasIndex, lockIndex, type Stemming } from "../../search/index-file.ts";
import { IndexReader } from "../../search/index-reader.ts";
import { IndexWriter } from "../../search/index-writer.ts";
import { Passages } from "../../search/passage.ts";
import type { Query } from "../../search/query.ts";
import { corrected } from "../../search/suggest.ts";
import { DamagedRecord } from "../../output/warc/warc-read.ts";
import { openReadOnly } from "../../store/joined/open-read-only.ts";
import { partFolders, readTeam } from "../../store/team-file.ts";
import { addMissing, type FollowedStore, pagesMissing, takeOutUnknown } from "./upkeep.ts";

const MARKER = "weir.json";
const PROCESS = /^proc-/;

/** Progress of an index. */
export interface IndexProgress {
  readonly folder: string;
  readonly done: number;
  readonly total: number;
  /** Pages whose text cannot be read from the archive. */
  readonly damaged: number;
}

/** The crawls in a folder: itself, those of its processes, or none. */
export function crawlsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  if (readTeam(folder) !== undefined) return partFolders(folder).filter(isCrawl);
  const parts = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && PROCESS.test(entry.name))
    .map(({ name }) => join(folder, name))
    .filter(isCrawl)
    .sort();
  return isCrawl(folder) ? [folder, ...parts] : parts;
}

/** Opens the index of a crawl, after it was made or completed if necessary. */
export async function openCollection(
  folder: string,
  stemming: Stemming,
  onProgress: (progress: IndexProgress) => void,
): Promise<Collection> {
  const home = await completeIndex(folder, stemming, onProgress);
  return { folder, index: new IndexReader(home) };
}

/** The text of a result, from index or archive; undefined if neither has it. */
export function textOfResult({ page, collection }: Result): string | undefined {
  const kept = collection.index.keptText(page.id);
  if (kept !== undefined || page.archived === undefined) return kept;
  try {
    return archivedText(join(collection.folder, "archive"), page.archived);
  } catch (error) {
    // One text that cannot be read must not hide the other results.
    if (error instanceof DamagedRecord || (error instanceof Error && "syscall" in error))
      return undefined;
    throw error;
  }
}

export interface Spelling {
  readonly typed: string;
  readonly suggested: string;
}

/** For each word that no page has, the nearest word as its best page spells it. */
export function spellingsFor(collections: readonly Collection[], query: Query): Spelling[] {
  const typed = query.wanted.flat();
  return corrected(collections, typed).flatMap((term, at) => {
    if (term === undefined) return [];
    const only = { wanted: [[term]], unwanted: [] };
    const facets = { site: undefined, language: undefined, topic: undefined };
    const [best] = search(collections, { query: only, facets, countMax: 1 }).results;
    if (best === undefined) return [];
    using passages = new Passages(only, best.collection.index.stemming);
    const { title } = best.page;
    for (const text of [title, textOfResult(best) ?? ""]) {
      const passage = passages.best(text, 8);
      const [mark] = passage?.marks ?? [];
      if (passage !== undefined && mark !== undefined)
        return [
          { typed: typed[at]?.text ?? "", suggested: passage.text.slice(...mark).toLowerCase() },
        ];
    }
    return [];
  });
}

function isCrawl(folder: string): boolean {
  return existsSync(join(folder, MARKER)) && existsSync(join(folder, "state"));
}

/** Returns the folder with the index: that of the crawl, or a temporary one if that is read-only. */
async function completeIndex(
  folder: string,
  stemming: Stemming,
  onProgress: (progress: IndexProgress) => void,
): Promise<string> {
  const store = openReadOnly(folder);
  try {
    if (!canWriteIn(folder) && hasWholeIndex(folder, store)) return folder;
    const home = canWriteIn(folder) ? folder : temporaryFolder();
    const lock = lockIndex(home);
    if (lock !== undefined) {
      try {
        complete({ folder, home, store, stemming }, onProgress);
      } finally {
        lock.release();
      }
    } else if (!hasIndex(home)) {
      throw new CrawlError("STORE_LOCKED", `The index of ${folder} is being made just now`);
    }
    // If another process holds the lock, usually the crawl, the committed part can be read.
    return home;
  } finally {
    await store.close();
  }
}

function hasWholeIndex(folder: string, store: FollowedStore): boolean {
  if (!hasIndex(folder)) return false;
  using index = new IndexReader(folder);
  return index.cursor >= store.lastPageSeq;
}

interface Completing {
  readonly folder: string;
  readonly home: string;
  readonly store: ReturnType<typeof openReadOnly>;
  readonly stemming: Stemming;
}

function complete(
  { folder, home, store, stemming }: Completing,
  onProgress: (progress: IndexProgress) => void,
): void {
  const writer = new IndexWriter(home, {
    keepsText: Object.keys(store.marks).length === 0,
    stemming,
  });
  try {
    takeOutUnknown(writer, store);
    const total = pagesMissing(writer, store);
    if (total > 0)
      for (const step of addMissing(writer, store, folder)) onProgress({ folder, total, ...step });
  } finally {
    writer.close();
  }
}
