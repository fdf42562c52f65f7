/**
 * The sites of several stores as those of one crawl: numbered anew, each once, with their counts added up.
 *
 * Every process numbers the sites it knows for itself. Here a site gets its number where it is first met, so
 * numbers count up from 1 without gaps, and stay while the view is open. Memory: a site's key once, and 8 bytes
 * for every store.
 */

import type { ListedRows } from "./listed-rows.ts";
import { sumOf } from "./joined-totals.ts";
import type { ReadableStore } from "./sqlite-view.ts";
import type { SiteRow, StoredRound } from "./store.ts";

/** A site as one of the stores has it. */
interface Part {
  readonly index: number;
  readonly row: SiteRow;
}

export class JoinedSites {
  readonly #stores: readonly ReadableStore[];
  readonly #listed: ListedRows;
  readonly #ids = new Map<string, number>();
  /** By store: our number by its own, and its own by ours. */
  readonly #ours: readonly number[][];
  readonly #theirs: readonly number[][];

  constructor(stores: readonly ReadableStore[], listed: ListedRows) {
    this.#stores = stores;
    this.#listed = listed;
    this.#ours = stores.map(() => []);
    this.#theirs = stores.map(() => []);
    for (const index of stores.keys()) this.#number(index);
  }

  /** Our number of a store's site. */
  idOf(index: number, siteId: number): number {
    const known = this.#ours[index]?.[siteId];
    if (known !== undefined) return known;
    // It is new since the last look: the store is being written.
    this.#number(index);
    return this.#ours[index]?.[siteId] ?? 0;
  }

  /** A store's own number of our site; undefined when it does not know the site. */
  ownIdOf(index: number, id: number): number | undefined {
    return this.#theirs[index]?.[id];
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
    const ours = this.#ours[index] as number[];
    const theirs = this.#theirs[index] as number[];
    for (const { id: siteId, key } of this.#stores[index]?.sites() ?? []) {
      const id = this.#ids.get(key) ?? this.#ids.size + 1;
      this.#ids.set(key, id);
      ours[siteId] = id;
      theirs[id] = siteId;
    }
  }

  #firstWith(id: number): number {
    return this.#theirs.findIndex((own) => own[id] !== undefined);
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

/** One that is known only because of links to it that were sent away is nobody's. */
function isListed({ known, bytes }: SiteRow): boolean {
  return known > 0 || bytes > 0;
}

/** What several processes say of a site. */
export function joinedRow(rows: readonly SiteRow[]): SiteRow {
  const sum = (of: (row: SiteRow) => number): number => rows.reduce((so, row) => so + of(row), 0);
  // Most of what is said of a site comes from whoever crawled it.
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

/** News of all who are in the same round. */
function joinedRound(
  main: StoredRound | undefined,
  rounds: readonly StoredRound[],
): StoredRound | undefined {
  if (main === undefined) return undefined;
  const same = rounds.filter(({ number }) => number === main.number);
  return { ...main, news: sumOf(same.map(({ news }) => news)) };
}
