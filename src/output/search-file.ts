/**
 * The file of a full-text index: what is in it, how it is opened, and by whom it may be written.
 *
 * `search/index.db` in a crawl's folder holds a table `page` of what a result shows, and `words`, a
 * full-text table of SQLite (FTS5) that keeps no text of its own. Everything in it can be made again
 * from the store and the archive, unless the crawl keeps no archive: then the texts are kept here.
 * A lock of its own tells who writes, so that others only read.
 */

import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CrawlError } from "../base/errors.ts";

const VERSION = 1;
/** "WeiS" in ASCII. */
const APPLICATION_ID = 0x57656953;
const BUSY_MS_MAX = 250;
const CACHE_KIB = 8 * 1024;
/** Of words gathered before they are written, and how many segments are left before they are merged. */
const GATHERED_BYTES_MAX = 16 * 2 ** 20;
const SEGMENTS_TO_MERGE = 8;

export interface IndexLock {
  release(): void;
}

const SCHEMA = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE page (
  id INTEGER PRIMARY KEY, url TEXT NOT NULL, title TEXT NOT NULL, language TEXT NOT NULL,
  topic TEXT NOT NULL, fetched_at_ms REAL NOT NULL, digest BLOB NOT NULL,
  file TEXT, offset INTEGER, length INTEGER, text BLOB
) STRICT;
CREATE VIRTUAL TABLE words USING fts5(
  title, url, text, facet, content = '', contentless_delete = 1, tokenize = 'unicode61'
);
INSERT INTO words(words, rank) VALUES ('hashsize', ${GATHERED_BYTES_MAX});
INSERT INTO words(words, rank) VALUES ('automerge', ${SEGMENTS_TO_MERGE});
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${VERSION};
`;

export function searchFolder(crawlFolder: string): string {
  return join(crawlFolder, "search");
}

export function hasIndex(crawlFolder: string): boolean {
  return existsSync(fileIn(crawlFolder));
}

/** Removes the index of a crawl that begins anew. */
export function eraseIndex(crawlFolder: string): void {
  rmSync(searchFolder(crawlFolder), { recursive: true, force: true });
}

/** Opens the index to write it, or makes an empty one. Whoever calls this holds the lock. */
export function openToWrite(crawlFolder: string): DatabaseSync {
  mkdirSync(searchFolder(crawlFolder), { recursive: true });
  const path = fileIn(crawlFolder);
  return opened(path, () => {
    const database = new DatabaseSync(path, { timeout: BUSY_MS_MAX });
    const { version } = headOf(database);
    if (version > 0) checkHead(database, path);
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA cache_size = -${CACHE_KIB}`);
    if (version === 0) database.exec(`BEGIN IMMEDIATE; ${SCHEMA}; COMMIT`);
    return database;
  });
}

/** For searching, also while a crawl writes: sees whole commits only. */
export function openToRead(crawlFolder: string): DatabaseSync {
  const path = fileIn(crawlFolder);
  return opened(path, () => {
    const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS_MAX });
    checkHead(database, path);
    return database;
  });
}

/** The right to write the index, held until it is released; undefined while somebody else has it. */
export function lockIndex(crawlFolder: string): IndexLock | undefined {
  mkdirSync(searchFolder(crawlFolder), { recursive: true });
  const lock = new DatabaseSync(join(searchFolder(crawlFolder), "lock.db"), { timeout: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return { release: () => lock.close() };
  } catch (error) {
    lock.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

/** What SQLite or the disk said, in the operator's words; our own mistakes stay as they are. */
export function explainedIndex(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error instanceof CrawlError) return error;
  const primary = "errcode" in error && typeof error.errcode === "number" ? error.errcode & 255 : 0;
  const code = "code" in error ? error.code : undefined;
  const what = `${path}: ${error.message}`;
  if (primary === FULL || code === "ENOSPC" || code === "EDQUOT")
    return new CrawlError("DISK_FULL", what, { cause: error });
  if (primary === CORRUPT || primary === NOT_A_DATABASE)
    return new CrawlError("SEARCH_INDEX_DAMAGED", what, { cause: error });
  if (primary === BUSY) return new CrawlError("STORE_LOCKED", what, { cause: error });
  if (
    primary === READ_ONLY ||
    primary === IO_ERROR ||
    primary === CANNOT_OPEN ||
    "syscall" in error
  )
    return new CrawlError("FOLDER_UNWRITABLE", what, { cause: error });
  return error;
}

const BUSY = 5;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

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
  if (applicationId !== APPLICATION_ID || version < VERSION)
    throw new CrawlError("SEARCH_INDEX_DAMAGED", `${path} does not start as an index of ours does`);
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && (Number(error.errcode) & 255) === BUSY;
}
