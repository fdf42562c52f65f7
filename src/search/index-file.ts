/**
 * The file of a full-text index: its tables, opening it, and the lock of the process that writes it.
 *
 * `search/index.db` in a crawl's folder is a SQLite file that any SQLite client with FTS5 can open: a table
 * `page` with the fields of a result, and a table `words` (FTS5, without the texts) with the same row ids. SQLite
 * makes commits atomic and lets other processes read at the same time. The file can be rebuilt from the store and
 * the archive; without an archive the texts are stored here, compressed with zstd.
 * A lock file next to it belongs to the process that writes.
 */

import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { explained } from "../base/disk-trouble.ts";
import { type FileLock, lockFile } from "../base/file-lock.ts";
import { openDatabaseToRead } from "../base/read-only-database.ts";
import { CrawlError } from "../base/errors.ts";
import { OWNER_ONLY } from "../base/owner-only.ts";

const VERSION = 2;
/** "WeiS" in ASCII. */
const APPLICATION_ID = 0x57656953;
const BUSY_MS_MAX = 250;

/** Normalisation of words before they are compared: English stems (Porter), or only case and diacritics. */
export type Stemming = "english" | "none";

const TOKENIZERS: Readonly<Record<Stemming, string>> = {
  english: "porter unicode61 remove_diacritics 2",
  none: "unicode61 remove_diacritics 2",
};

/** The declaration of the FTS5 table; the table that cuts passages has the same tokenizer. */
export function wordTable(columns: string, stemming: Stemming): string {
  return `CREATE VIRTUAL TABLE words USING fts5(${columns}, tokenize = '${TOKENIZERS[stemming]}')`;
}

function schema(stemming: Stemming): string {
  return `
CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
CREATE TABLE page (
  id INTEGER PRIMARY KEY, url TEXT NOT NULL, host TEXT NOT NULL, title TEXT NOT NULL,
  language TEXT NOT NULL, topic TEXT NOT NULL, fetched_at_ms REAL NOT NULL, digest BLOB NOT NULL,
  file TEXT, offset INTEGER, length INTEGER, text BLOB
) STRICT;
${wordTable("title, url, text, content = '', contentless_delete = 1", stemming)};
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);
INSERT INTO meta VALUES ('stemming', '${stemming}');
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${VERSION};
`;
}

export function searchFolder(crawlFolder: string): string {
  return join(crawlFolder, "search");
}

export function hasIndex(crawlFolder: string): boolean {
  return existsSync(fileIn(crawlFolder));
}

/** Removes the index of a crawl that starts over. */
export function eraseIndex(crawlFolder: string): void {
  rmSync(searchFolder(crawlFolder), { recursive: true, force: true });
}

/** Opens the index for writing, or creates an empty one. The caller holds the lock. */
export function openToWrite(crawlFolder: string, stemming: Stemming): DatabaseSync {
  mkdirSync(searchFolder(crawlFolder), { recursive: true, mode: OWNER_ONLY });
  const path = fileIn(crawlFolder);
  return opened(path, () => {
    const database = new DatabaseSync(path, { timeout: BUSY_MS_MAX });
    const isNew = headOf(database).version === 0;
    if (!isNew) checkHead(database, path);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    if (isNew) database.exec(`BEGIN IMMEDIATE; ${schema(stemming)}; COMMIT`);
    return database;
  });
}

/** Opens the index for searching, also while a crawl writes; only whole commits are visible. */
export function openToRead(crawlFolder: string): DatabaseSync {
  const path = fileIn(crawlFolder);
  return opened(path, () => {
    const database = openDatabaseToRead(path, BUSY_MS_MAX);
    checkHead(database, path);
    return database;
  });
}

/** Locks the index for writing until `release`; undefined while another process holds the lock. */
export function lockIndex(crawlFolder: string): FileLock | undefined {
  const path = join(searchFolder(crawlFolder), "lock.db");
  try {
    mkdirSync(searchFolder(crawlFolder), { recursive: true, mode: OWNER_ONLY });
    return lockFile(path);
  } catch (error) {
    const found = explainedIndex(error, path);
    if (found instanceof CrawlError && found.code === "STORE_LOCKED") return undefined;
    throw found;
  }
}

/** The operator's error for an error of SQLite or the file system; other errors are returned unchanged. */
export function explainedIndex(error: unknown, path: string): unknown {
  const found = explained(error, path);
  const isDamaged = found instanceof CrawlError && found.code === "STORE_CORRUPT";
  // The remedy for a damaged store would delete the crawl; an index can be rebuilt.
  return isDamaged
    ? new CrawlError("SEARCH_INDEX_DAMAGED", found.message, { cause: error })
    : found;
}

function fileIn(crawlFolder: string): string {
  return join(searchFolder(crawlFolder), "index.db");
}

function opened(path: string, open: () => DatabaseSync): DatabaseSync {
  try {
    return open();
  } catch (error) {
    throw explainedIndex(error, path);
  }
}

function headOf(database: DatabaseSync): { applicationId: number; version: number } {
  return {
    applicationId: Number(database.prepare("PRAGMA application_id").get()?.["application_id"]),
    version: Number(database.prepare("PRAGMA user_version").get()?.["user_version"]),
  };
}

function checkHead(database: DatabaseSync, path: string): void {
  const { applicationId, version } = headOf(database);
  if (version > VERSION)
    throw new CrawlError(
      "STORE_NEWER",
      `${path} has version ${version}, this Weir knows ${VERSION}`,
    );
  if (applicationId !== APPLICATION_ID)
    throw new CrawlError("SEARCH_INDEX_DAMAGED", `${path} is not a search index of Weir`);
  if (version < VERSION)
    throw new CrawlError(
      "SEARCH_INDEX_DAMAGED",
      `${path} has the older version ${version}, this Weir needs ${VERSION}`,
    );
}
