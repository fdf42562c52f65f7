/**
 * Browses the store of one process: sorted pages of sites, and the URLs with one outcome. Works beside a
 * crawl that is writing.
 *
 * Opens only the database, because the seen indexes take long to load and are not needed. A query for
 * URLs reads a bounded number of rows and returns where to continue, so that a rare outcome among ten
 * million URLs takes many short queries instead of a long one.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { PageRecord } from "../../page/page.ts";
import { explaining } from "../disk-trouble.ts";
import { findStore } from "../folder.ts";
import { openDatabaseReadOnly } from "../sqlite/sqlite-file.ts";
import { SqliteReader } from "../sqlite/sqlite-reader.ts";
import type { SiteRow, StoredUrl, Totals } from "../store.ts";

/** Rows read by one query for URLs. */
const ROWS_READ_MAX = 200_000;

export const SITE_ORDERS = ["site", "known", "pending", "pages", "bytes"] as const;
export type SiteOrder = (typeof SITE_ORDERS)[number];

export interface SiteQuery {
  readonly order: SiteOrder;
  readonly descending: boolean;
  /** Only sites whose name contains this text; empty for all. */
  readonly find: string;
  /** Sites to leave out. */
  readonly without: readonly string[];
  readonly from: number;
  readonly count: number;
}

export interface SiteCounts {
  readonly site: string;
  readonly known: number;
  readonly pending: number;
  readonly pages: number;
  readonly bytes: number;
}

export interface EndedPage {
  readonly urls: readonly StoredUrl[];
  /** Where to continue; undefined when there are no more. */
  readonly nextAfterId: number | undefined;
}

export class PartBrowser implements Disposable {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #reader: SqliteReader;

  constructor(folder: string) {
    this.#path = findStore(folder).database;
    this.#database = explaining(this.#path, () => openDatabaseReadOnly(this.#path));
    this.#reader = new SqliteReader(this.#database);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  get totals(): Totals {
    return explaining(this.#path, () => this.#reader.readTotals());
  }

  recall(key: string): string | undefined {
    return explaining(this.#path, () => this.#reader.recall(key));
  }

  site(key: string): SiteRow | undefined {
    return explaining(this.#path, () => this.#reader.siteByKey(key));
  }

  url(id: number): StoredUrl | undefined {
    return explaining(this.#path, () => this.#reader.url(id));
  }

  page(id: number): PageRecord | undefined {
    return explaining(this.#path, () => this.#reader.page(id));
  }

  /** Number of matching sites. */
  countSites({ find, without }: Pick<SiteQuery, "find" | "without">): number {
    return explaining(this.#path, () => {
      const counted = this.#prepare(`SELECT count(*) FROM site WHERE ${matching(without)}`);
      const [count] = counted.get(find, find, ...without) as unknown as [number];
      return count;
    });
  }

  sites(query: SiteQuery): SiteCounts[] {
    const { order, descending, find, without, from, count } = query;
    const column = order === "site" ? "key" : order;
    const direction = descending ? "DESC" : "ASC";
    return explaining(this.#path, () => {
      const statement = this.#prepare(
        `SELECT key, known, pending, pages, bytes FROM site WHERE ${matching(without)}
         ORDER BY ${column} ${direction}, id LIMIT ? OFFSET ?`,
      );
      const rows = statement.all(find, find, ...without, count, from) as unknown as [
        string,
        number,
        number,
        number,
        number,
      ][];
      return rows.map(([site, known, pending, pages, bytes]) => {
        return { site, known, pending, pages, bytes };
      });
    });
  }

  /** URLs with this outcome and an id above `afterId`, in order of id. */
  ended(reason: string, afterId: number, count: number): EndedPage {
    return explaining(this.#path, () => {
      const untilId = afterId + ROWS_READ_MAX;
      const statement = this.#prepare(
        `SELECT id FROM url WHERE id > ? AND id <= ?
           AND state = (SELECT id FROM state WHERE name = ?) ORDER BY id LIMIT ?`,
      );
      const rows = statement.all(afterId, untilId, reason, count) as unknown as [number][];
      const urls = rows.flatMap(([id]) => this.#reader.url(id) ?? []);
      const readUntilId = urls.length < count ? untilId : (urls.at(-1)?.id ?? untilId);
      const isOver = readUntilId >= this.#reader.lastId("url");
      return { urls, nextAfterId: isOver ? undefined : readUntilId };
    });
  }

  #prepare(sql: string): StatementSync {
    return this.#database.prepare(sql, { returnArrays: true });
  }
}

/** The condition of a query for sites; every value is a parameter. */
function matching(without: readonly string[]): string {
  const others = without.map(() => "?").join(", ");
  return `(? = '' OR instr(key, ?) > 0) AND key NOT IN (${others})`;
}
