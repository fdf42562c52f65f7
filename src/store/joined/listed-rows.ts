/**
 * Decides which rows of several stores are listed when they are read as one crawl, and numbers them.
 *
 * Two kinds of rows are not listed: URLs whose outcome refers to another process, and URLs that several processes
 * handled, as in cross-over and firewall mode. Of the latter, the row with the furthest outcome is listed: a page
 * before other outcomes, these before a waiting URL, ties at the first process. Each store is read once, and its
 * URLs are looked up in the seen indexes of the stores before it, so memory is one bit per row and 12 bytes per
 * site.
 *
 * Listed rows are numbered from 1 without gaps, store by store in their own order; unlisted rows follow, because
 * listed rows may refer to them. The numbers are a snapshot: rows that a running crawl adds later have no number.
 */

import { assert } from "../../base/assert.ts";
import { isOwnedElsewhere, type Reason, settlementOf } from "../../page/outcome.ts";
import { fingerprintOf } from "../../url/fingerprint.ts";
import { LeftOutCount } from "./joined-totals.ts";
import { RankedBits } from "./ranked-bits.ts";
import type { ReadableStore } from "../store.ts";
import type { Fingerprints, StoredUrl } from "../store.ts";

const SLICE_ROWS = 1000;

/** Counts of a site's unlisted rows. */
interface HiddenOfSite {
  readonly known: number;
  readonly pending: number;
  readonly pages: number;
}

/** A row of one of the stores, by its own number there. */
interface RowPlace {
  readonly index: number;
  readonly own: number;
}

export class ListedRows {
  readonly #stores: readonly ReadableStore[];
  readonly #bits: readonly RankedBits[];
  readonly #sites: readonly HiddenCounts[];
  /** Counts of unlisted rows, by store. */
  readonly leftOut: readonly LeftOutCount[];
  /** By store, the number of rows numbered before its listed rows. */
  readonly #beforeListed: readonly number[];
  /** By store, the number of rows numbered before its unlisted rows. */
  readonly #beforeHidden: readonly number[];

  constructor(stores: readonly ReadableStore[]) {
    this.#stores = stores;
    this.#bits = stores.map(() => new RankedBits());
    this.#sites = stores.map(() => new HiddenCounts());
    this.leftOut = stores.map(() => new LeftOutCount());
    for (const [index, store] of stores.entries())
      for (const rows of slicesOf(store.urls())) this.#take(index, rows);
    const listed = this.#bits.map((bits) => bits.last - bits.marked);
    this.#beforeListed = sumsBefore(listed, 0);
    const hidden = this.#bits.map((bits) => bits.marked);
    this.#beforeHidden = sumsBefore(
      hidden,
      listed.reduce((sum, count) => sum + count, 0),
    );
  }

  /** Whether a store's row existed in the snapshot and is listed. */
  lists(index: number, own: number): boolean {
    const bits = this.#bitsOf(index);
    return own <= bits.last && !bits.has(own);
  }

  /** The joined number of a store's row; 0 for none. */
  numberOf(index: number, own: number): number {
    const bits = this.#bitsOf(index);
    if (own === 0 || own > bits.last) return 0;
    const marked = bits.countTo(own);
    return bits.has(own)
      ? (this.#beforeHidden[index] as number) + marked
      : (this.#beforeListed[index] as number) + own - marked;
  }

  placeOf(number: number): RowPlace | undefined {
    return (
      this.#find(number, this.#beforeListed, false) ?? this.#find(number, this.#beforeHidden, true)
    );
  }

  /** Counts of a site's unlisted rows; `siteId` is the store's own number. */
  hiddenOfSite(index: number, siteId: number): HiddenOfSite {
    return (this.#sites[index] as HiddenCounts).get(siteId);
  }

  #bitsOf(index: number): RankedBits {
    return this.#bits[index] as RankedBits;
  }

  #find(number: number, before: readonly number[], isHidden: boolean): RowPlace | undefined {
    for (const [index, bits] of this.#bits.entries()) {
      const own = bits.nth(number - (before[index] as number), isHidden);
      if (own !== undefined) return { index, own };
    }
    return undefined;
  }

  #take(index: number, rows: readonly StoredUrl[]): void {
    const own: StoredUrl[] = [];
    for (const row of rows) {
      this.#bitsOf(index).add(false);
      assert(row.id === this.#bitsOf(index).last, "URLs of a store are numbered without gaps");
      if (isOwnedElsewhere(row.reason)) this.#hide(index, row);
      else own.push(row);
    }
    if (index === 0 || own.length === 0) return;
    const before = this.#listedBefore(index, own);
    for (const [at, row] of own.entries()) {
      const other = before[at];
      if (other === undefined) continue;
      const isBetter = rankOf(row.reason) > rankOf(other.row.reason);
      if (isBetter) this.#hide(other.index, other.row);
      else this.#hide(index, row);
    }
  }

  /** For each URL, its listed row in an earlier store, if any. */
  #listedBefore(index: number, rows: readonly StoredUrl[]): readonly (Listed | undefined)[] {
    const found: (Listed | undefined)[] = rows.map(() => undefined);
    const fingerprints = fingerprintsOf(rows);
    for (let earlier = 0; earlier < index; earlier++) {
      const store = this.#stores[earlier] as ReadableStore;
      for (const [at, id] of store.lookup(fingerprints).entries()) {
        if (id === 0 || found[at] !== undefined || !this.lists(earlier, id)) continue;
        const row = store.url(id);
        if (row?.url === rows[at]?.url && row !== undefined) found[at] = { index: earlier, row };
      }
    }
    return found;
  }

  #hide(index: number, { id, siteId, reason }: StoredUrl): void {
    this.#bitsOf(index).mark(id);
    const out = this.leftOut[index] as LeftOutCount;
    if (!isOwnedElsewhere(reason)) out.addRepeat(reason);
    // A URL that was sent at discovery never had a page.
    const page = reason === "sent" ? undefined : this.#stores[index]?.page(id);
    if (page !== undefined) out.addPage(page);
    this.#sites[index]?.add(siteId, reason === undefined, page !== undefined);
  }
}

