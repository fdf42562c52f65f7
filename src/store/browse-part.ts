/**
 * What only people ask of a store, asked of the store of one process: sites in some order, page by page,
 * and the URLs that ended for one reason. For looking on, beside a crawl that may be writing.
 *
 * Opens the database alone: the indexes of what was seen take long to load, and nobody here needs
 * them. A question about URLs reads a bounded number of rows and says where to go on, so that a rare
 * reason among ten million URLs costs many short questions and not one long one.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { PageRecord } from "../page/page.ts";
import { explaining } from "./disk-trouble.ts";
import { findStore } from "./folder.ts";
import { openDatabaseReadOnly } from "./sqlite-file.ts";
import { SqliteReader } from "./sqlite-reader.ts";
import type { SiteRow, StoredUrl, Totals } from "./store.ts";

/** Rows looked at for one question about URLs. */
const ROWS_LOOKED_AT_MAX = 200_000;

export const SITE_ORDERS = ["site", "known", "pending", "pages", "bytes"] as const;
export type SiteOrder = (typeof SITE_ORDERS)[number];

export interface SiteWish {
  readonly order: SiteOrder;
  readonly descending: boolean;
  /** Only sites whose name holds these letters; empty for all. */
  readonly find: string;
  /** Left out, because the asker has them. */
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
  /** Where to go on; undefined when there are no more. */
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

  /** How many sites are meant, those left out not counted. */
  countSites({ find, without }: Pick<SiteWish, "find" | "without">): number {
    return explaining(this.#path, () => {
      const counted = this.#prepare(`SELECT count(*) FROM site WHERE ${meant(without)}`);
      const [count] = counted.get(find, find, ...without) as unknown as [number];
      return count;
    });
  }

  sites(wish: SiteWish): SiteCounts[] {
    const { order, descending, find, without, from, count } = wish;
    const column = order === "site" ? "key" : order;
    const direction = descending ? "DESC" : "ASC";
    return explaining(this.#path, () => {
      const asked = this.#prepare(
        `SELECT key, known, pending, pages, bytes FROM site WHERE ${meant(without)}
         ORDER BY ${column} ${direction}, id LIMIT ? OFFSET ?`,
      );
      const rows = asked.all(find, find, ...without, count, from) as unknown as [
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

  /** URLs that ended for a reason with an id above `afterId`, in order of id. */
  ended(reason: string, afterId: number, count: number): EndedPage {
    return explaining(this.#path, () => {
      const untilId = afterId + ROWS_LOOKED_AT_MAX;
      const asked = this.#prepare(
        `SELECT id FROM url WHERE id > ? AND id <= ?
           AND state = (SELECT id FROM state WHERE name = ?) ORDER BY id LIMIT ?`,
      );
      const rows = asked.all(afterId, untilId, reason, count) as unknown as [number][];
      const urls = rows.flatMap(([id]) => this.#reader.url(id) ?? []);
      const lookedTo = urls.length < count ? untilId : (urls.at(-1)?.id ?? untilId);
      const isOver = lookedTo >= this.#reader.lastId("url");
      return { urls, nextAfterId: isOver ? undefined : lookedTo };
    });
  }

  #prepare(sql: string): StatementSync {
    return this.#database.prepare(sql, { returnArrays: true });
  }
}

/** Of what was asked for, without what was left out; every value is a parameter. */
function meant(without: readonly string[]): string {
  const others = without.map(() => "?").join(", ");
  return `(? = '' OR instr(key, ?) > 0) AND key NOT IN (${others})`;
}
