/**
 * Writes pages into a full-text index, many in one commit.
 *
 * The cursor says how far the index has followed the store: every page numbered up to it is in. It
 * is written with the pages, so a kill leaves both as they were. A page that comes again replaces
 * itself. Words are gathered in memory and become a segment when there are enough, or when a commit
 * is asked for; small segments of like size become one. About 60 µs a page of 800 words.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import type { ArchivePlace } from "../page/page.ts";
import { unpackText, wordBytes } from "../page/packed-text.ts";
import { facetsOf } from "./search-facets.ts";
import { explainedIndex, openToWrite, PIECE_BYTES, pieceKey, searchFolder } from "./search-file.ts";
import { mergedSegment } from "./search-merge.ts";
import { type Segment, SegmentBuilder } from "./search-segment.ts";

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
  /** Its visible text, as `packText` gives it (and changed by whoever indexes it) or ready to read. */
  readonly text: Uint8Array | string;
}

/** Half of a SHA-256 is beyond accident. */
const DIGEST_BYTES = 16;
/**
 * So many segments in a row are merged when they are alike and small, as those of a slow crawl are. Full
 * ones are left as they are: a word costs 40 µs in each, and merging would cost every page a fifth more.
 */
const MERGE_COUNT = 8;
const MERGED_BYTES_MAX = 8 * 2 ** 20;

export class IndexWriter {
  readonly keepsText: boolean;
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof prepareAll>;
  #builder: SegmentBuilder;
  #cursor = 0;
  #pages = 0;
  #words = 0;
  #isWriting = false;

  /** `keepsText` when there is no archive to read the texts from. */
  constructor(crawlFolder: string, keepsText: boolean) {
    this.#path = searchFolder(crawlFolder);
    this.#database = openToWrite(crawlFolder);
    this.#statements = prepareAll(this.#database);
    this.keepsText = keepsText;
    this.#builder = this.#restart();
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
      const { archived } = page;
      const packed = typeof page.text === "string" ? undefined : page.text;
      const kept = this.keepsText
        ? Buffer.from(packed ? unpackText(packed) : page.text)
        : undefined;
      const doc = this.#builder.nextDoc;
      this.#drop(page.id);
      const words = this.#builder.add(page.id, {
        title: Buffer.from(page.title),
        url: Buffer.from(page.url),
        text: kept ?? (packed ? wordBytes(packed) : Buffer.from(page.text)),
        facets: facetsOf(page),
      });
      this.#statements.page.run(
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
        doc,
        words,
        kept === undefined ? null : zstdCompressSync(kept),
      );
      this.#pages += 1;
      this.#words += words;
      if (this.#builder.isFull) this.#flush();
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
      this.#flush();
      this.#cursor = cursor;
      this.#finish(0);
    });
  }

  /** Keeps what is put. */
  close(): void {
    try {
      this.#write(() => {
        this.#flush();
        this.#finish(1);
      });
      this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } finally {
      this.#database.close();
    }
  }

  /** Leaves the file as it was after the last commit. */
  abandon(): void {
    this.#database.close();
  }

  #finish(closed: 0 | 1): void {
    const { remember } = this.#statements;
    remember.run("cursor", this.#cursor);
    remember.run("pages", this.#pages);
    remember.run("words", this.#words);
    remember.run("closed", closed);
    this.#database.exec("COMMIT");
    this.#isWriting = false;
  }

  #drop(id: number): boolean {
    const { place, dropPage, gone } = this.#statements;
    const row = place.get(id);
    if (row === undefined) return false;
    const doc = Number(row["doc"]);
    dropPage.run(id);
    if (doc >= this.#builder.firstDoc) this.#builder.forget(doc);
    else gone.run(doc);
    this.#pages -= 1;
    this.#words -= Number(row["words"]);
    return true;
  }

  /** What is gathered becomes a segment, and segments of like size become one. */
  #flush(): void {
    if (this.#builder.isEmpty) return;
    this.#store(this.#builder.finish());
    this.#statements.remember.run("next_doc", this.#builder.nextDoc);
    for (let numbers = this.#mergeable(); numbers.length > 0; numbers = this.#mergeable())
      this.#merge(numbers);
  }

  #store(segment: Segment): void {
    const { addSegment, addPiece, lastSegment } = this.#statements;
    const number = Number(lastSegment.get()?.["number"] ?? 0) + 1;
    const { firstDoc, terms, letterBytes, bytes, docs } = segment;
    const docBytes = new Uint8Array(docs.buffer, docs.byteOffset, docs.byteLength);
    addSegment.run(number, firstDoc, terms, letterBytes, bytes.length, docBytes);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      addPiece.run(pieceKey(number, at / PIECE_BYTES), bytes.subarray(at, at + PIECE_BYTES));
  }

  /** The last segments, if there are enough of them and none is much larger than the rest together. */
  #mergeable(): number[] {
    const rows = this.#statements.segments.all().map((row) => ({
      number: Number(row["number"]),
      bytes: Number(row["bytes"]),
    }));
    const last = rows.slice(-MERGE_COUNT);
    const bytes = last.reduce((sum, row) => sum + row.bytes, 0);
    const most = Math.max(...last.map((row) => row.bytes));
    const isAlike = most <= (MERGE_COUNT / 2) * (bytes / MERGE_COUNT);
    const isEnough = last.length === MERGE_COUNT && isAlike && bytes <= MERGED_BYTES_MAX;
    return isEnough ? last.map(({ number }) => number) : [];
  }

  #merge(numbers: readonly number[]): void {
    const { dropSegment, dropPieces, dropGone } = this.#statements;
    const segments = numbers.map((number) => this.#load(number));
    const merged = mergedSegment(segments);
    for (const number of numbers) {
      dropSegment.run(number);
      dropPieces.run(pieceKey(number, 0), pieceKey(number + 1, 0));
    }
    dropGone.run(merged.firstDoc, merged.firstDoc + merged.docs.length / 2);
    this.#store(merged);
  }

  #load(number: number): Segment {
    const { segment, pieces, goneIn } = this.#statements;
    const row = segment.get(number) ?? {};
    const firstDoc = Number(row["first_doc"]);
    const docs = new Uint32Array((row["docs"] as Uint8Array).slice().buffer);
    for (const { doc } of goneIn.all(firstDoc, firstDoc + docs.length / 2))
      docs[2 * (Number(doc) - firstDoc)] = 0;
    const bytes = new Uint8Array(Number(row["bytes"]));
    let at = 0;
    for (const piece of pieces.iterate(pieceKey(number, 0), pieceKey(number + 1, 0))) {
      const some = piece["bytes"] as Uint8Array;
      bytes.set(some, at);
      at += some.length;
    }
    const [terms, letterBytes] = [Number(row["terms"]), Number(row["letter_bytes"])];
    return { firstDoc, terms, letterBytes, docs, bytes };
  }

  #write<T>(work: () => T): T {
    try {
      if (!this.#isWriting) this.#database.exec("BEGIN IMMEDIATE");
      this.#isWriting = true;
      return work();
    } catch (error) {
      this.#isWriting = false;
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      this.#builder = this.#restart();
      throw explainedIndex(error, this.#path);
    }
  }

  /** As the last commit left it. */
  #restart(): SegmentBuilder {
    this.#pages = this.#meta("pages");
    this.#words = this.#meta("words");
    this.#cursor = this.#meta("cursor");
    return new SegmentBuilder(this.#meta("next_doc"));
  }

  #meta(key: string): number {
    return Number(this.#statements.recall.get(key)?.["value"] ?? 0);
  }
}