interface Listed {
  readonly index: number;
  readonly row: StoredUrl;
}

/** For each count, the sum of the counts before it, starting at `first`. */
function sumsBefore(counts: readonly number[], first: number): number[] {
  let sum = first;
  return counts.map((count) => (sum += count) - count);
}

/** Ranks outcomes: 0 for waiting, 4 for a page. */
function rankOf(reason: Reason | undefined): number {
  if (reason === undefined) return 0;
  if (reason === "ok" || reason === "not_modified") return 4;
  return { skipped: 1, failed: 2, done: 3 }[settlementOf(reason)];
}

function fingerprintsOf(rows: readonly StoredUrl[]): Fingerprints {
  const high = new Uint32Array(rows.length);
  const low = new Uint32Array(rows.length);
  for (const [at, { url }] of rows.entries()) {
    const fingerprint = fingerprintOf(url);
    high[at] = fingerprint.high;
    low[at] = fingerprint.low;
  }
  return { high, low, count: rows.length };
}

function* slicesOf<T>(items: Iterable<T>): Generator<T[]> {
  let slice: T[] = [];
  for (const item of items) {
    slice.push(item);
    if (slice.length < SLICE_ROWS) continue;
    yield slice;
    slice = [];
  }
  yield slice;
}

/** Known, waiting and pages by site, in one growing array. */
class HiddenCounts {
  #counts = new Uint32Array(3 * 64);

  get(siteId: number): HiddenOfSite {
    const [known = 0, pending = 0, pages = 0] = this.#counts.subarray(3 * siteId, 3 * siteId + 3);
    return { known, pending, pages };
  }

  add(siteId: number, isPending: boolean, isPage: boolean): void {
    const at = 3 * siteId;
    if (at >= this.#counts.length) {
      const grown = new Uint32Array(2 * at);
      grown.set(this.#counts);
      this.#counts = grown;
    }
    this.#counts[at] = (this.#counts[at] as number) + 1;
    if (isPending) this.#counts[at + 1] = (this.#counts[at + 1] as number) + 1;
    if (isPage) this.#counts[at + 2] = (this.#counts[at + 2] as number) + 1;
  }
}
