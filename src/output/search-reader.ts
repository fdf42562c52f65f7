/**
 * Asks one full-text index: which pages match, best first, and how common words are in it.
 *
 * Scores are SQLite's BM25 (Robertson and Zaragoza 2009, k1 = 1.2, b = 0.75) over title, address
 * and text, where a word in the title counts as four and one in the address as two. Only reads, and
 * sees whole commits, so a crawl may be writing meanwhile.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { zstdDecompressSync } from "node:zlib";
import type { ArchivePlace } from "../page/page.ts";
import { topicWord } from "./search-facets.ts";
import { explainedIndex, openToRead, searchFolder } from "./search-file.ts";
import { matchOfTerm, type Term } from "./search-query.ts";

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

/** Higher is better. */
export interface Scored {
  readonly id: number;
  readonly score: number;
}

const WEIGHTS = "4.0, 2.0, 1.0, 0.0";
const TEXT_BYTES_MAX = 2 ** 26;

export class IndexReader implements Disposable {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #best: StatementSync;
  readonly #some: StatementSync;
  readonly #count: StatementSync;
  readonly #page: StatementSync;
  readonly #text: StatementSync;
  readonly #meta: StatementSync;

  constructor(crawlFolder: string) {
    this.#path = searchFolder(crawlFolder);
    this.#database = openToRead(crawlFolder);
    const score = `-bm25(words, ${WEIGHTS})`;
    this.#best = this.#prepare(
      `SELECT rowid AS id, ${score} AS score FROM words WHERE words MATCH ?
       ORDER BY bm25(words, ${WEIGHTS}), rowid LIMIT ?`,
    );
    // The plus keeps SQLite from searching anew for every id: one pass over the term's pages is faster.
    this.#some = this.#prepare(
      `SELECT rowid AS id, ${score} AS score FROM words
       WHERE words MATCH ? AND +rowid IN (SELECT value FROM json_each(?))`,
    );
    this.#count = this.#prepare("SELECT count(*) AS pages FROM words WHERE words MATCH ?");
    this.#page = this.#prepare("SELECT * FROM page WHERE id = ?");
    this.#text = this.#prepare("SELECT text FROM page WHERE id = ?");
    this.#meta = this.#prepare("SELECT value FROM meta WHERE key = ?");
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  /** How many pages are in. */
  get pages(): number {
    return this.#ask(() => Number(this.#meta.get("pages")?.["value"] ?? 0));
  }

  /** How far it has followed the store. */
  get cursor(): number {
    return this.#ask(() => Number(this.#meta.get("cursor")?.["value"] ?? 0));
  }

  best(match: string, countMax: number): Scored[] {
    return this.#ask(() => this.#best.all(match, countMax).map(scoredFrom));
  }

  /** What a single term adds to the scores of some pages. */
  scoresOf(term: Term, ids: readonly number[]): Map<number, number> {
    const rows = this.#ask(() => this.#some.all(matchOfTerm(term), JSON.stringify(ids)));
    return new Map(rows.map(scoredFrom).map(({ id, score }) => [id, score]));
  }

  pagesMatching(match: string): number {
    return this.#ask(() => Number(this.#count.get(match)?.["pages"]));
  }

  pagesWith(term: Term): number {
    return this.pagesMatching(matchOfTerm(term));
  }

  pagesOfTopic(topic: string): number {
    return this.pagesMatching(`facet : "${topicWord(topic)}"`);
  }

  page(id: number): FoundPage | undefined {
    const row = this.#ask(() => this.#page.get(id));
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
    const packed = this.#ask(() => this.#text.get(id)?.["text"]);
    if (!(packed instanceof Uint8Array)) return undefined;
    return zstdDecompressSync(packed, { maxOutputLength: TEXT_BYTES_MAX }).toString();
  }

  #prepare(sql: string): StatementSync {
    return this.#ask(() => this.#database.prepare(sql));
  }

  #ask<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw explainedIndex(error, this.#path);
    }
  }
}

function scoredFrom(row: Record<string, unknown>): Scored {
  return { id: Number(row["id"]), score: Number(row["score"]) };
}
