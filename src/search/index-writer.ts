/**
 * Writes pages into a full-text index, many in one commit.
 *
 * The cursor is the sequence number of the last page of the store that is in the index, with all before it. It is
 * written with the pages, so a kill leaves both as of the last commit. Putting a page again replaces it.
 */

import { isAscii } from "node:buffer";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import type { ArchivePlace } from "../page/page.ts";
import { unpackText, wordBytes } from "../page/packed-text.ts";
import { canonicalUrl, type CanonicalUrl, hostOf, isRefused } from "../url/url.ts";
import { explainedIndex, openToWrite, searchFolder, type Stemming } from "./index-file.ts";
import { wordsApart } from "./words-apart.ts";

/** A page to be indexed. */
export interface IndexedPage {
  /** The id of its URL. */
  readonly id: number;
  readonly url: string;
  readonly title: string;
  readonly language: string;
  /** Empty if the page was not classified. */
  readonly topic: string;
  readonly fetchedAtMs: number;
  readonly digest: Uint8Array;
  readonly archived: ArchivePlace | undefined;
  /** Its visible text, as `packText` returns it (the index may change these bytes) or decoded. */
  readonly text: Uint8Array | string;
}

export interface IndexWriterOptions {
  /** True without an archive to read the texts from. */
  readonly keepsText: boolean;
  /** Stemming of a new index; an existing one keeps its own. */
  readonly stemming: Stemming;
}

/** Bytes kept of a SHA-256; half of it excludes accidental equality. */
const DIGEST_BYTES = 16;

export class IndexWriter {
  readonly keepsText: boolean;
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof prepareAll>;
  #cursor = 0;
  #pages = 0;
  readonly #wasClosed: boolean;
  #isWriting = false;

  constructor(crawlFolder: string, { keepsText, stemming }: IndexWriterOptions) {
    this.#path = searchFolder(crawlFolder);
    this.#database = openToWrite(crawlFolder, stemming);
    this.#statements = prepareAll(this.#database);
    this.keepsText = keepsText;
    this.#restoreCounters();
    this.#wasClosed = this.#meta("closed") === 1;
  }

  /** The sequence number of the last page of the store in the index, with all before it. */
  get cursor(): number {
    return this.#cursor;
  }

  /** True if the last writer closed the index properly. */
  get wasClosed(): boolean {
    return this.#cursor === 0 || this.#wasClosed;
  }

  put(page: IndexedPage): void {
    this.#write(() => {
      const packed = typeof page.text === "string" ? undefined : page.text;
      const kept = this.keepsText
        ? Buffer.from(packed ? unpackText(packed) : page.text)
        : undefined;
      const text = kept ?? (packed ? wordBytes(packed) : Buffer.from(page.text));
      this.#drop(page.id);
      const { archived } = page;
      this.#statements.page.run(
        page.id,
        page.url,
        hostOf(page.url),
        page.title,
        page.language,
        page.topic,
        page.fetchedAtMs,
        page.digest.subarray(0, DIGEST_BYTES),
        archived?.file ?? null,
        archived?.offset ?? null,
        archived?.length ?? null,
        kept === undefined ? null : zstdCompressSync(kept),
      );
      const url = everySpelling(page.url);
      this.#statements.words.run(page.id, wordsApart(page.title), url, indexable(text));
      this.#pages += 1;
    });
  }

  /** Removes a page; returns true if it was in the index. */
  remove(id: number): boolean {
    return this.#write(() => this.#drop(id));
  }

  /** The ids of all pages in the index. */
  *ids(): Generator<number> {
    for (const row of this.#statements.ids.iterate()) yield Number(row["id"]);
  }

  /** True if the index has the page with this content. */
  holds(id: number, digest: Uint8Array): boolean {
    const held = this.#statements.digest.get(id)?.["digest"];
    return (
      held instanceof Uint8Array && Buffer.compare(held, digest.subarray(0, DIGEST_BYTES)) === 0
    );
  }

  /** Commits all pages put so far, with the cursor up to which the index follows the store. */
  commit(cursor: number): void {
    if (cursor === this.#cursor && !this.#isWriting) return;
    this.#write(() => {
      this.#cursor = cursor;
      this.#finish(0);
    });
  }

  /** Commits all pages put so far and closes the index. */
  close(): void {
    try {
      this.#write(() => this.#finish(1));
      this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } finally {
      this.#database.close();
    }
  }

  /** Closes the index with the state of the last commit. */
  abandon(): void {
    this.#database.close();
  }

  #finish(closed: 0 | 1): void {
    const { remember } = this.#statements;
    remember.run("cursor", this.#cursor);
    remember.run("pages", this.#pages);
    remember.run("closed", closed);
    this.#database.exec("COMMIT");
    this.#isWriting = false;
  }

  #drop(id: number): boolean {
    if (this.#statements.dropPage.run(id).changes === 0n) return false;
    this.#statements.dropWords.run(id);
    this.#pages -= 1;
    return true;
  }

  #meta(key: string): number {
    return Number(this.#statements.meta.get(key)?.["value"] ?? 0);
  }

  #write<T>(work: () => T): T {
    try {
      if (!this.#isWriting) this.#database.exec("BEGIN IMMEDIATE");
      this.#isWriting = true;
      return work();
    } catch (error) {
      this.#isWriting = false;
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      this.#restoreCounters();
      throw explainedIndex(error, this.#path);
    }
  }

  /** Restores the counters of the last commit. */
  #restoreCounters(): void {
    this.#cursor = this.#meta("cursor");
    this.#pages = this.#meta("pages");
  }
}

/** Words of the URL as it was written and in its canonical form. */
function everySpelling(url: string): string {
  const canonical = url.includes("%") ? canonicalUrl(url) : (url as CanonicalUrl);
  return isRefused(canonical) || canonical === url ? url : `${url} ${canonical}`;
}

/** The text for FTS5, which reads UTF-8 bytes; a string only where characters are set apart. */
function indexable(text: Uint8Array): Uint8Array | string {
  return isAscii(text)
    ? text
    : wordsApart(Buffer.from(text.buffer, text.byteOffset, text.length).toString());
}

function prepareAll(database: DatabaseSync) {
  const writing = (sql: string): StatementSync => {
    const statement = database.prepare(sql);
    // FTS5's internal row ids exceed the safe integers, and Node reads the last one after each write.
    statement.setReadBigInts(true);
    return statement;
  };
  return {
    page: writing("INSERT INTO page VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
    words: writing("INSERT INTO words (rowid, title, url, text) VALUES (?, ?, ?, ?)"),
    dropPage: writing("DELETE FROM page WHERE id = ?"),
    dropWords: writing("DELETE FROM words WHERE rowid = ?"),
    remember: writing("INSERT OR REPLACE INTO meta VALUES (?, ?)"),
    ids: database.prepare("SELECT id FROM page"),
    digest: database.prepare("SELECT digest FROM page WHERE id = ?"),
    meta: database.prepare("SELECT value FROM meta WHERE key = ?"),
  };
}
