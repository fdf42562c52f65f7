/**
 * The file of a full-text index: what is in it, how it is opened, and by whom it may be written.
 *
 * `search/index.db` in a crawl's folder is a SQLite file with a table `page` of what a result shows,
 * and segments of words (`search-segment.ts`) in pieces of 64 KiB. SQLite makes commits whole and lets
 * others read meanwhile; what words mean it does not know. Everything in it can be made again from
 * the store and the archive, unless the crawl keeps no archive: then the texts are kept here. A lock
 * of its own tells who writes.
 */

import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CrawlError } from "../base/errors.ts";
import { OWNER_ONLY } from "../base/owner-only.ts";

const VERSION = 1;
/** "WeiS" in ASCII. */
const APPLICATION_ID = 0x57656953;
const BUSY_MS_MAX = 250;
const CACHE_KIB = 4 * 1024;
/** Most of the file is pieces of segments, which are larger still. */
const PAGE_BYTES = 16_384;
/** Moving the log into the file waits for the disk, so it is done seldom. */
const LOG_PAGES_MAX = 2_048;

/** Segments lie in pieces, so that a word costs the reading of one or two. */
export const PIECE_BYTES = 65_536;
const PIECES_MAX = 2 ** 20;

/** The key of a piece of a segment. */
export function pieceKey(segment: number, piece: number): number {
  return segment * PIECES_MAX + piece;
}

export interface IndexLock {
  release(): void;
}

const SCHEMA = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE page (
  id INTEGER PRIMARY KEY, url TEXT NOT NULL, title TEXT NOT NULL, language TEXT NOT NULL,
  topic TEXT NOT NULL, fetched_at_ms REAL NOT NULL, digest BLOB NOT NULL,
  file TEXT, offset INTEGER, length INTEGER, doc INTEGER NOT NULL, words INTEGER NOT NULL, text BLOB
) STRICT;
CREATE TABLE segment (
  number INTEGER PRIMARY KEY, first_doc INTEGER NOT NULL, terms INTEGER NOT NULL,
  letter_bytes INTEGER NOT NULL, bytes INTEGER NOT NULL, docs BLOB NOT NULL
) STRICT;
CREATE TABLE piece (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
CREATE TABLE gone (doc INTEGER PRIMARY KEY) STRICT;
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
  mkdirSync(searchFolder(crawlFolder), { recursive: true, mode: OWNER_ONLY });
  const path = fileIn(crawlFolder);
  return opened(path, () => {
    const database = new DatabaseSync(path, { timeout: BUSY_MS_MAX });
    const { version } = headOf(database);
    if (version > 0) checkHead(database, path);
    database.exec(`
      PRAGMA page_size = ${PAGE_BYTES};
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA wal_autocheckpoint = ${LOG_PAGES_MAX};
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
  const path = join(searchFolder(crawlFolder), "lock.db");
  let lock: DatabaseSync | undefined;
  try {
    mkdirSync(searchFolder(crawlFolder), { recursive: true, mode: OWNER_ONLY });
    lock = new DatabaseSync(path, { timeout: 0 });
    lock.exec("BEGIN EXCLUSIVE");
    const held = lock;
    return { release: () => held.close() };
  } catch (error) {
    lock?.close();
    const told = explainedIndex(error, path);
    if (told instanceof CrawlError && told.code === "STORE_LOCKED") return undefined;
    throw told;
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
