/**
 * Joins the sites of several stores: each site once, with a new number and the sums of its counts.
 *
 * Each process has its own numbers of sites. A joined site gets its number when it is first read, so the numbers
 * count from 1 without gaps and stay the same while the view is open. Memory: each site's key once, and 8 bytes
 * per store.
 */

import type { ListedRows } from "./listed-rows.ts";
import { sumOf } from "./joined-totals.ts";
import type { ReadableStore } from "../store.ts";
import type { SiteRow, StoredRound } from "../store.ts";

/** A site's row in one of the stores. */
interface Part {
  readonly index: number;
  readonly row: SiteRow;
}

export class JoinedSites {
  readonly #stores: readonly ReadableStore[];
  readonly #listed: ListedRows;
  readonly #ids = new Map<string, number>();
  /** By store: the joined number of each of its own numbers. */
  readonly #joinedIds: readonly number[][];
  /** By store: its own number of each joined number. */
  readonly #ownIds: readonly number[][];

  constructor(stores: readonly ReadableStore[], listed: ListedRows) {
    this.#stores = stores;
    this.#listed = listed;
    this.#joinedIds = stores.map(() => []);
    this.#ownIds = stores.map(() => []);
    for (const index of stores.keys()) this.#number(index);
  }

  /** The joined number of a store's site. */
  idOf(index: number, siteId: number): number {
    const known = this.#joinedIds[index]?.[siteId];
    if (known !== undefined) return known;
    // A running crawl has added the site since the last pass.
    this.#number(index);
    return this.#joinedIds[index]?.[siteId] ?? 0;
  }

  /** A store's own number of a joined site; undefined when the store does not have the site. */
  ownIdOf(index: number, id: number): number | undefined {
    return this.#ownIds[index]?.[id];
  }

  *rows(): Iterable<SiteRow> {
    for (const [index, store] of this.#stores.entries())
      for (const row of store.sites()) {
        const id = this.idOf(index, row.id);
        if (this.#firstWith(id) !== index) continue;
        const site = this.#joined(id, [{ index, row }, ...this.#partsAfter(index, id, row.key)]);
        if (isListed(site)) yield site;
      }
  }

  byKey(key: string): SiteRow | undefined {
    const parts = this.#stores.flatMap((store, index): Part[] => {
      const row = store.siteByKey(key);
      return row === undefined ? [] : [{ index, row }];
    });
    const [first] = parts;
    if (first === undefined) return undefined;
    const site = this.#joined(this.idOf(first.index, first.row.id), parts);
    return isListed(site) ? site : undefined;
  }

  #number(index: number): void {
    const joinedIds = this.#joinedIds[index] as number[];
    const ownIds = this.#ownIds[index] as number[];
    for (const { id: siteId, key } of this.#stores[index]?.sites() ?? []) {
      const id = this.#ids.get(key) ?? this.#ids.size + 1;
      this.#ids.set(key, id);
      joinedIds[siteId] = id;
      ownIds[id] = siteId;
    }
  }

  #firstWith(id: number): number {
    return this.#ownIds.findIndex((own) => own[id] !== undefined);
  }

  #partsAfter(index: number, id: number, key: string): Part[] {
    return this.#stores.flatMap((store, later): Part[] => {
      const isThere = later > index && this.ownIdOf(later, id) !== undefined;
      const row = isThere ? store.siteByKey(key) : undefined;
      return row === undefined ? [] : [{ index: later, row }];
    });
  }

  #joined(id: number, parts: readonly Part[]): SiteRow {
    return { ...joinedRow(parts.map((part) => this.#listedOf(part))), id };
  }

  #listedOf({ index, row }: Part): SiteRow {
    const less = this.#listed.hiddenOfSite(index, row.id);
    const [known, pending] = [row.known - less.known, row.pending - less.pending];
    return { ...row, known, pending, pages: row.pages - less.pages };
  }
}

/** A site is listed unless all its URLs here were sent to other processes. */
function isListed({ known, bytes }: SiteRow): boolean {
  return known > 0 || bytes > 0;
}

/** Joins the rows of a site from several processes. */
export function joinedRow(rows: readonly SiteRow[]): SiteRow {
  const sum = (of: (row: SiteRow) => number): number =>
    rows.reduce((total, row) => total + of(row), 0);
  // Fields that cannot be summed are from the process that received most bytes of the site.
  const main = rows.reduce((a, b) => (b.bytes > a.bytes ? b : a));
  const robots = rows.flatMap((row) => row.robots ?? []);
  return {
    ...main,
    known: sum(({ known }) => known),
    pending: sum(({ pending }) => pending),
    pages: sum(({ pages }) => pages),
    bytes: sum(({ bytes }) => bytes),
    ledger: sumOf(rows.map(({ ledger }) => ledger)),
    robots: robots.toSorted((a, b) => b.fetchedAtMs - a.fetchedAtMs)[0],
    sitemapsRead: rows.some(({ sitemapsRead }) => sitemapsRead),
    round: joinedRound(
      main.round,
      rows.flatMap(({ round }) => round ?? []),
    ),
  };
}

/** The round of the main process, with the news and the earlier bytes of all processes in the same round. */
function joinedRound(
  main: StoredRound | undefined,
  rounds: readonly StoredRound[],
): StoredRound | undefined {
  if (main === undefined) return undefined;
  const same = rounds.filter(({ number }) => number === main.number);
  const bytesBefore = same.reduce((sum, round) => sum + round.bytesBefore, 0);
  return { ...main, bytesBefore, news: sumOf(same.map(({ news }) => news)) };
}
