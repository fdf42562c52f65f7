/**
 * Browses a crawl of one or several processes: sorted pages of sites, and the URLs with one outcome.
 * Works beside a crawl that is writing.
 *
 * With several processes the stores are queried separately, without reading all URLs: a query costs its
 * result and one pass over the sites. Therefore a URL fetched by two processes counts twice here;
 * `joined-view.ts` counts exactly. A URL's number consists of its process's index and its id there.
 */

import { basename } from "node:path";
import type { PageRecord } from "../../page/page.ts";
import type { EndedPage, SiteCounts, SiteQuery } from "../browse-query.ts";
import type { SqliteReader } from "../sqlite/sqlite-reader.ts";
import { openReader } from "../sqlite/store-sqlite.ts";
import { hasStore } from "../folder.ts";
import { joinedRow } from "./joined-sites.ts";
import { joinedTotals } from "./joined-totals.ts";
import type { SiteRow, StoredUrl, Totals } from "../store.ts";
import { partFolders, storeFolders } from "../team-file.ts";

const NUMBERS_OF_PART = 2 ** 32;
/** SQLite's value for no limit. */
const NO_LIMIT = -1;

export class StoreBrowser implements Disposable {
  readonly #folders: readonly string[];
  readonly #opened: (SqliteReader | undefined)[];

  constructor(folder: string) {
    // Throws when no process has a store yet.
    storeFolders(folder);
    this.#folders = partFolders(folder);
    this.#opened = this.#folders.map(() => undefined);
  }

  [Symbol.dispose](): void {
    for (const part of this.#opened) void part?.close();
  }

  get totals(): Totals {
    return this.#only?.totals ?? joinedTotals(this.#parts.map(({ totals }) => totals));
  }

  recall(key: string): string | undefined {
    return this.#parts.map((part) => part.recall(key)).find((value) => value !== undefined);
  }

  site(key: string): SiteRow | undefined {
    const rows = this.#parts.flatMap((part) => part.siteByKey(key) ?? []);
    return rows.length === 0 ? undefined : { ...joinedRow(rows), known: knownOf(rows) };
  }

  url(id: number): StoredUrl | undefined {
    const index = indexOf(id);
    const row = this.#part(index)?.url(ownOf(id));
    return row && renumbered(index, row);
  }

  page(id: number): PageRecord | undefined {
    const index = indexOf(id);
    const page = this.#part(index)?.page(ownOf(id));
    return page && this.#pageOf(index, page);
  }

  /** Number of matching sites. */
  countSites(query: Pick<SiteQuery, "find" | "without">): number {
    return this.#only?.countSites(query) ?? this.#joinedSites(query).length;
  }

  sites(query: SiteQuery): SiteCounts[] {
    return this.#only?.siteCounts(query) ?? this.#sortedSites(query);
  }

  /** URLs with this outcome and an id above `afterId`, in order of id. */
  ended(reason: string, afterId: number, count: number): EndedPage {
    const first = indexOf(afterId);
    for (let index = first; index < this.#folders.length; index++) {
      const found = this.#part(index)?.urlsWith(
        reason,
        index === first ? ownOf(afterId) : 0,
        count,
      );
      const isLast = index === this.#folders.length - 1;
      const urls = found?.urls.map((row) => renumbered(index, row)) ?? [];
      const next = found?.nextAfterId;
      if (next !== undefined) return { urls, nextAfterId: idOf(index, next) };
      if (urls.length > 0) return { urls, nextAfterId: isLast ? undefined : idOf(index + 1, 0) };
    }
    return { urls: [], nextAfterId: undefined };
  }

  /** The only store of a crawl by one process; otherwise undefined. */
  get #only(): SqliteReader | undefined {
    return this.#folders.length === 1 ? this.#part(0) : undefined;
  }

  /** The stores that exist now. */
  get #parts(): SqliteReader[] {
    return this.#folders.flatMap((_, index) => this.#part(index) ?? []);
  }

  #part(index: number): SqliteReader | undefined {
    const folder = this.#folders[index];
    if (folder === undefined) return undefined;
    return (this.#opened[index] ??= hasStore(folder) ? openReader(folder) : undefined);
  }

  #sortedSites(query: SiteQuery): SiteCounts[] {
    const { order, descending, from, count } = query;
    const ascending = (a: SiteCounts, b: SiteCounts): number =>
      a[order] < b[order] ? -1 : a[order] > b[order] ? 1 : 0;
    const sorted = this.#joinedSites(query).sort(
      (a, b) => (descending ? ascending(b, a) : ascending(a, b)) || (a.site < b.site ? -1 : 1),
    );
    return sorted.slice(from, from + count);
  }

  #joinedSites({ find, without }: Pick<SiteQuery, "find" | "without">): SiteCounts[] {
    const all = { order: "site", descending: false, from: 0, count: NO_LIMIT } as const;
    const rows = this.#parts.flatMap((part) => part.siteCounts({ ...all, find, without }));
    return Array.from(Map.groupBy(rows, ({ site }) => site).values(), joinedCounts);
  }

  #pageOf(index: number, page: PageRecord): PageRecord {
    if (this.#folders.length === 1) return page;
    const { id, likeness, archived } = page;
    const name = basename(this.#folders[index] ?? "");
    return {
      ...page,
      id: idOf(index, id),
      likeness: likeness && { ...likeness, ofId: idOf(index, likeness.ofId) },
      archived: archived && { ...archived, file: `${name}/archive/${archived.file}` },
    };
  }
}

function joinedCounts(rows: readonly SiteCounts[]): SiteCounts {
  const sum = (of: (row: SiteCounts) => number): number =>
    rows.reduce((total, row) => total + of(row), 0);
  return {
    site: rows[0]?.site ?? "",
    known: knownOf(rows),
    pending: sum(({ pending }) => pending),
    pages: sum(({ pages }) => pages),
    bytes: sum(({ bytes }) => bytes),
  };
}

/** A process without pages, bytes or waiting URLs of a site knows only URLs that other processes own. */
function knownOf(rows: readonly Omit<SiteCounts, "site">[]): number {
  const own = rows.filter(({ pending, pages, bytes }) => pending + pages + bytes > 0);
  if (own.length === 0) return Math.max(...rows.map(({ known }) => known));
  return own.reduce((sum, { known }) => sum + known, 0);
}

function idOf(index: number, own: number): number {
  return index * NUMBERS_OF_PART + own;
}

function indexOf(id: number): number {
  return Math.floor(id / NUMBERS_OF_PART);
}

function ownOf(id: number): number {
  return id % NUMBERS_OF_PART;
}

function renumbered(index: number, row: StoredUrl): StoredUrl {
  const { id, redirectedFromId: from } = row;
  const redirectedFromId = from === 0 ? 0 : idOf(index, from);
  return { ...row, id: idOf(index, id), redirectedFromId };
}
