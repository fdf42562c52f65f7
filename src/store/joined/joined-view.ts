/**
 * Reads the stores of a crawl's processes as one store.
 *
 * A URL is listed once: not at a process that only sent it, and of several processes that fetched it, at the one
 * with the furthest outcome. URLs, sites and pages get new numbers without gaps (`listed-rows.ts`). Names of archive
 * files are paths relative to the crawl's folder.
 *
 * Promises, tested on simulated crawls:
 *   1. known = done + failed + skipped + pending, in totals, sites and rows;
 *   2. pages and outcomes are those of a single process's crawl of the same web.
 *
 * The first query reads all rows once, about 3 seconds for a million URLs. The view is a snapshot of that time;
 * rows that a running crawl adds later are visible only in a new view.
 */

import { assert } from "../../base/assert.ts";
import type { PageRecord } from "../../page/page.ts";
import { ListedRows } from "./listed-rows.ts";
import { JoinedSites } from "./joined-sites.ts";
import { joinedTotals } from "./joined-totals.ts";
import type { ReadableStore } from "../store.ts";
import type {
  Fingerprints,
  NumberedPage,
  PageTopic,
  SiteRow,
  StoredUrl,
  Totals,
} from "../store.ts";

/** The store of one process. */
export interface StorePart {
  /** Name of its folder in the crawl's folder. */
  readonly name: string;
  readonly store: ReadableStore;
}

type Numbered = Pick<StoredUrl, "id" | "siteId" | "redirectedFromId">;

export function joinStores(parts: readonly StorePart[]): ReadableStore {
  return new JoinedView(parts);
}

/** The state of the stores when they were read. */
interface JoinedSnapshot {
  readonly listed: ListedRows;
  readonly sites: JoinedSites;
  readonly totals: Totals;
  /** Number of pages in the stores before each store. */
  readonly pagesBefore: readonly number[];
  readonly lastPageSeq: number;
}

class JoinedView implements ReadableStore {
  readonly #names: readonly string[];
  readonly #stores: readonly ReadableStore[];
  #taken: JoinedSnapshot | undefined;

  constructor(parts: readonly StorePart[]) {
    assert(parts.length > 0, "a crawl has at least one process");
    this.#names = parts.map(({ name }) => name);
    this.#stores = parts.map(({ store }) => store);
  }

  get totals(): Totals {
    return this.#snapshot.totals;
  }

  get lastPageSeq(): number {
    return this.#snapshot.lastPageSeq;
  }

  get marks(): Readonly<Record<string, number>> {
    const marks: Record<string, number> = {};
    for (const [index, store] of this.#stores.entries())
      for (const [file, end] of Object.entries(store.marks)) marks[this.#pathOf(index, file)] = end;
    return marks;
  }

  recall(key: string): string | undefined {
    return this.#stores.map((store) => store.recall(key)).find((value) => value !== undefined);
  }

  lookup(fingerprints: Fingerprints): Uint32Array {
    const { listed } = this.#snapshot;
    const ids = new Uint32Array(fingerprints.count);
    for (const [index, store] of this.#stores.entries())
      for (const [at, own] of store.lookup(fingerprints).entries())
        if (own !== 0 && ids[at] === 0 && listed.lists(index, own))
          ids[at] = listed.numberOf(index, own);
    return ids;
  }

  sites(): Iterable<SiteRow> {
    return this.#snapshot.sites.rows();
  }

  siteByKey(key: string): SiteRow | undefined {
    return this.#snapshot.sites.byKey(key);
  }

  /** Also returns an unlisted URL that a listed row refers to. */
  url(id: number): StoredUrl | undefined {
    const place = this.#snapshot.listed.placeOf(id);
    const row = place && this.#stores[place.index]?.url(place.own);
    return row && this.#renumbered(place.index, row);
  }

  *urls(): Iterable<StoredUrl> {
    const { listed } = this.#snapshot;
    for (const [index, store] of this.#stores.entries())
      for (const row of store.urls())
        if (listed.lists(index, row.id)) yield this.#renumbered(index, row);
  }

  page(id: number): PageRecord | undefined {
    const place = this.#snapshot.listed.placeOf(id);
    const page = place && this.#stores[place.index]?.page(place.own);
    return page && this.#pageOf(place.index, page);
  }

  *pages(): Iterable<PageRecord> {
    for (const { page } of this.pagesAfter(0)) yield page;
  }

  *pagesAfter(seq: number): Iterable<NumberedPage> {
    const { listed, pagesBefore, lastPageSeq } = this.#snapshot;
    for (const [index, store] of this.#stores.entries()) {
      const before = pagesBefore[index] as number;
      const last = pagesBefore[index + 1] ?? lastPageSeq;
      for (const { seq: own, page } of store.pagesAfter(Math.max(0, seq - before))) {
        if (before + own > last) break;
        if (listed.lists(index, page.id))
          yield { seq: before + own, page: this.#pageOf(index, page) };
      }
    }
  }

  topicOf(id: number): PageTopic | undefined {
    const place = this.#snapshot.listed.placeOf(id);
    const topic = place && this.#stores[place.index]?.topicOf(place.own);
    return topic && { ...topic, id };
  }

  *pageTopics(): Iterable<PageTopic> {
    const { listed } = this.#snapshot;
    for (const [index, store] of this.#stores.entries())
      for (const topic of store.pageTopics())
        if (listed.lists(index, topic.id)) yield { ...topic, id: listed.numberOf(index, topic.id) };
  }

  async close(): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.close()));
  }

  get #snapshot(): JoinedSnapshot {
    return (this.#taken ??= snapshotOf(this.#stores));
  }

  #pageOf(index: number, page: PageRecord): PageRecord {
    const { listed } = this.#snapshot;
    const { id, likeness, archived } = page;
    return {
      ...page,
      id: listed.numberOf(index, id),
      likeness: likeness && { ...likeness, ofId: listed.numberOf(index, likeness.ofId) },
      archived: archived && { ...archived, file: this.#pathOf(index, archived.file) },
    };
  }

  #renumbered<T extends Numbered>(index: number, row: T): T {
    const { listed, sites } = this.#snapshot;
    return {
      ...row,
      id: listed.numberOf(index, row.id),
      siteId: sites.idOf(index, row.siteId),
      redirectedFromId: listed.numberOf(index, row.redirectedFromId),
    };
  }

  #pathOf(index: number, file: string): string {
    return `${this.#names[index]}/archive/${file}`;
  }
}

function snapshotOf(stores: readonly ReadableStore[]): JoinedSnapshot {
  const totals = stores.map((store) => store.totals);
  let lastPageSeq = 0;
  const pagesBefore = stores.map((store) => {
    const before = lastPageSeq;
    lastPageSeq += store.lastPageSeq;
    return before;
  });
  const listed = new ListedRows(stores);
  const sites = new JoinedSites(stores, listed);
  return { listed, sites, totals: joinedTotals(totals, listed.leftOut), pagesBefore, lastPageSeq };
}
