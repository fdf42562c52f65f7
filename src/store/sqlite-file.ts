/**
 * Opens the database file, or says what is wrong with it, before anything relies on it.
 *
 * The checks take the same few milliseconds for ten URLs and for ten million: the header, the size,
 * and whether the totals agree with the last rows. What lies between is proven when it is read.
 */

import { closeSync, fstatSync, openSync, readSync, rmSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { CrawlError } from "../base/errors.ts";
import { APPLICATION_ID, SCHEMA_VERSION, migrate } from "./migrations.ts";
import type { SqliteReader } from "./sqlite-reader.ts";

const MAGIC = "SQLite format 3\0";
const HEADER_BYTES = 100;
/** For the moments in which another process reads the log, or recovers it after a kill. */
const BUSY_MS_MAX = 250;

export interface DatabaseLimits {
  readonly cacheBytesMax: number;
}

/** Makes an empty store where none was finished before. */
export function createDatabase(path: string, limits: DatabaseLimits): DatabaseSync {
  for (const ending of ["", "-wal", "-shm"]) rmSync(`${path}${ending}`, { force: true });
  return prepared(new DatabaseSync(path, { timeout: BUSY_MS_MAX }), limits);
}

export function openDatabase(path: string, limits: DatabaseLimits): DatabaseSync {
  checkHeader(path);
  return prepared(new DatabaseSync(path, { timeout: BUSY_MS_MAX }), limits);
}

/** For looking on, beside a crawl that may be running. */
export function openDatabaseReadOnly(path: string): DatabaseSync {
  checkHeader(path);
  return new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS_MAX });
}

/** Promise 2 of the store, as far as it can be seen without reading every row. */
export function checkRows(path: string, reader: SqliteReader): void {
  const { known, done, failed, skipped } = reader.readTotals();
  const lastId = reader.lastId("url");
  if (known !== lastId || done + failed + skipped > known)
    throw new CrawlError(
      "STORE_CORRUPT",
      `${path}: ${known} URLs are counted, ${lastId} are there`,
    );
  // Reading proves them.
  if (lastId > 0) reader.url(1);
  if (lastId > 1) reader.url(lastId);
}

function prepared(database: DatabaseSync, limits: DatabaseLimits): DatabaseSync {
  try {
    // The log is moved by another thread; NORMAL waits for the disk only where the log starts anew.
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA cell_size_check = ON;
      PRAGMA temp_store = MEMORY;
      PRAGMA cache_size = -${Math.ceil(limits.cacheBytesMax / 1024)}`);
    migrate(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Reads the header with our own eyes, because SQLite would already write in opening the file. */
function checkHeader(path: string): void {
  const header = Buffer.alloc(HEADER_BYTES);
  let sizeBytes: number;
  try {
    const file = openSync(path, "r");
    readSync(file, header, 0, HEADER_BYTES, 0);
    sizeBytes = fstatSync(file).size;
    closeSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new CrawlError("STORE_CORRUPT", `${path} is missing`, { cause: error });
  }
  const isOurs =
    header.toString("latin1", 0, 16) === MAGIC && header.readUInt32BE(68) === APPLICATION_ID;
  if (!isOurs) throw new CrawlError("STORE_CORRUPT", `${path} does not start as our store does`);
  const version = header.readUInt32BE(60);
  if (version > SCHEMA_VERSION)
    throw new CrawlError(
      "STORE_NEWER",
      `${path} has version ${version}, this Weir knows up to ${SCHEMA_VERSION}`,
    );
  // While there is a log the file may be shorter than its first page says.
  const pageBytes = header.readUInt16BE(16);
  const saidBytes = header.readUInt32BE(28) * (pageBytes === 1 ? 65_536 : pageBytes);
  if (sizeBytes < saidBytes && logBytes(path) === 0)
    throw new CrawlError("STORE_CORRUPT", `${path} has ${sizeBytes} of ${saidBytes} bytes`);
}

function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
