/** Reads a full-text index as of its opening: pages that a crawl adds later are not seen. */

import { type DatabaseSync, type StatementSync } from "node:sqlite";
import { zstdDecompressSync } from "node:zlib";
import type { ArchivePlace } from "../page/page.ts";
import { explainedIndex, openToRead, searchFolder, type Stemming } from "./index-file.ts";

export interface FoundPage {
  readonly id: number;
  readonly url: string;
  readonly title: string;
  readonly language: string;
  readonly topic: string;
  readonly fetchedAtMs: number;
  readonly digest: Uint8Array;
  readonly archived: ArchivePlace | undefined;
}

/** Upper bound for the text of an archived page. */
const TEXT_BYTES_MAX = 64 * 2 ** 20;

export type Row = Readonly<Record<string, unknown>>;
type Values = Readonly<Record<string, string | number | null>>;

export class IndexReader {
  readonly pages: number;
  readonly cursor: number;
  readonly stemming: Stemming;
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #page: StatementSync;

  constructor(crawlFolder: string) {
    this.#path = searchFolder(crawlFolder);
    this.#database = openToRead(crawlFolder);
    try {
      // Holds a read transaction, so that all reads see the state at opening.
      this.#database.exec("BEGIN");
      const meta = this.#database.prepare("SELECT value FROM meta WHERE key = ?");
      this.pages = Number(meta.get("pages")?.["value"] ?? 0);
      this.cursor = Number(meta.get("cursor")?.["value"] ?? 0);
      this.stemming = meta.get("stemming")?.["value"] === "none" ? "none" : "english";
      this.#page = this.#database.prepare("SELECT * FROM page WHERE id = ?");
    } catch (error) {
      this.#database.close();
      throw explainedIndex(error, this.#path);
    }
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  /** Runs one statement; errors of SQLite become operator's errors. */
  rows(sql: string, values: Values): Row[] {
    return this.#explaining(() => this.#database.prepare(sql).all(values));
  }

  page(id: number): FoundPage | undefined {
    const row = this.#explaining(() => this.#page.get(id));
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

  /** The text of a page, if the index stores it. */
  keptText(id: number): string | undefined {
    const packed = this.#explaining(() => this.#page.get(id)?.["text"]);
    if (!(packed instanceof Uint8Array)) return undefined;
    return zstdDecompressSync(packed, { maxOutputLength: TEXT_BYTES_MAX }).toString();
  }

  #explaining<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw explainedIndex(error, this.#path);
    }
  }
}
