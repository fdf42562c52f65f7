/**
 * The read side of a store on disk, for the crawl itself and for read-only users.
 *
 * Combines the rows with two seen indexes: of URLs by fingerprint, and of pages by the first 8 bytes of
 * their digest. A read-only view has indexes that write nothing, and follows a running crawl by reading
 * its new rows.
 */

import { join } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { PageRecord } from "../../page/page.ts";
import type { Visits } from "../../page/visits.ts";
import { explaining, explainingEach } from "../disk-trouble.ts";
import { SeenRows } from "../seen/seen-rows.ts";
import { SqliteReader } from "./sqlite-reader.ts";
import type { StoreThread } from "../seen/store-thread.ts";
import { damagedRow } from "./sqlite-rows.ts";
import type { Batch, Fingerprints, ReadableStore, SiteRow } from "../store.ts";
import type {
  EndedUrl,
  NumberedPage,
  OutgoingParcel,
  PageTopic,
  StoredUrl,
  Totals,
  WaitingUrl,
} from "../store.ts";
import type { Fingerprint } from "../../url/fingerprint.ts";

const SLICE_ROWS = 5_000;
/** Size of the page index relative to the URL index, because pages are fewer and looked up once each. */
const PAGE_SHARE = 1 / 8;

export class SqliteView implements ReadableStore {
  readonly reader: SqliteReader;
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #urls: SeenRows;
  readonly #pages: SeenRows;
  readonly #isReadOnly: boolean;

