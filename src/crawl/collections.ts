/**
 * Finished or running crawls as searchable collections: which folders hold one, and their indexes.
 *
 * A folder of several processes (`proc-1`, `proc-2` …) is as many collections. An index that is
 * missing or behind is completed first, from the archive, unless the crawl itself is at it.
 */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { CrawlError } from "../base/errors.ts";
import { archivedText } from "../output/jsonl.ts";
import type { Collection, Result } from "../output/search-broker.ts";
import { hasIndex, lockIndex } from "../output/search-file.ts";
import { IndexReader } from "../output/search-reader.ts";
import { IndexWriter } from "../output/search-writer.ts";
import { DamagedRecord } from "../output/warc-read.ts";
import { openReadOnly } from "../store/store-sqlite.ts";
import { partFolders, readTeam } from "../store/team-file.ts";
import { addMissing, pagesMissing, takeOutUnknown } from "./search-upkeep.ts";

const MARKER = "weir.json";
const PROCESS = /^proc-/;

/** How far the making of an index is. */
export interface IndexProgress {
  readonly folder: string;
  readonly done: number;
  readonly total: number;
  /** Pages whose text the archive could not give. */
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

/** Opens the index of a crawl, made or completed where it has to be. */
export async function openCollection(
  folder: string,
  onProgress: (progress: IndexProgress) => void,
): Promise<Collection> {
  await completeIndex(folder, onProgress);
  return { folder, index: new IndexReader(folder) };
}

/** What a result says, from where it is kept; undefined when nobody has it any more. */
export function textOfResult({ page, collection }: Result): string | undefined {
  const kept = collection.index.keptText(page.id);
  if (kept !== undefined || page.archived === undefined) return kept;
  try {
    return archivedText(join(collection.folder, "archive"), page.archived);
  } catch (error) {
    // The page was found; that it cannot be shown is no reason to show nothing else.
    if (error instanceof DamagedRecord || (error instanceof Error && "syscall" in error))
      return undefined;
    throw error;
  }
}

function isCrawl(folder: string): boolean {
  return existsSync(join(folder, MARKER)) && existsSync(join(folder, "state"));
}

async function completeIndex(
  folder: string,
  onProgress: (progress: IndexProgress) => void,
): Promise<void> {
  const lock = lockIndex(folder);
  if (lock === undefined) {
    // Somebody is writing it, most likely the crawl itself; what is committed can be read.
    if (hasIndex(folder)) return;
    throw new CrawlError("STORE_LOCKED", `The index of ${folder} is being made just now`);
  }
  const store = openReadOnly(folder);
  try {
    const writer = new IndexWriter(folder, Object.keys(store.marks).length === 0);
    try {
      takeOutUnknown(writer, store);
      const total = pagesMissing(writer, store);
      if (total > 0)
        for (const step of addMissing(writer, store, folder))
          onProgress({ folder, total, ...step });
    } finally {
      writer.close();
    }
  } finally {
    await store.close();
    lock.release();
  }
}
