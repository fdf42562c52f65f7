/**
 * The store on disk: SQLite for the rows, and sorted runs for the URL-seen test.
 *
 * A commit is one transaction in SQLite's write-ahead log, so a kill leaves all of it or nothing. It
 * does not wait for the disk: commits are synced within a second outside the main thread, so a power
 * cut loses at most one second. Another thread moves the log into the file (`checkpointer.ts`,
 * `store-worker.ts`). Known URLs are looked up in a seen index, which caches the rows.
 *
 * Files in `folder`: the marker `weir.json`, and `state/` with `crawl.db`, which any SQLite tool can
 * read, the runs, and `lock.db`. Reasons and figures: docs/decisions/002-store.md.
 */

import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { descriptorShortage } from "../../base/descriptors.ts";
import { CrawlError } from "../../base/errors.ts";
import type { PageRecord } from "../../page/page.ts";
import type { Visits } from "../../page/visits.ts";
import { checkBatch } from "../batch.ts";
import { Checkpointer } from "./checkpointer.ts";
import { explained, explaining, freeBytes } from "../../base/disk-trouble.ts";
import { claimFolder, findStore } from "../folder.ts";
import type { Claim } from "../folder.ts";
import { checkRows, createDatabase, openDatabase } from "./sqlite-file.ts";
import { openDatabaseReadOnly, prepared } from "./sqlite-file.ts";
import type { SqliteIndexes } from "./sqlite-indexes.ts";
import { type OnDamagedRow, SqliteReader } from "./sqlite-reader.ts";
import { SqliteWriter } from "./sqlite-writer.ts";
import type { Batch, Fingerprints, SiteRow, Store } from "../store.ts";
import type {
  EndedUrl,
  NumberedPage,
  OutgoingParcel,
  PageTopic,
  StoredUrl,
  Totals,
  WaitingUrl,
} from "../store.ts";
import { StoreThread } from "../seen/store-thread.ts";
import type { Fingerprint } from "../../url/fingerprint.ts";

/** SQLite's name for a database without a file. */
const IN_MEMORY = ":memory:";
const SYNC_AFTER_MS = 1_000;
const SPACE_CHECK_EVERY_MS = 1_000;

interface StoreLimits {
  /** Size of SQLite's page cache. */
  readonly cacheBytesMax: number;
  /** Fingerprints in memory before they are written out; 76 bytes each in total. */
  readonly seenEntriesMax: number;
  /** Commits fail with DISK_FULL below this free space. */
  readonly freeBytesMin: number;
  /** Syncs the data that commits refer to, before the commits themselves are synced. */
  readonly beforeSync: () => Promise<void>;
}

const STORE_LIMITS: StoreLimits = {
  cacheBytesMax: 32 * 2 ** 20,
  seenEntriesMax: 2 ** 19,
  freeBytesMin: 0,
  beforeSync: () => Promise.resolve(),
};

/** Opens the crawl of a folder, or creates one in an empty or missing folder. */
export function openStore(folder: string, limits: Partial<StoreLimits> = {}): Store {
  const claim = claimFolder(folder);
  const all = { ...STORE_LIMITS, ...limits };
  const { database: path, isReady } = claim;
  try {
    const database = isReady ? openDatabase(path, all) : createDatabase(path, all);
    return new SqliteStore(database, claim, all);
  } catch (error) {
    claim.release();
    throw explained(error, claim.database);
  }
}

/**
 * Opens a store in memory: nothing is written to disk. It keeps all promises of a store, except that it ends with its
 * database; with the same database it can be opened again.
 */
export function openMemoryStore(database = new DatabaseSync(IN_MEMORY)): Store {
  return new SqliteStore(prepared(database, STORE_LIMITS), undefined, STORE_LIMITS);
}

/** Opens the store of one process for reading. With `onDamagedRow`, damaged rows are reported and left out. */
export function openReader(folder: string, onDamagedRow?: OnDamagedRow): SqliteReader {
  const { stateFolder, database: path } = findStore(folder);
  return explaining(path, () => {
    const database = openDatabaseReadOnly(path);
    const place = { stateFolder, thread: new StoreThread(), entriesMax: undefined };
    const reader = cleaningUpAfter(
      () => new SqliteReader(path, database, place),
      () => database.close(),
    );
    reader.onDamagedRow = onDamagedRow;
    return reader;
  });
}