  /** `seenEntriesMax` is undefined for a read-only view, which never starts the thread. */
  constructor(
    database: DatabaseSync,
    stateFolder: string,
    thread: StoreThread,
    seenEntriesMax: number | undefined,
  ) {
    this.#path = join(stateFolder, "crawl.db");
    this.#database = database;
    this.#isReadOnly = seenEntriesMax === undefined;
    this.reader = new SqliteReader(database);
    const urls = { folder: stateFolder, name: "urls", entriesMax: seenEntriesMax };
    this.#urls = new SeenRows(urls, this.#urlSource(), thread);
    const entriesMax = seenEntriesMax && Math.ceil(seenEntriesMax * PAGE_SHARE);
    this.#pages = new SeenRows({ ...urls, name: "pages", entriesMax }, this.#pageSource(), thread);
    // A read-only view catches up at each query that needs an index; most queries need none.
    if (!this.#isReadOnly) this.catchUp();
  }

  get totals(): Totals {
    return explaining(this.#path, () => this.reader.readTotals());
  }

  get lastPageSeq(): number {
    return explaining(this.#path, () => this.reader.lastId("page"));
  }

  get marks(): Readonly<Record<string, number>> {
    return explaining(this.#path, () => this.reader.readMarks());
  }

  recall(key: string): string | undefined {
    return explaining(this.#path, () => this.reader.recall(key));
  }

  lookup(fingerprints: Fingerprints): Uint32Array {
    return explaining(this.#path, () => {
      if (this.#isReadOnly) this.#urls.catchUp();
      const { high, low, count } = fingerprints;
      const ids = new Uint32Array(count);
      for (let index = 0; index < count; index++)
        ids[index] = this.#urls.get(high[index] as number, low[index] as number);
      return ids;
    });
  }

  waiting(siteId: number, countMax: number): WaitingUrl[] {
    return explaining(this.#path, () => this.reader.waiting(siteId, countMax));
  }

  sites(): Iterable<SiteRow> {
    return explainingEach(this.#path, this.reader.sites());
  }

  sitesWithWork(afterId: number, countMax: number): SiteRow[] {
    return explaining(this.#path, () => this.reader.sitesWithWork(afterId, countMax));
  }

  siteByKey(key: string): SiteRow | undefined {
    return explaining(this.#path, () => this.reader.siteByKey(key));
  }

  ended(siteId: number, afterId: number, countMax: number): EndedUrl[] {
    return explaining(this.#path, () => this.reader.ended(siteId, afterId, countMax));
  }

  visits(id: number): Visits | undefined {
    return explaining(this.#path, () => this.reader.visits(id));
  }

  urlsOfSite(siteId: number, afterId: number, countMax: number): StoredUrl[] {
    return explaining(this.#path, () => this.reader.urlsOfSite(siteId, afterId, countMax));
  }

  outbox(afterSeq: number, countMax: number): OutgoingParcel[] {
    return explaining(this.#path, () => this.reader.outbox(afterSeq, countMax));
  }

  seedTargets(): Iterable<string> {
    return explainingEach(this.#path, this.reader.seedTargets());
  }

  url(id: number): StoredUrl | undefined {
    return explaining(this.#path, () => this.reader.url(id));
  }

  urls(): Iterable<StoredUrl> {
    return explainingEach(this.#path, this.reader.urls());
  }

  page(id: number): PageRecord | undefined {
    return explaining(this.#path, () => this.reader.page(id));
  }

  pages(): Iterable<PageRecord> {
    return pagesOf(this.pagesAfter(0));
  }

  pagesAfter(seq: number): Iterable<NumberedPage> {
    return explainingEach(this.#path, this.reader.pagesAfter(seq));
  }

  pageWithDigest(digest: Uint8Array): number | undefined {
    return explaining(this.#path, () => {
      if (this.#isReadOnly) this.#pages.catchUp();
      return this.#pageWith(digest);
    });
  }

  leastPages(countMax: number): Fingerprint[] {
    return explaining(this.#path, () => this.reader.leastPages(countMax));
  }

  topicOf(id: number): PageTopic | undefined {
    return explaining(this.#path, () => this.reader.topicOf(id));
  }

  pageTopics(): Iterable<PageTopic> {
    return explainingEach(this.#path, this.reader.pageTopics());
  }

  /** Call before a commit: hands over full tables, or throws when they cannot be written. */
  makeRoom(): void {
    this.#urls.makeRoom();
    this.#pages.makeRoom();
  }

  /** Call after a commit: adds its rows to the indexes. */
  admit(batch: Batch, lastSeq: number): void {
    for (const { fingerprintHigh, fingerprintLow, id } of batch.urls)
      this.#urls.set(fingerprintHigh, fingerprintLow, id);
    const lastUrl = batch.urls.at(-1);
    if (lastUrl !== undefined) this.#urls.advance(lastUrl.id);
    for (const { digest, id } of batch.pages) this.#admitPage(digest, id);
    this.#pages.advance(lastSeq);
  }

  /** Reads the rows that the indexes do not have yet. */
  catchUp(): void {
    this.#urls.catchUp();
    this.#pages.catchUp();
  }

  async close(): Promise<void> {
    this.#urls.close();
    this.#pages.close();
    this.#database.close();
  }

  #pageWith(digest: Uint8Array): number | undefined {
    const id = this.#pages.get(wordAt(digest, 0), wordAt(digest, 4));
    const found = id === 0 ? undefined : this.reader.digestOf(id);
    // The index has only 8 bytes of the digest, and the row may have changed, so both are compared.
    return found !== undefined && Buffer.compare(found, digest) === 0 ? id : undefined;
  }

  #admitPage(digest: Uint8Array, id: number): void {
    if (this.#pageWith(digest) === undefined)
      this.#pages.set(wordAt(digest, 0), wordAt(digest, 4), id);
  }

  #urlSource() {
    const some = this.#slice("SELECT id, high, low FROM url WHERE id > ? ORDER BY id");
    return {
      last: () => this.reader.lastId("url"),
      setSome: (after: number) => {
        const rows = some.all(after) as unknown as [id: number, high: number, low: number][];
        for (const [id, high, low] of rows) this.#urls.set(high >>> 0, low >>> 0, id);
        return rows.at(-1)?.[0] ?? after;
      },
    };
  }

  #pageSource() {
    const some = this.#slice("SELECT seq, url, digest FROM page WHERE seq > ? ORDER BY seq");
    return {
      last: () => this.reader.lastId("page"),
      setSome: (after: number) => {
        const rows = some.all(after) as unknown as [seq: number, id: number, Uint8Array][];
        for (const [seq, id, digest] of rows) {
          // A row's checksum is verified only when it is read completely, so its values are checked here.
          if (!isId(id) || !(digest instanceof Uint8Array)) throw damagedRow("page", seq);
          this.#admitPage(digest, id);
        }
        return rows.at(-1)?.[0] ?? after;
      },
    };
  }

  #slice(sql: string): StatementSync {
    return this.#database.prepare(`${sql} LIMIT ${SLICE_ROWS}`, { returnArrays: true });
  }
}

function* pagesOf(numbered: Iterable<NumberedPage>): Iterable<PageRecord> {
  for (const { page } of numbered) yield page;
}

function isId(number: number): boolean {
  return Number.isInteger(number) && number >= 1 && number <= 0xffffffff;
}

/** 4 bytes of a digest, big-endian; missing bytes are 0. */
function wordAt(digest: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = digest.subarray(at, at + 4);
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}