const SQL = {
  page: `INSERT INTO page VALUES (${Array.from({ length: 13 }, () => "?").join(", ")})`,
  dropPage: "DELETE FROM page WHERE id = ?",
  place: "SELECT doc, words FROM page WHERE id = ?",
  gone: "INSERT OR IGNORE INTO gone VALUES (?)",
  goneIn: "SELECT doc FROM gone WHERE doc >= ? AND doc < ?",
  dropGone: "DELETE FROM gone WHERE doc >= ? AND doc < ?",
  ids: "SELECT id FROM page ORDER BY id",
  digest: "SELECT digest FROM page WHERE id = ?",
  segments: "SELECT number, bytes FROM segment ORDER BY first_doc",
  segment: "SELECT * FROM segment WHERE number = ?",
  lastSegment: "SELECT max(number) AS number FROM segment",
  addSegment: "INSERT INTO segment VALUES (?, ?, ?, ?, ?, ?)",
  dropSegment: "DELETE FROM segment WHERE number = ?",
  pieces: "SELECT bytes FROM piece WHERE key >= ? AND key < ? ORDER BY key",
  addPiece: "INSERT INTO piece VALUES (?, ?)",
  dropPieces: "DELETE FROM piece WHERE key >= ? AND key < ?",
  recall: "SELECT value FROM meta WHERE key = ?",
  remember: "INSERT OR REPLACE INTO meta VALUES (?, ?)",
} as const;

function prepareAll(database: DatabaseSync): Readonly<Record<keyof typeof SQL, StatementSync>> {
  const prepared = Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)] as const);
  return Object.fromEntries(prepared) as Record<keyof typeof SQL, StatementSync>;
}
