/**
 * Keeps what is known of servers between crawls, in one file that several crawls may share.
 *
 * A file of SQLite, for three reasons: only the servers measured since the last time are written;
 * two crawls that write at once both succeed, and of each server the later measurement stays; and a
 * kill at any moment leaves every server as it was before or after. Waiting for the disk is left to
 * another thread. The numbers of a server are one record with its CRC-32, because SQLite proves only
 * its structure, and because reading a column costs as much as reading all these numbers.
 *
 * Promises, each held by a test:
 *   1. a file that is not ours, newer, cut short or damaged is refused by name and not changed;
 *   2. a disk that is full, or a file that is locked, costs a save and not the crawl;
 *   3. never many more than `serversMax` servers; what goes is what was not met for the longest time,
 *      where each measurement counts as a day, up to a month.
 *
 * Half a million servers are read in about a second; a save of 500 takes some 5 ms, and more are
 * written 500 at a time, so that others get their turn.
 */

import { DatabaseSync, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { CrawlError } from "../base/errors.ts";
import { Checkpointer } from "./checkpointer.ts";
import { explained } from "./disk-trouble.ts";
import { readHeader } from "./sqlite-header.ts";
import { StoreThread } from "./store-thread.ts";

/** Its name in the folder of a crawl; outside `state/`, so that --fresh does not forget it. */
export const SERVERS_FILE = "servers.db";

/** What the file holds of a server; how the numbers come about is the speed table's business. */
export interface StoredServer {
  readonly address: string;
  readonly sites: readonly string[];
  readonly lastAtMs: number;
  readonly workingCount: number;
  readonly holidayCount: number;
  /** Bit h is set when hour h of a working day was measured; the same for holidays. */
  readonly workingHours: number;
  readonly holidayHours: number;
  /** 24 hours of a working day, then 24 of a holiday. */
  readonly bps: Float32Array;
  /** How far it strays from its predictions, on average and at most; undefined when that is not known yet. */
  readonly scatter: { readonly mean: number; readonly most: number } | undefined;
}

/** "WeiS" in ASCII, in the header of these files. */
const APPLICATION_ID = 0x57656953;
const VERSION = 3;
/**
 * A record: last_at_ms, measurements on working days and on holidays, 48 speeds, the mean scatter (NaN
 * for none) and the greatest, the measured hours of working days and of holidays, the CRC-32 of all that. Records of earlier
 * versions do not tell which hours were measured: they are not read, and are replaced when their server
 * is measured again.
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
/** Counting and forgetting wait until the file may have grown by this share. */
const GROWTH_MAX = 0.1;

const SCHEMA = `
CREATE TABLE IF NOT EXISTS server(
  address TEXT PRIMARY KEY, sites TEXT NOT NULL, record BLOB NOT NULL,
  last_at_ms INTEGER NOT NULL, keep_until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS server_to_forget ON server(keep_until_ms);
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${VERSION}`;

/** In the order of the table itself. */
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
  /** Saves go one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #writtenSinceCount: number;

  constructor(path: string, database: DatabaseSync, serversMax: number) {
    this.#path = path;
    this.#database = database;
    this.#checkpointer = new Checkpointer(database, this.#thread);
    this.#write = database.prepare(WRITE);
    this.#serversMax = serversMax;
    // Somebody with more room may have filled it, so the first save counts.
    this.#writtenSinceCount = serversMax;
  }

  rows(): Generator<StoredServer> {
    return readRows(this.#path, this.#database);
  }

  /** Stores these; false when it could not be done and should be tried again later. */
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
      // Whatever the rows are views of may change only now, when none is held.
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

/** Opens the file, or makes an empty one. */
export function openServerFile(path: string, limits: { serversMax: number }): ServerFile {
  const database = opened(path, () => {
    isFilled(path);
    return prepared(new DatabaseSync(path, { timeout: BUSY_MS_MAX }));
  });
  return new ServerFile(path, database, limits.serversMax);
}

/** For looking on, beside a crawl that may be writing; nothing where there is no file. */
export function* readServerFile(path: string): Generator<StoredServer> {
  const database = opened(path, () => (isFilled(path) ? openToLook(path) : undefined));
  if (database === undefined) return;
  try {
    yield* readRows(path, database);
  } finally {
    database.close();
  }
}

/** Not opened as read-only: such a reader could not clear SQLite's log away when it is the last to go. */
function openToLook(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: BUSY_MS_MAX });
  database.exec("PRAGMA query_only = ON");
  return database;
}

function prepared(database: DatabaseSync): DatabaseSync {
  try {
    // The tables first, with a plain journal: a kill leaves an empty file or one that says it is ours.
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
  const statement = opened(path, () => database.prepare(READ));
  statement.setReturnArrays(true);
  try {
    // With `setReturnArrays` each row is an array, which the types of Node do not say.
    for (const row of statement.iterate() as Iterable<unknown>) {
      if (isEarlier(row as SQLOutputValue[])) continue;
      const server = serverOf(row as SQLOutputValue[]);
      if (server === undefined) throw unreadable(path, "is damaged inside");
      yield server;
    }
  } catch (error) {
    throw inWords(error, path);
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
  // Numbers can be seen in place only where they lie at a multiple of their size.
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

/** Whether there is something in the file; throws when that is not ours, or not whole. */
function isFilled(path: string): boolean {
  const header = readHeader(path);
  // Made and not yet filled, by a crawl that was killed or by hand: there is nothing to lose.
  if (header === undefined || header.sizeBytes === 0) return false;
  if (!header.isSqlite || header.applicationId !== APPLICATION_ID)
    throw unreadable(path, "is no file of server speeds");
  if (header.version > VERSION)
    throw unreadable(
      path,
      `was written by a newer Weir: version ${header.version}, this one knows ${VERSION}`,
    );
  if (header.sizeBytes < header.saidBytes)
    throw unreadable(path, `is cut short: ${header.sizeBytes} of ${header.saidBytes} bytes`);
  return true;
}

function opened<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw inWords(error, path);
  }
}

/** The store's words, except where its remedies would cost the crawl's own files. */
function inWords(error: unknown, path: string): unknown {
  const told = explained(error, path);
  if (!(told instanceof CrawlError) || told.code === "DISK_FULL") return told;
  return new CrawlError("SPEEDS_UNREADABLE", told.message, { cause: error });
}

function unreadable(path: string, why: string): CrawlError {
  return new CrawlError("SPEEDS_UNREADABLE", `${path} ${why}.`);
}
