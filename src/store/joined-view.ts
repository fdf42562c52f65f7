/**
 * Several stores read as the store of one crawl, as the processes of a crawl leave them.
 *
 * A URL is listed once: not where it was only sent away, and where several fetched it, with the one that
 * got furthest (`hidden-rows.ts`). Numbers of URLs and pages are made unique by the store they come from,
 * (number − 1) × stores + place + 1, so they say where to look, but have gaps; they must stay below 2^32, as
 * those of a single store. Archive files are named by their way from the crawl's folder.
 *
 * Promises, held by tests over simulated crawls:
 *   1. known = done + failed + skipped + pending, in totals, sites and rows;
 *   2. pages, and how URLs ended, are those of a single crawl of the same web.
 *
 * The first question walks all rows once: about 5 seconds for a million URLs. Numbers of pages are in order within
 * a process only, so nobody can follow a joined store by them while it is written.
 */

import { assert } from "../base/assert.ts";
import { mergeSorted } from "../base/merge.ts";
import { isAnothers } from "../page/outcome.ts";
import type { PageRecord } from "../page/page.ts";
import { HiddenRows } from "./hidden-rows.ts";
import { JoinedSites } from "./joined-sites.ts";
import { joinedTotals } from "./joined-totals.ts";
import type { ReadableStore } from "./sqlite-view.ts";
import type {
  Fingerprints,
  NumberedPage,
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

export function joinStores(parts: readonly StorePart[]): ReadableStore {
  return new JoinedView(parts);
}

class JoinedView implements ReadableStore {
  readonly #names: readonly string[];
  readonly #stores: readonly ReadableStore[];
  #hiddenRows: HiddenRows | undefined;
  #joinedSites: JoinedSites | undefined;

  constructor(parts: readonly StorePart[]) {
    assert(parts.length > 0, "somebody crawls");
    this.#names = parts.map(({ name }) => name);
    this.#stores = parts.map(({ store }) => store);
  }

  get totals(): Totals {
    const { leftOut } = this.#hidden;
    return joinedTotals(
      this.#stores.map(({ totals }) => totals),
      leftOut,
    );
  }

  get lastPageSeq(): number {
    const seqs = this.#stores.map(({ lastPageSeq }, index) => this.#outer(index, lastPageSeq));
    return Math.max(0, ...seqs);
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
    const ids = new Uint32Array(fingerprints.count);
    for (const [index, store] of this.#stores.entries())
      for (const [at, id] of store.lookup(fingerprints).entries())
        if (id !== 0 && ids[at] === 0 && !this.#hidden.has(index, id))
          ids[at] = this.#outer(index, id);
    return ids;
  }

  waiting(siteId: number, countMax: number): WaitingUrl[] {
    const all = this.#stores.flatMap((store, index) => {
      const own = this.#sites.ownIdOf(index, siteId);
      if (own === undefined) return [];
      // As many more as may not be meant.
      const { pending } = this.#hidden.ofSite(index, own);
      const urls = store.waiting(own, countMax + pending);
      return urls
        .filter(({ id }) => !this.#hidden.has(index, id))
        .map((url) => ({ ...url, ...this.#numbersOf(index, url) }));
    });
    return all.sort((a, b) => b.score - a.score || a.id - b.id).slice(0, countMax);
  }

  sites(): Iterable<SiteRow> {
    return this.#sites.rows();
  }

  sitesWithWork(afterId: number, countMax: number): SiteRow[] {
    const found: SiteRow[] = [];
    for (const site of this.#sites.rows()) {
      if (found.length === countMax) break;
      if (site.pending > 0 && site.id > afterId) found.push(site);
    }
    return found;
  }

  siteByKey(key: string): SiteRow | undefined {
    return this.#sites.byKey(key);
  }

  /** Also of a URL that is not listed, where something listed refers to it. */
  url(id: number): StoredUrl | undefined {
    const { index, own } = this.#inner(id);
    const row = this.#stores[index]?.url(own);
    return row && { ...row, ...this.#numbersOf(index, row) };
  }

  *urls(): Iterable<StoredUrl> {
    for (const [index, store] of this.#stores.entries())
      for (const row of store.urls())
        if (!isAnothers(row.reason) && !this.#hidden.has(index, row.id))
          yield { ...row, ...this.#numbersOf(index, row) };
  }

  page(id: number): PageRecord | undefined {
    const { index, own } = this.#inner(id);
    const page = this.#stores[index]?.page(own);
    return page && this.#pageOf(index, page);
  }

  *pages(): Iterable<PageRecord> {
    for (const { page } of this.pagesAfter(0)) yield page;
  }

  pagesAfter(seq: number): Iterable<NumberedPage> {
    const rows = this.#stores.map((_, index) => this.#pagesOf(index, seq));
    return mergeSorted(rows, (a, b) => a.seq - b.seq);
  }

  pageWithDigest(digest: Uint8Array): number | undefined {
    for (const [index, store] of this.#stores.entries()) {
      const id = store.pageWithDigest(digest);
      if (id !== undefined && !this.#hidden.has(index, id)) return this.#outer(index, id);
    }
    return undefined;
  }

  async close(): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.close()));
  }

  get #hidden(): HiddenRows {
    return (this.#hiddenRows ??= new HiddenRows(this.#stores));
  }

  get #sites(): JoinedSites {
    return (this.#joinedSites ??= new JoinedSites(this.#stores, this.#hidden));
  }

  *#pagesOf(index: number, afterSeq: number): Iterable<NumberedPage> {
    const count = this.#stores.length;
    // The last of its own numbers that does not come after the one given.
    const after = Math.max(0, Math.floor((afterSeq - index - 1) / count) + 1);
    for (const { seq, page } of this.#stores[index]?.pagesAfter(after) ?? [])
      if (!this.#hidden.has(index, page.id))
        yield { seq: this.#outer(index, seq), page: this.#pageOf(index, page) };
  }

  #pageOf(index: number, page: PageRecord): PageRecord {
    const { id, likeness, archived } = page;
    return {
      ...page,
      id: this.#outer(index, id),
      likeness: likeness && { ...likeness, ofId: this.#outer(index, likeness.ofId) },
      archived: archived && { ...archived, file: this.#wayTo(index, archived.file) },
    };
  }

  #numbersOf(
    index: number,
    { id, siteId, redirectedFromId }: Pick<StoredUrl, "id" | "siteId" | "redirectedFromId">,
  ): Pick<StoredUrl, "id" | "siteId" | "redirectedFromId"> {
    return {
      id: this.#outer(index, id),
      siteId: this.#sites.idOf(index, siteId),
      redirectedFromId: this.#outer(index, redirectedFromId),
    };
  }

  /** Our number for one of a store; 0, which means none, stays. */
  #outer(index: number, own: number): number {
    return own === 0 ? 0 : (own - 1) * this.#stores.length + index + 1;
  }

  #inner(id: number): { readonly index: number; readonly own: number } {
    const count = this.#stores.length;
    return { index: (id - 1) % count, own: Math.floor((id - 1) / count) + 1 };
  }

  #wayTo(index: number, file: string): string {
    return `${this.#names[index]}/archive/${file}`;
  }
}
