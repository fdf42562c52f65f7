/**
 * Stores the measurements of servers between crawls, in one file that several crawls may share.
 *
 * It is an SQLite file for three reasons: only servers measured since the last save are written; two
 * concurrent writers both succeed, and the latest measurement of each server stays; and a kill at any
 * time leaves every server in its old or new state. Another thread waits for the disk. The numbers of a
 * server are one record with a CRC-32, because SQLite verifies only its own structure, and reading one
 * column costs as much as reading all these numbers.
 *
 * Promises, each held by a test:
 *   1. a foreign, newer, truncated or damaged file is refused with its name and not changed;
 *   2. a full disk or a locked file fails a save, but not the crawl;
 *   3. at most 10 % more than `serversMax` servers; those not measured for the longest time are deleted,
 *      where each measurement counts as a day, up to a month.
 *
 * Half a million servers are read in about a second. A save of 500 takes about 5 ms; larger saves are
 * split into batches of 500, so that other work continues in between.
 */

import { dirname } from "node:path";
import { DatabaseSync, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { canWriteIn, openDatabaseToRead } from "../../base/read-only-database.ts";
import { CrawlError, isLackOfRoom } from "../../base/errors.ts";
import { Checkpointer } from "./checkpointer.ts";
import { explained } from "../../base/disk-trouble.ts";
import { readHeader } from "./sqlite-header.ts";
import { StoreThread } from "../seen/store-thread.ts";

/** Name in the folder of a crawl; outside `state/`, so that --fresh does not delete it. */
export const SERVERS_FILE = "servers.db";

/** The stored measurements of a server, which the speed table computes. */
export interface StoredServer {
  readonly address: string;
  readonly sites: readonly string[];
  readonly lastAtMs: number;
  readonly workingCount: number;
  readonly holidayCount: number;
  /** Bit h is set when hour h of a working day was measured. */
  readonly workingHours: number;
  /** Bit h is set when hour h of a holiday was measured. */
  readonly holidayHours: number;
  /** 24 hours of a working day, then 24 of a holiday. */
  readonly bps: Float32Array;
  /** Mean and greatest deviation from predictions; undefined until known. */
  readonly scatter: { readonly mean: number; readonly most: number } | undefined;
}

/** "WeiS" in ASCII, in the header of these files. */
const APPLICATION_ID = 0x57656953;
const VERSION = 3;
/**
 * A record: last_at_ms, measurements on working days and on holidays, 48 speeds, the mean scatter (NaN
 * for none) and the greatest, the measured hours of working days and of holidays, the CRC-32 of all
 * that. Records of earlier versions without the measured hours are ignored, and replaced when their
 * server is measured again.
 */
const FACTS = 3;
const VALUES = 48;
const SCATTER_AT = 8 * FACTS + 4 * VALUES;
const HOURS_AT = SCATTER_AT + 8;
const RECORD_BYTES = HOURS_AT + 12;
const EARLIER_RECORD_BYTES: readonly number[] = [SCATTER_AT + 4, SCATTER_AT + 8];
const BATCH_ROWS = 500;
const BUSY_MS_MAX = 250;
const DAY_MS = 86_400_000;
const DAYS_EARNED_MAX = 30;
/** Growth of the file, as a share of `serversMax`, after which surplus servers are counted and deleted. */
const GROWTH_MAX = 0.1;

const SCHEMA = `
CREATE TABLE IF NOT EXISTS server(
  address TEXT PRIMARY KEY, sites TEXT NOT NULL, record BLOB NOT NULL,
  last_at_ms INTEGER NOT NULL, keep_until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS server_to_forget ON server(keep_until_ms);
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${VERSION}`;

/** In the table's own order. */
const READ = "SELECT address, sites, record FROM server ORDER BY address";
const WRITE = `
INSERT INTO server VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT(address) DO UPDATE SET
  sites = ?2, record = ?3, last_at_ms = ?4, keep_until_ms = ?5
WHERE last_at_ms <= ?4`;
const FORGET = `
DELETE FROM server WHERE address IN (SELECT address FROM server ORDER BY keep_until_ms LIMIT ?)`;

export class ServerFile implements AsyncDisposable {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #thread = new StoreThread();
  readonly #checkpointer: Checkpointer;
  readonly #write: StatementSync;
  readonly #serversMax: number;
  /** The last save, because saves run one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #writtenSinceCount: number;

  constructor(path: string, database: DatabaseSync, serversMax: number) {
    this.#path = path;
    this.#database = database;
    this.#checkpointer = new Checkpointer(database, this.#thread);
    this.#write = database.prepare(WRITE);
    this.#serversMax = serversMax;
    // A crawl with a higher limit may have filled the file, so the first save counts the servers.
    this.#writtenSinceCount = serversMax;
  }

  rows(): Generator<StoredServer> {
    return readRows(this.#path, this.#database);
  }

  /** Stores the servers; returns false when it failed and should be retried later. */
  save(servers: Iterable<StoredServer>): Promise<boolean> {
    const saving = this.#last.then(() => this.#save(servers));
    this.#last = saving.catch(() => false);
    return saving;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last;
    await this.#thread.close();
    this.#database.close();
  }

  async #save(servers: Iterable<StoredServer>): Promise<boolean> {
    let batch: StoredServer[] = [];
    for (const server of servers) {
      batch.push(server);
      if (batch.length < BATCH_ROWS) continue;
      if (!this.#commit(batch)) return false;
      // The rows' buffers may change from here on, because no row is referenced any more.
      batch = [];
      await setImmediate();
    }
    return (batch.length === 0 || this.#commit(batch)) && this.#forgetSurplus();
  }

  #commit(batch: readonly StoredServer[]): boolean {
    this.#writtenSinceCount += batch.length;
    return this.#transact(() => {
      for (const server of batch) this.#write.run(...valuesOf(server));
    });
  }

  #forgetSurplus(): boolean {
    if (this.#writtenSinceCount <= GROWTH_MAX * this.#serversMax) return true;
    this.#writtenSinceCount = 0;
    return this.#transact(() => {
      const row = this.#database.prepare("SELECT count(*) AS servers FROM server").get();
      const surplus = Number(row?.["servers"]) - this.#serversMax;
      if (surplus > 0) this.#database.prepare(FORGET).run(surplus);
    });
  }

  #transact(work: () => void): boolean {
    try {
      this.#checkpointer.tend();
      this.#database.exec("BEGIN IMMEDIATE");
      work();
      this.#database.exec("COMMIT");
      return true;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      if (explained(error, this.#path) instanceof CrawlError) return false;
      throw error;
    }
  }
}

