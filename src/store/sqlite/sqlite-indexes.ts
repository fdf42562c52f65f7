/**
 * The seen indexes of a store on disk: of URLs by fingerprint, and of pages by the first 8 bytes of their digest.
 *
 * A read-only store has indexes that write nothing, and follows a running crawl by reading its new rows. They are
 * opened at the first lookup, because most queries need none.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { explaining } from "../../base/disk-trouble.ts";
import { SeenRows } from "../seen/seen-rows.ts";
import type { StoreThread } from "../seen/store-thread.ts";
import type { Batch, Fingerprints } from "../store.ts";
import type { SqliteReader } from "./sqlite-reader.ts";
import { damagedRow } from "./sqlite-rows.ts";

const SLICE_ROWS = 5_000;
/** Size of the page index relative to the URL index, because pages are fewer and looked up once each. */
const PAGE_SHARE = 1 / 8;

export interface SeenPlace {
  /** undefined for a store in memory. */
  readonly stateFolder: string | undefined;
  readonly thread: StoreThread;
  /** undefined for a read-only store and one in memory, which never start the thread. */
  readonly entriesMax: number | undefined;
}

export class SqliteIndexes {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #reader: SqliteReader;
  readonly #urls: SeenRows;
  readonly #pages: SeenRows;
  readonly #isReadOnly: boolean;

  constructor(path: string, database: DatabaseSync, reader: SqliteReader, place: SeenPlace) {
    const { stateFolder: folder, thread, entriesMax } = place;
    this.#path = path;
    this.#database = database;
    this.#reader = reader;
    this.#isReadOnly = entriesMax === undefined && folder !== undefined;
    this.#urls = new SeenRows({ folder, name: "urls", entriesMax }, this.#urlSource(), thread);
    const pagesMax = entriesMax && Math.ceil(entriesMax * PAGE_SHARE);
    const pages = { folder, name: "pages", entriesMax: pagesMax };
    this.#pages = new SeenRows(pages, this.#pageSource(), thread);
    if (!this.#isReadOnly) this.#catchUp();
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

  pageWithDigest(digest: Uint8Array): number | undefined {
    return explaining(this.#path, () => {
      if (this.#isReadOnly) this.#pages.catchUp();
      return this.#pageWith(digest);
    });
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

  close(): void {
    this.#urls.close();
    this.#pages.close();
  }

  /** Reads the rows that the indexes do not have yet. */
  #catchUp(): void {
    this.#urls.catchUp();
    this.#pages.catchUp();
  }

  #pageWith(digest: Uint8Array): number | undefined {
    const id = this.#pages.get(wordAt(digest, 0), wordAt(digest, 4));
    const found = id === 0 ? undefined : this.#reader.digestOf(id);
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
      last: () => this.#reader.lastId("url"),
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
      last: () => this.#reader.lastId("page"),
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

function isId(number: number): boolean {
  return Number.isInteger(number) && number >= 1 && number <= 0xffffffff;
}

/** 4 bytes of a digest, big-endian; missing bytes are 0. */
function wordAt(digest: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = digest.subarray(at, at + 4);
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}