class SqliteStore implements Store {
  /** undefined for a store in memory. */
  readonly #claim: Claim | undefined;
  readonly #path: string;
  readonly #limits: StoreLimits;
  readonly #reader: SqliteReader;
  readonly #indexes: SqliteIndexes;
  readonly #writer: SqliteWriter;
  readonly #thread: StoreThread;
  readonly #checkpointer: Checkpointer | undefined;
  #nextUrlId: number;
  #nextSiteId: number;
  #totals: Totals;
  #marks: Readonly<Record<string, number>>;
  #syncTimer: NodeJS.Timeout | undefined;
  #spaceCheckedAtMs = -Infinity;
  #sitesAreIndexed = false;
  /** Set when a sync has failed; all later changes throw it. */
  #broken: CrawlError | undefined;

  constructor(database: DatabaseSync, claim: Claim | undefined, limits: StoreLimits) {
    this.#claim = claim;
    this.#limits = limits;
    const path = (this.#path = claim?.database ?? IN_MEMORY);
    const thread = new StoreThread();
    const open = () => {
      if (claim?.isReady === false) claim.markReady();
      const place = {
        stateFolder: claim?.stateFolder,
        thread,
        entriesMax: claim && limits.seenEntriesMax,
      };
      const opened = new SqliteReader(path, database, place);
      checkRows(path, opened);
      return { reader: opened, indexes: opened.indexes };
    };
    this.#thread = thread;
    const { reader, indexes } = cleaningUpAfter(open, () => {
      void thread.close();
      database.close();
    });
    this.#reader = reader;
    this.#indexes = indexes;
    this.#writer = new SqliteWriter(database, reader.lastId("page") + 1, reader.readOutbox());
    this.#checkpointer = claim && new Checkpointer(database, thread);
    this.#nextUrlId = reader.lastId("url") + 1;
    this.#nextSiteId = reader.lastId("site") + 1;
    this.#totals = reader.totals;
    this.#marks = reader.marks;
  }

  get nextUrlId(): number {
    return this.#nextUrlId;
  }

  get nextSiteId(): number {
    return this.#nextSiteId;
  }

  get lastPageSeq(): number {
    return this.#writer.nextSeq - 1;
  }

  get nextParcelSeq(): number {
    return this.#writer.outbox.nextParcelSeq;
  }

  get outboxCount(): number {
    return this.#writer.outbox.outboxCount;
  }

  get outboxBytes(): number {
    return this.#writer.outbox.outboxBytes;
  }

  get totals(): Totals {
    return this.#totals;
  }

  get marks(): Readonly<Record<string, number>> {
    return this.#marks;
  }

  recall(key: string): string | undefined {
    return this.#reader.recall(key);
  }

  remember(key: string, value: string): void {
    this.#change(() => this.#writer.remember(key, value));
  }

  lookup(fingerprints: Fingerprints): Uint32Array {
    return this.#reader.lookup(fingerprints);
  }

  waiting(siteId: number, countMax: number): WaitingUrl[] {
    return this.#reader.waiting(siteId, countMax);
  }

  sites(): Iterable<SiteRow> {
    return this.#reader.sites();
  }

  sitesWithWork(afterId: number, countMax: number): SiteRow[] {
    return this.#reader.sitesWithWork(afterId, countMax);
  }

  siteByKey(key: string): SiteRow | undefined {
    return this.#reader.siteByKey(key);
  }

  url(id: number): StoredUrl | undefined {
    return this.#reader.url(id);
  }

  urls(): Iterable<StoredUrl> {
    return this.#reader.urls();
  }

  seedTargets(): Iterable<string> {
    return this.#reader.seedTargets();
  }

  page(id: number): PageRecord | undefined {
    return this.#reader.page(id);
  }

  pages(): Iterable<PageRecord> {
    return this.#reader.pages();
  }

  pagesAfter(seq: number): Iterable<NumberedPage> {
    return this.#reader.pagesAfter(seq);
  }

  pageWithDigest(digest: Uint8Array): number | undefined {
    return this.#reader.pageWithDigest(digest);
  }

  leastPages(countMax: number): Fingerprint[] {
    return this.#reader.leastPages(countMax);
  }

  topicOf(id: number): PageTopic | undefined {
    return this.#reader.topicOf(id);
  }

  pageTopics(): Iterable<PageTopic> {
    return this.#reader.pageTopics();
  }

  ended(siteId: number, afterId: number, countMax: number): EndedUrl[] {
    this.#indexSites();
    return this.#reader.ended(siteId, afterId, countMax);
  }

  urlsOfSite(siteId: number, afterId: number, countMax: number): StoredUrl[] {
    this.#indexSites();
    return this.#reader.urlsOfSite(siteId, afterId, countMax);
  }

  outbox(afterSeq: number, countMax: number): OutgoingParcel[] {
    return this.#reader.outbox(afterSeq, countMax);
  }

  visits(id: number): Visits | undefined {
    return this.#reader.visits(id);
  }

  commit(batch: Batch): void {
    checkBatch(batch, this);
    this.#change(() => this.#writer.writeBatch(batch));
    this.#indexes.admit(batch, this.#writer.nextSeq - 1);
    this.#nextUrlId += batch.urls.length;
    for (const site of batch.sites) this.#nextSiteId = Math.max(this.#nextSiteId, site.id + 1);
    this.#totals = batch.totals;
    this.#marks = batch.marks;
  }

  async sync(): Promise<void> {
    clearTimeout(this.#syncTimer);
    this.#syncTimer = undefined;
    if (this.#broken !== undefined) throw this.#broken;
    if (this.#claim === undefined) return;
    await this.#limits.beforeSync();
    try {
      await syncFile(`${this.#path}-wal`);
      await syncFile(this.#claim.stateFolder);
    } catch (error) {
      // Without a descriptor nothing was synced yet, and the next commit tries again.
      const shortage = descriptorShortage(error, this.#path);
      if (shortage !== undefined) throw shortage;
      // After a failed sync the system drops the page, and a repeated sync would succeed without
      // writing it. Only reopening shows the state on disk.
      this.#broken = asBroken(error, this.#path);
      throw this.#broken;
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#syncTimer);
    await this.#thread.close();
    if (this.#claim === undefined) return this.#indexes.close();
    await this.#reader.close();
    this.#claim.release();
  }

  #indexSites(): void {
    if (!this.#sitesAreIndexed) this.#change(() => this.#writer.indexSites());
    this.#sitesAreIndexed = true;
  }

  /** Runs one transaction, after all other steps that can fail. */
  #change(work: () => void): void {
    if (this.#broken !== undefined) throw this.#broken;
    explaining(this.#path, () => {
      this.#checkSpace();
      this.#indexes.makeRoom();
      this.#checkpointer?.tend();
      this.#writer.transact(work);
    });
    if (this.#claim === undefined) return;
    // A failure is thrown at the next change.
    this.#syncTimer ??= setTimeout(() => this.sync().catch(() => {}), SYNC_AFTER_MS).unref();
  }

  #checkSpace(): void {
    if (this.#claim === undefined) return;
    const nowMs = performance.now();
    if (nowMs < this.#spaceCheckedAtMs + SPACE_CHECK_EVERY_MS) return;
    const { stateFolder, database } = this.#claim;
    if (!existsSync(database))
      throw new CrawlError("FOLDER_UNWRITABLE", `${database} was deleted while in use`);
    const bytes = freeBytes(stateFolder);
    if (bytes !== undefined && bytes < this.#limits.freeBytesMin)
      throw new CrawlError("DISK_FULL", `${stateFolder}: only ${bytes} bytes are free`);
    this.#spaceCheckedAtMs = nowMs;
  }
}

export function cleaningUpAfter<T>(work: () => T, cleanUp: () => void): T {
  try {
    return work();
  } catch (error) {
    cleanUp();
    throw error;
  }
}

/** Waits until all writes to the file or folder are on disk. */
async function syncFile(path: string): Promise<void> {
  await using file = await open(path, "r");
  await file.datasync();
}

function asBroken(error: unknown, path: string): CrawlError {
  const converted = explained(error, path);
  return converted instanceof CrawlError
    ? converted
    : new CrawlError("FOLDER_UNWRITABLE", `${path}: ${String(error)}`, { cause: error });
}
