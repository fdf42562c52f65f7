/**
 * Several stores read as the store of one crawl, as the processes of a crawl leave them.
 *
 * A URL is listed once: not where it was only sent away, and where several fetched it, with the one that
 * got furthest. URLs, sites and pages are numbered anew and without gaps (`listed-rows.ts`). Archive files are
 * named by their way from the crawl's folder.
 *
 * Promises, held by tests over simulated crawls:
 *   1. known = done + failed + skipped + pending, in totals, sites and rows;
 *   2. pages, and how URLs ended, are those of a single crawl of the same web.
 *
 * The first question walks all rows once, some 3 seconds for a million URLs, and the picture is of that
 * moment: what a running crawl adds is seen by whoever opens anew.
 */

import { assert } from "../base/assert.ts";
import type { PageRecord } from "../page/page.ts";
import { ListedRows } from "./listed-rows.ts";
import { JoinedSites } from "./joined-sites.ts";
import { joinedTotals } from "./joined-totals.ts";
import type { ReadableStore } from "./sqlite-view.ts";
import type {
  Fingerprints,
  NumberedPage,
  PageTopic,
  SiteRow,
  StoredUrl,
  Totals,
  WaitingUrl,
} from "./store.ts";

/** What one process left. */
export interface StorePart {
  /** Of its folder in the crawl's. */
  readonly name: string;
  readonly store: ReadableStore;
}

type Numbered = Pick<StoredUrl, "id" | "siteId" | "redirectedFromId">;

export function joinStores(parts: readonly StorePart[]): ReadableStore {
  return new JoinedView(parts);
}

/** What the stores held when they were walked. */
interface Picture {
  readonly listed: ListedRows;
  readonly sites: JoinedSites;
  readonly totals: Totals;
  /** Numbers of pages before those of each store, and behind all of them. */
  readonly pagesBefore: readonly number[];
  readonly lastPageSeq: number;
}

class JoinedView implements ReadableStore {
  readonly #names: readonly string[];
  readonly #stores: readonly ReadableStore[];
  #taken: Picture | undefined;

  constructor(parts: readonly StorePart[]) {
    assert(parts.length > 0, "somebody crawls");
    this.#names = parts.map(({ name }) => name);
    this.#stores = parts.map(({ store }) => store);
  }

  get totals(): Totals {
    return this.#picture.totals;
  }

  get lastPageSeq(): number {
    return this.#picture.lastPageSeq;
  }

  get marks(): Readonly<Record<string, number>> {
    const marks: Record<string, number> = {};
    for (const [index, store] of this.#stores.entries())
      for (const [file, end] of Object.entries(store.marks)) marks[this.#wayTo(index, file)] = end;
    return marks;
  }

  recall(key: string): string | undefined {
    return this.#stores.map((store) => store.recall(key)).find((value) => value !== undefined);
  }

  lookup(fingerprints: Fingerprints): Uint32Array {
    const { listed } = this.#picture;
    const ids = new Uint32Array(fingerprints.count);
    for (const [index, store] of this.#stores.entries())
      for (const [at, own] of store.lookup(fingerprints).entries())
        if (own !== 0 && ids[at] === 0 && listed.lists(index, own))
          ids[at] = listed.numberOf(index, own);
    return ids;
  }

  waiting(siteId: number, countMax: number): WaitingUrl[] {
    const { listed, sites } = this.#picture;
    const all = this.#stores.flatMap((store, index) => {
      const own = sites.ownIdOf(index, siteId);
      if (own === undefined) return [];
      // As many more as may not be meant.
      const { pending } = listed.hiddenOfSite(index, own);
      const urls = store.waiting(own, countMax + pending);
      return urls
        .filter(({ id }) => listed.lists(index, id))
        .map((url) => this.#renumbered(index, url));
    });
    return all.sort((a, b) => b.score - a.score || a.id - b.id).slice(0, countMax);
  }

  sites(): Iterable<SiteRow> {
    return this.#picture.sites.rows();
  }

  sitesWithWork(afterId: number, countMax: number): SiteRow[] {
    const found: SiteRow[] = [];
    for (const site of this.#picture.sites.rows()) {
      if (found.length === countMax) break;
      if (site.pending > 0 && site.id > afterId) found.push(site);
    }
    return found;
  }

  siteByKey(key: string): SiteRow | undefined {
    return this.#picture.sites.byKey(key);
  }

  /** Also of a URL that is not listed, where something listed refers to it. */
  url(id: number): StoredUrl | undefined {
    const place = this.#picture.listed.placeOf(id);
    const row = place && this.#stores[place.index]?.url(place.own);
    return row && this.#renumbered(place.index, row);
  }

  *urls(): Iterable<StoredUrl> {
    const { listed } = this.#picture;
    for (const [index, store] of this.#stores.entries())
      for (const row of store.urls())
        if (listed.lists(index, row.id)) yield this.#renumbered(index, row);
  }

  page(id: number): PageRecord | undefined {
    const place = this.#picture.listed.placeOf(id);
    const page = place && this.#stores[place.index]?.page(place.own);
    return page && this.#pageOf(place.index, page);
  }

  *pages(): Iterable<PageRecord> {
    for (const { page } of this.pagesAfter(0)) yield page;
  }

  *pagesAfter(seq: number): Iterable<NumberedPage> {
    const { listed, pagesBefore, lastPageSeq } = this.#picture;
    for (const [index, store] of this.#stores.entries()) {
      const before = pagesBefore[index] as number;
      const behind = pagesBefore[index + 1] ?? lastPageSeq;
      for (const { seq: own, page } of store.pagesAfter(Math.max(0, seq - before))) {
        if (before + own > behind) break;
        if (listed.lists(index, page.id))
          yield { seq: before + own, page: this.#pageOf(index, page) };
      }
    }
  }

  pageWithDigest(digest: Uint8Array): number | undefined {
    const { listed } = this.#picture;
    for (const [index, store] of this.#stores.entries()) {
      const own = store.pageWithDigest(digest);
      if (own !== undefined && listed.lists(index, own)) return listed.numberOf(index, own);
    }
    return undefined;
  }

  topicOf(id: number): PageTopic | undefined {
    const place = this.#picture.listed.placeOf(id);
    const topic = place && this.#stores[place.index]?.topicOf(place.own);
    return topic && { ...topic, id };
  }

  *pageTopics(): Iterable<PageTopic> {
    const { listed } = this.#picture;
    for (const [index, store] of this.#stores.entries())
      for (const topic of store.pageTopics())
        if (listed.lists(index, topic.id)) yield { ...topic, id: listed.numberOf(index, topic.id) };
  }

  async close(): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.close()));
  }

  get #picture(): Picture {
    return (this.#taken ??= pictureOf(this.#stores));
  }

  #pageOf(index: number, page: PageRecord): PageRecord {
    const { listed } = this.#picture;
    const { id, likeness, archived } = page;
    return {
      ...page,
      id: listed.numberOf(index, id),
      likeness: likeness && { ...likeness, ofId: listed.numberOf(index, likeness.ofId) },
      archived: archived && { ...archived, file: this.#wayTo(index, archived.file) },
    };
  }

  #renumbered<T extends Numbered>(index: number, row: T): T {
    const { listed, sites } = this.#picture;
    return {
      ...row,
      id: listed.numberOf(index, row.id),
      siteId: sites.idOf(index, row.siteId),
      redirectedFromId: listed.numberOf(index, row.redirectedFromId),
    };
  }

  #wayTo(index: number, file: string): string {
    return `${this.#names[index]}/archive/${file}`;
  }
}

function pictureOf(stores: readonly ReadableStore[]): Picture {
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
