/**
 * Writes pages into a full-text index, many in one commit.
 *
 * The cursor says how far the index has followed the store: every page numbered up to it is in. It
 * is written with the pages, so a kill leaves both as they were. A page that comes again replaces
 * itself. Costs about 65 µs a page of 500 words when a thousand are committed together, and more the
 * fewer they are: every commit writes a segment, and segments have to be merged.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import type { ArchivePlace } from "../page/page.ts";
import { unpackText } from "../page/packed-text.ts";
import { facetWords } from "./search-facets.ts";
import { explainedIndex, openToWrite, searchFolder } from "./search-file.ts";

/** A page as the index takes it. */
export interface IndexedPage {
  /** The id of its URL. */
  readonly id: number;
  readonly url: string;
  readonly title: string;
  readonly language: string;
  /** Empty when nobody has said. */
  readonly topic: string;
  readonly fetchedAtMs: number;
  readonly digest: Uint8Array;
  readonly archived: ArchivePlace | undefined;
  /** Its visible text, as `packText` gives it or ready to read. */
  readonly text: Uint8Array | string;
}

/** Half of a SHA-256 is beyond accident. */
const DIGEST_BYTES = 16;

// These write no blanks between words: each character counts as one, and a word is a row of them.
const UNSPACED = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/;
const UNSPACED_ALL = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/g;

/** Text as the full-text table can cut it into words. */
export function spaced(text: string): string {
  return UNSPACED.test(text) ? text.replace(UNSPACED_ALL, " $& ") : text;
}

export class IndexWriter {
  readonly keepsText: boolean;
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof prepareAll>;
  #cursor: number;
  #pages: number;
  #isWriting = false;

  /** `keepsText` when there is no archive to read the texts from. */
  constructor(crawlFolder: string, keepsText: boolean) {
    this.#path = searchFolder(crawlFolder);
    this.#database = openToWrite(crawlFolder);
    this.#statements = prepareAll(this.#database);
    this.keepsText = keepsText;
    this.#cursor = this.#meta("cursor");
    this.#pages = this.#meta("pages");
  }

  /** The number of the last page of the store that is in, with all before it. */
  get cursor(): number {
    return this.#cursor;
  }

  get pages(): number {
    return this.#pages;
  }

  /** Whether it was closed in good order the last time. */
  get wasClosed(): boolean {
    return this.#cursor === 0 || this.#meta("closed") === 1;
  }

  put(page: IndexedPage): void {
    this.#write(() => {
      const { page: insertPage, words } = this.#statements;
      this.#drop(page.id);
      const { archived } = page;
      const text = typeof page.text === "string" ? page.text : unpackText(page.text);
      insertPage.run(
        page.id,
        page.url,
        page.title,
        page.language,
        page.topic,
        page.fetchedAtMs,
        page.digest.subarray(0, DIGEST_BYTES),
        archived?.file ?? null,
        archived?.offset ?? null,
        archived?.length ?? null,
        this.keepsText ? zstdCompressSync(Buffer.from(text)) : null,
      );
      words.run(page.id, spaced(page.title), page.url, spaced(text), facetWords(page));
      this.#pages += 1;
    });
  }

  /** Takes a page out; answers whether it was in. */
  remove(id: number): boolean {
    return this.#write(() => this.#drop(id));
  }

  /** Of every page that is in. */
  *ids(): Generator<number> {
    for (const row of this.#statements.ids.iterate()) yield Number(row["id"]);
  }

  /** Whether it is in with this content. */
  holds(id: number, digest: Uint8Array): boolean {
    const held = this.#statements.digest.get(id)?.["digest"];
    return (
      held instanceof Uint8Array && Buffer.compare(held, digest.subarray(0, DIGEST_BYTES)) === 0
    );
  }

  /** Ends the commit: everything put is in, and the store has been followed so far. */
  commit(cursor: number): void {
    if (cursor === this.#cursor && !this.#isWriting) return;
    this.#write(() => {
      this.#cursor = cursor;
      this.#remember("cursor", cursor);
      this.#remember("pages", this.#pages);
      this.#remember("closed", 0);
      this.#database.exec("COMMIT");
      this.#isWriting = false;
    });
  }

  /** Keeps what is put. */
  close(): void {
    try {
      this.#write(() => this.#remember("closed", 1));
      this.#remember("pages", this.#pages);
      this.#database.exec("COMMIT");
      this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } finally {
      this.#database.close();
    }
  }

  /** Leaves the file as it was after the last commit. */
  abandon(): void {
    this.#database.close();
  }

  #drop(id: number): boolean {
    const { dropPage, dropWords } = this.#statements;
    if (Number(dropPage.run(id).changes) === 0) return false;
    dropWords.run(id);
    this.#pages -= 1;
    return true;
  }

  #write<T>(work: () => T): T {
    try {
      if (!this.#isWriting) this.#database.exec("BEGIN IMMEDIATE");
      this.#isWriting = true;
      return work();
    } catch (error) {
      this.#isWriting = false;
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      this.#pages = this.#meta("pages");
      this.#cursor = this.#meta("cursor");
      throw explainedIndex(error, this.#path);
    }
  }

  #meta(key: string): number {
    return Number(this.#statements.recall.get(key)?.["value"] ?? 0);
  }

  #remember(key: string, value: number): void {
    this.#statements.remember.run(key, value);
  }
}

function prepareAll(
  database: DatabaseSync,
): Readonly<
  Record<
    "page" | "words" | "dropPage" | "dropWords" | "ids" | "digest" | "recall" | "remember",
    StatementSync
  >
> {
  const marks = Array.from({ length: 11 }, () => "?").join(", ");
  // Rows of the full-text table's own have numbers beyond what JavaScript can count, and are told.
  const change = (sql: string): StatementSync => {
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    return statement;
  };
  return {
    page: change(`INSERT INTO page VALUES (${marks})`),
    words: change("INSERT INTO words(rowid, title, url, text, facet) VALUES (?, ?, ?, ?, ?)"),
    dropPage: change("DELETE FROM page WHERE id = ?"),
    dropWords: change("DELETE FROM words WHERE rowid = ?"),
    remember: change("INSERT OR REPLACE INTO meta VALUES (?, ?)"),
    ids: database.prepare("SELECT id FROM page ORDER BY id"),
    digest: database.prepare("SELECT digest FROM page WHERE id = ?"),
    recall: database.prepare("SELECT value FROM meta WHERE key = ?"),
  };
}
