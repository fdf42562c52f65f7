/**
 * Opens and checks the database file.
 *
 * The checks take a few milliseconds for any number of URLs: the header, the size, and whether the
 * totals agree with the last rows. All other rows are verified when they are read.
 */

import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { openDatabaseToRead } from "../../base/read-only-database.ts";
import { CrawlError } from "../../base/errors.ts";
import { APPLICATION_ID, SCHEMA_VERSION, migrate } from "./migrations.ts";
import { readHeader } from "./sqlite-header.ts";
import type { SqliteReader } from "./sqlite-reader.ts";

/** Wait for another process that reads the log, or recovers it after a kill. */
const BUSY_MS_MAX = 250;

interface DatabaseLimits {
  readonly cacheBytesMax: number;
}

/** Creates an empty store, and replaces an incomplete one. */
export function createDatabase(path: string, limits: DatabaseLimits): DatabaseSync {
  for (const ending of ["", "-wal", "-shm"]) rmSync(`${path}${ending}`, { force: true });
  return prepared(new DatabaseSync(path, { timeout: BUSY_MS_MAX }), limits);
}

export function openDatabase(path: string, limits: DatabaseLimits): DatabaseSync {
  checkHeader(path);
  return prepared(new DatabaseSync(path, { timeout: BUSY_MS_MAX }), limits);
}

/** Opens the database for reading, even while a crawl is running. */
export function openDatabaseReadOnly(path: string): DatabaseSync {
  checkHeader(path);
  return openDatabaseToRead(path, BUSY_MS_MAX);
}

/** Checks promise 2 of the store as far as possible without reading every row. */
export function checkRows(path: string, reader: SqliteReader): void {
  const { known, done, failed, skipped } = reader.totals;
  const lastId = reader.lastId("url");
  if (known !== lastId || done + failed + skipped > known)
    throw new CrawlError(
      "STORE_CORRUPT",
      `${path}: the totals have ${known} URLs, the table has ${lastId}`,
    );
  // Reading a row verifies it.
  if (lastId > 0) reader.url(1);
  if (lastId > 1) reader.url(lastId);
}

/** Brings an open database to the newest version, and sets how it works. */
export function prepared(database: DatabaseSync, limits: DatabaseLimits): DatabaseSync {
  try {
    // Another thread moves the log; NORMAL waits for the disk only when the log restarts.
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
  const { isSqlite, applicationId, version, sizeBytes, declaredBytes } = header;
  if (!isSqlite || applicationId !== APPLICATION_ID)
    throw new CrawlError("STORE_CORRUPT", `${path} does not have the header of a store`);
  if (version > SCHEMA_VERSION)
    throw new CrawlError(
      "STORE_NEWER",
      `${path} has version ${version}, this Weir reads up to ${SCHEMA_VERSION}`,
    );
  if (sizeBytes < declaredBytes)
    throw new CrawlError("STORE_CORRUPT", `${path} has ${sizeBytes} of ${declaredBytes} bytes`);
}