/** Opens the file, or creates an empty one. */
export function openServerFile(path: string, limits: { serversMax: number }): ServerFile {
  const database = converting(path, () => {
    isFilled(path);
    return prepared(new DatabaseSync(path, { timeout: BUSY_MS_MAX }));
  });
  return new ServerFile(path, database, limits.serversMax);
}

/** Reads the file, even while a crawl is writing; returns nothing when there is no file. */
export function* readServerFile(path: string): Generator<StoredServer> {
  const database = converting(path, () => (isFilled(path) ? openForReading(path) : undefined));
  if (database === undefined) return;
  try {
    yield* readRows(path, database);
  } finally {
    database.close();
  }
}

/** Not opened read-only, because a read-only connection cannot delete SQLite's log when it closes last. */
function openForReading(path: string): DatabaseSync {
  if (!canWriteIn(dirname(path))) return openDatabaseToRead(path, BUSY_MS_MAX);
  const database = new DatabaseSync(path, { timeout: BUSY_MS_MAX });
  database.exec("PRAGMA query_only = ON");
  return database;
}

function prepared(database: DatabaseSync): DatabaseSync {
  try {
    // The tables are created first, with a rollback journal: a kill leaves an empty or a valid file.
    const version = database.prepare("PRAGMA user_version").get()?.["user_version"];
    if (version === 0) database.exec(`BEGIN IMMEDIATE; ${SCHEMA}; COMMIT`);
    else if (version !== VERSION) database.exec(`PRAGMA user_version = ${VERSION}`);
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA cell_size_check = ON`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function* readRows(path: string, database: DatabaseSync): Generator<StoredServer> {
  const statement = converting(path, () => database.prepare(READ));
  statement.setReturnArrays(true);
  try {
    // With `setReturnArrays` each row is an array, which Node's types do not express.
    for (const row of statement.iterate() as Iterable<unknown>) {
      if (isEarlier(row as SQLOutputValue[])) continue;
      const server = serverOf(row as SQLOutputValue[]);
      if (server === undefined) throw unreadableError(path, "has a damaged record");
      yield server;
    }
  } catch (error) {
    throw convertedError(error, path);
  }
}

function valuesOf(server: StoredServer): [string, string, Uint8Array, number, number] {
  const { address, workingCount, holidayCount } = server;
  const lastAtMs = Math.round(server.lastAtMs);
  const record = new Uint8Array(RECORD_BYTES);
  new Float64Array(record.buffer, 0, FACTS).set([lastAtMs, workingCount, holidayCount]);
  const speeds = new Float32Array(record.buffer, 8 * FACTS, VALUES + 2);
  speeds.set(server.bps);
  const { mean, most } = server.scatter ?? { mean: Number.NaN, most: 0 };
  speeds.set([mean, most], VALUES);
  new Uint32Array(record.buffer, HOURS_AT, 2).set([server.workingHours, server.holidayHours]);
  const sumAt = RECORD_BYTES - 4;
  new DataView(record.buffer).setUint32(sumAt, crc32(record.subarray(0, sumAt)));
  const daysEarned = Math.min(DAYS_EARNED_MAX, workingCount + holidayCount);
  const keepUntilMs = lastAtMs + daysEarned * DAY_MS;
  return [address, JSON.stringify(server.sites), record, lastAtMs, keepUntilMs];
}

function isEarlier([, , blob]: SQLOutputValue[]): boolean {
  return blob instanceof Uint8Array && EARLIER_RECORD_BYTES.includes(blob.length);
}

function serverOf([address, sites, blob]: SQLOutputValue[]): StoredServer | undefined {
  if (!(blob instanceof Uint8Array) || blob.length !== RECORD_BYTES) return undefined;
  // A typed array needs an aligned offset, otherwise the record is copied.
  const record = blob.byteOffset % 8 === 0 ? blob : blob.slice();
  const { buffer, byteOffset } = record;
  const sumAt = blob.length - 4;
  const view = new DataView(buffer, byteOffset);
  if (crc32(record.subarray(0, sumAt)) !== view.getUint32(sumAt)) return undefined;
  const [lastAtMs = 0, workingCount = 0, holidayCount = 0] = new Float64Array(
    buffer,
    byteOffset,
    FACTS,
  );
  const [workingHours = 0, holidayHours = 0] = new Uint32Array(buffer, byteOffset + HOURS_AT, 2);
  return {
    address: String(address),
    sites: sites === "[]" ? [] : (JSON.parse(String(sites)) as string[]),
    lastAtMs,
    workingCount,
    holidayCount,
    workingHours,
    holidayHours,
    bps: new Float32Array(buffer, byteOffset + 8 * FACTS, VALUES),
    scatter: scatterOf(buffer, byteOffset),
  };
}

function scatterOf(buffer: ArrayBufferLike, byteOffset: number): StoredServer["scatter"] {
  const [mean = Number.NaN, most = 0] = new Float32Array(buffer, byteOffset + SCATTER_AT, 2);
  return Number.isNaN(mean) ? undefined : { mean, most };
}

/** Whether the file has content; throws when it is foreign, newer or truncated. */
function isFilled(path: string): boolean {
  const header = readHeader(path);
  // An empty file, created by a killed crawl or by hand, can be filled.
  if (header === undefined || header.sizeBytes === 0) return false;
  if (!header.isSqlite || header.applicationId !== APPLICATION_ID)
    throw unreadableError(path, "is not a file of server speeds");
  if (header.version > VERSION)
    throw unreadableError(
      path,
      `was written by a newer Weir: version ${header.version}, this one reads up to ${VERSION}`,
    );
  if (header.sizeBytes < header.declaredBytes)
    throw unreadableError(
      path,
      `is truncated: ${header.sizeBytes} of ${header.declaredBytes} bytes`,
    );
  return true;
}

function converting<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw convertedError(error, path);
  }
}

/** Converts an error; codes of the store become SPEEDS_UNREADABLE, because their remedies would delete the crawl. */
function convertedError(error: unknown, path: string): unknown {
  const converted = explained(error, path);
  if (!(converted instanceof CrawlError)) return converted;
  const { message } = converted;
  return isLackOfRoom(converted)
    ? converted
    : new CrawlError("SPEEDS_UNREADABLE", message, { cause: error });
}

function unreadableError(path: string, why: string): CrawlError {
  return new CrawlError("SPEEDS_UNREADABLE", `${path} ${why}.`);
}
