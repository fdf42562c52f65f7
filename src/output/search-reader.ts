/**
 * Reads one full-text index: its pages, and where words stand in its segments.
 *
 * Everything is seen as it was when the reader was opened, whatever is written meanwhile. A word costs
 * a look at one or two pieces of each segment, and then the pieces that hold its places.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { zstdDecompressSync } from "node:zlib";
import type { ArchivePlace } from "../page/page.ts";
import { explainedIndex, openToRead, PIECE_BYTES, pieceKey, searchFolder } from "./search-file.ts";
import { ENTRY_BYTES, type SegmentHead, type WordName } from "./search-segment.ts";

export interface FoundPage {
  readonly id: number;
  readonly url: string;
  readonly title: string;
  readonly language: string;
  readonly topic: string;
  readonly fetchedAtMs: number;
  /** The first half of the SHA-256 of its content. */
  readonly digest: Uint8Array;
  /** Where its text can be read; undefined when it is kept in the index, or nowhere. */
  readonly archived: ArchivePlace | undefined;
}

const TEXT_BYTES_MAX = 2 ** 26;
const PIECES_KEPT_MAX = 512;
/** Names are spread evenly, so a word is found near where its name says. */
const NEAR = 512;
/** More words than this do not make a beginning any clearer. */
const BEGINNINGS_MAX = 1_000;

export class IndexReader implements Disposable {
  /** How many pages are in, with how many words, and how far it has followed the store. */
  readonly pages: number;
  readonly words: number;
  readonly cursor: number;
  readonly segments: readonly SegmentReader[];
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #page: StatementSync;

