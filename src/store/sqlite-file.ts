/**
 * Opens the database file, or says what is wrong with it, before anything relies on it.
 *
 * The checks take the same few milliseconds for ten URLs and for ten million: the header, the size,
 * and whether the totals agree with the last rows. What lies between is proven when it is read.
 */

import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { CrawlError } from "../base/errors.ts";
import { APPLICATION_ID, SCHEMA_VERSION, migrate } from "./migrations.ts";
import { readHeader } from "./sqlite-header.ts";
import type { SqliteReader } from "./sqlite-reader.ts";

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

function checkHeader(path: string): void {
  const header = readHeader(path);
  if (header === undefined) throw new CrawlError("STORE_CORRUPT", `${path} is missing`);
  const { isSqlite, applicationId, version, sizeBytes, saidBytes } = header;
  if (!isSqlite || applicationId !== APPLICATION_ID)
    throw new CrawlError("STORE_CORRUPT", `${path} does not start as our store does`);
  if (version > SCHEMA_VERSION)
    throw new CrawlError(
      "STORE_NEWER",
      `${path} has version ${version}, this Weir knows up to ${SCHEMA_VERSION}`,
    );
  if (sizeBytes < saidBytes)
    throw new CrawlError("STORE_CORRUPT", `${path} has ${sizeBytes} of ${saidBytes} bytes`);
}