  constructor(crawlFolder: string) {
    this.#path = searchFolder(crawlFolder);
    this.#database = openToRead(crawlFolder);
    try {
      // From here on everything is read as it is now.
      this.#database.exec("BEGIN");
      const meta = this.#database.prepare("SELECT value FROM meta WHERE key = ?");
      const [pages = 0, words = 0, cursor = 0] = ["pages", "words", "cursor"].map((key) =>
        Number(meta.get(key)?.["value"] ?? 0),
      );
      this.pages = pages;
      this.words = words;
      this.cursor = cursor;
      this.segments = segmentsOf(this.#database);
      this.#page = this.#database.prepare("SELECT * FROM page WHERE id = ?");
    } catch (error) {
      this.#database.close();
      throw explainedIndex(error, this.#path);
    }
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  page(id: number): FoundPage | undefined {
    const row = this.explaining(() => this.#page.get(id));
    if (row === undefined) return undefined;
    const file = row["file"];
    return {
      id,
      url: String(row["url"]),
      title: String(row["title"]),
      language: String(row["language"]),
      topic: String(row["topic"]),
      fetchedAtMs: Number(row["fetched_at_ms"]),
      digest: row["digest"] as Uint8Array,
      archived:
        typeof file === "string"
          ? { file, offset: Number(row["offset"]), length: Number(row["length"]) }
          : undefined,
    };
  }

  /** The text of a page, where the index keeps it. */
  keptText(id: number): string | undefined {
    const packed = this.explaining(() => this.#page.get(id)?.["text"]);
    if (!(packed instanceof Uint8Array)) return undefined;
    return zstdDecompressSync(packed, { maxOutputLength: TEXT_BYTES_MAX }).toString();
  }

  /** Runs the work, and throws what it throws in the operator's words. */
  explaining<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw explainedIndex(error, this.#path);
    }
  }
}

function segmentsOf(database: DatabaseSync): SegmentReader[] {
  const gone = database.prepare("SELECT doc FROM gone WHERE doc >= ? AND doc < ?");
  const piece = database.prepare("SELECT bytes FROM piece WHERE key = ?");
  const rows = database.prepare("SELECT * FROM segment ORDER BY first_doc").all();
  return rows.map((row) => {
    const firstDoc = Number(row["first_doc"]);
    const docs = new Uint32Array((row["docs"] as Uint8Array).slice().buffer);
    for (const { doc } of gone.all(firstDoc, firstDoc + docs.length / 2))
      docs[2 * (Number(doc) - firstDoc)] = 0;
    const [terms, letterBytes] = [Number(row["terms"]), Number(row["letter_bytes"])];
    const head = { firstDoc, terms, letterBytes };
    return new SegmentReader(
      { head, docs, bytes: Number(row["bytes"]), piece },
      Number(row["number"]),
    );
  });
}

interface SegmentParts {
  readonly head: SegmentHead;
  readonly docs: Uint32Array;
  readonly bytes: number;
  readonly piece: StatementSync;
}

export class SegmentReader {
  /** Of each page: the id of its URL, or 0 when it is gone, and its number of words. */
  readonly docs: Uint32Array;
  readonly #parts: SegmentParts;
  readonly #number: number;
  readonly #pieces = new Map<number, Buffer>();

  constructor(parts: SegmentParts, number: number) {
    this.#parts = parts;
    this.#number = number;
    this.docs = parts.docs;
  }

  /** The bytes that tell where a word stands; undefined when it stands nowhere. */
  places(name: WordName): Uint8Array | undefined {
    const { terms } = this.#parts.head;
    const high = name.high >>> 0;
    const guess = Math.floor((high / 2 ** 32) * terms);
    let from = Math.max(0, guess - NEAR);
    let to = Math.min(terms, guess + NEAR);
    if (from > 0 && this.#compare(from, name) > 0) from = 0;
    if (to < terms && this.#compare(to - 1, name) < 0) to = terms;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const order = this.#compare(middle, name);
      if (order === 0) return this.#placesOf(middle);
      if (order < 0) from = middle + 1;
      else to = middle;
    }
    return undefined;
  }

  /** The same for all words that begin with these letters. */
  placesBeginning(wanted: Uint8Array): Uint8Array[] {
    const { terms, letterBytes } = this.#parts.head;
    const start = ENTRY_BYTES * terms;
    const all = this.#bytes(start, start + letterBytes);
    const found: Uint8Array[] = [];
    for (let at = 0, term = 0; at < all.length && found.length < BEGINNINGS_MAX; term++) {
      const length = all[at] as number;
      const begins = length >= wanted.length && length > 0 && beginsAt(all, at + 1, wanted);
      if (begins) found.push(this.#placesOf(term));
      at += 1 + length;
    }
    return found;
  }

  #compare(term: number, { high, low }: WordName): number {
    const at = ENTRY_BYTES * term;
    return this.#number32(at) - (high >>> 0) || this.#number32(at + 4) - (low >>> 0);
  }

  #placesOf(term: number): Uint8Array {
    const { head, bytes } = this.#parts;
    const base = ENTRY_BYTES * head.terms + head.letterBytes;
    const start = base + this.#number32(ENTRY_BYTES * term + 8);
    const isLast = term + 1 === head.terms;
    const end = isLast ? bytes : base + this.#number32(ENTRY_BYTES * (term + 1) + 8);
    return this.#bytes(start, end);
  }

  #number32(at: number): number {
    const within = at % PIECE_BYTES;
    const piece = this.#piece((at - within) / PIECE_BYTES);
    return within + 4 <= piece.length
      ? piece.readUInt32LE(within)
      : Buffer.from(this.#bytes(at, at + 4)).readUInt32LE();
  }

  #bytes(start: number, end: number): Uint8Array {
    const first = Math.floor(start / PIECE_BYTES);
    const offset = start - first * PIECE_BYTES;
    if (offset + end - start <= PIECE_BYTES)
      return this.#piece(first).subarray(offset, offset + end - start);
    const bytes = new Uint8Array(end - start);
    for (let at = start; at < end;) {
      const within = at % PIECE_BYTES;
      const some = this.#piece((at - within) / PIECE_BYTES).subarray(within, within + end - at);
      if (some.length === 0) break;
      bytes.set(some, at - start);
      at += some.length;
    }
    return bytes;
  }

  #piece(piece: number): Buffer {
    const kept = this.#pieces.get(piece);
    if (kept !== undefined) return kept;
    const bytes = this.#parts.piece.get(pieceKey(this.#number, piece))?.["bytes"] as
      | Uint8Array
      | undefined;
    const read =
      bytes === undefined
        ? Buffer.alloc(0)
        : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    if (this.#pieces.size >= PIECES_KEPT_MAX) this.#pieces.clear();
    this.#pieces.set(piece, read);
    return read;
  }
}

function beginsAt(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let index = 0; index < wanted.length; index++)
    if (bytes[at + index] !== wanted[index]) return false;
  return true;
}
