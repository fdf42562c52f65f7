/**
 * A store without a disk: for crawls that keep nothing, and for the simulation.
 *
 * The rows live in a `MemoryDisk`, and the store is only a handle on it. So a crash can be played:
 * `disk.crash()` takes the handle away as a kill would, and the next `openMemoryStore(disk)` finds
 * what the last commit left. Everything else is as the socket promises, except that memory grows
 * with the number of URLs.
 */

import { assert } from "../base/assert.ts";
import { CrawlError } from "../base/errors.ts";
import { Heap } from "../base/heap.ts";
import type { Reason } from "../page/outcome.ts";
import type { PageRecord } from "../page/page.ts";
import type { Visits } from "../page/visits.ts";
import { checkBatch } from "./batch.ts";
import { FingerprintTable } from "./fingerprint-table.ts";
import { NO_TOTALS } from "./store.ts";
import type { Batch, Fingerprints, NewUrl, OutgoingParcel, SiteRow, Store } from "./store.ts";
import type { EndedUrl, NumberedPage, StoredUrl, Totals, WaitingUrl } from "./store.ts";

/** What outlives a handle. */
export class MemoryDisk {
  readonly rows: Rows = emptyRows();
  #holder: MemoryStore | undefined;

  /** Ends the present handle without a word to it, as a kill would. */
  crash(): void {
    this.#holder = undefined;
  }

  hold(holder: MemoryStore): void {
    if (this.#holder !== undefined) throw new CrawlError("STORE_LOCKED", "the store is open");
    this.#holder = holder;
  }

  isHeldBy(store: MemoryStore): boolean {
    return this.#holder === store;
  }
}

export function openMemoryStore(disk: MemoryDisk = new MemoryDisk()): Store {
  const store = new MemoryStore(disk);
  disk.hold(store);
  return store;
}

interface UrlRow {
  readonly added: NewUrl;
  score: number;
  attempts: number;
  reason: Reason | undefined;
}

/** An entry of a site's queue; out of date, and skipped, once the row has another score or an end. */
interface Place {
  readonly id: number;
  readonly score: number;
}

interface Rows {
  /** By id less 1, as are the sites. */
  readonly urls: UrlRow[];
  readonly sites: SiteRow[];
  readonly siteIds: Map<string, number>;
  readonly queues: Map<number, Heap<Place>>;
  readonly known: FingerprintTable;
  readonly pages: Map<number, PageRecord>;
  readonly pageSeqs: Map<number, number>;
  lastPageSeq: number;
  readonly pageIdByDigest: Map<string, number>;
  readonly visits: Map<number, Visits>;
  readonly facts: Map<string, string>;
  /** By number, which is also the order they came in. */
  readonly outbox: Map<number, OutgoingParcel>;
  outboxBytes: number;
  nextParcelSeq: number;
  totals: Totals;
  marks: Readonly<Record<string, number>>;
}

class MemoryStore implements Store {
  readonly #disk: MemoryDisk;

  constructor(disk: MemoryDisk) {
    this.#disk = disk;
  }

  get nextUrlId(): number {
    return this.#rows.urls.length + 1;
  }

  get nextSiteId(): number {
    return this.#rows.sites.length + 1;
  }

  get lastPageSeq(): number {
    return this.#rows.lastPageSeq;
  }

  get nextParcelSeq(): number {
    return this.#rows.nextParcelSeq;
  }

  get outboxCount(): number {
    return this.#rows.outbox.size;
  }

  get outboxBytes(): number {
    return this.#rows.outboxBytes;
  }

  get totals(): Totals {
    return this.#rows.totals;
  }

  get marks(): Readonly<Record<string, number>> {
    return this.#rows.marks;
  }

  recall(key: string): string | undefined {
    return this.#rows.facts.get(key);
  }

  remember(key: string, value: string): void {
    this.#rows.facts.set(key, value);
  }

  lookup(fingerprints: Fingerprints): Uint32Array {
    const { known } = this.#rows;
    const ids = new Uint32Array(fingerprints.count);
    for (let index = 0; index < fingerprints.count; index++)
      ids[index] = known.get(fingerprints.high[index] as number, fingerprints.low[index] as number);
    return ids;
  }

  waiting(siteId: number, countMax: number): WaitingUrl[] {
    const rows = this.#rows;
    const queue = rows.queues.get(siteId);
    if (queue === undefined) return [];
    const found: Place[] = [];
    while (found.length < countMax) {
      const place = queue.pop();
      if (place === undefined) break;
      const row = rowOf(rows, place.id);
      const isCurrent = row.reason === undefined && row.score === place.score;
      // Equal places come out one after the other: a score that went and came back.
      if (isCurrent && found.at(-1)?.id !== place.id) found.push(place);
    }
    for (const place of found) queue.push(place);
    return found.map((place) => waitingUrl(rows, place.id));
  }

  *sites(): Iterable<SiteRow> {
    yield* this.#rows.sites;
  }

  sitesWithWork(afterId: number, countMax: number): SiteRow[] {
    const { sites } = this.#rows;
    const found: SiteRow[] = [];
    for (let index = afterId; index < sites.length && found.length < countMax; index++) {
      const site = sites[index] as SiteRow;
      if (site.pending > 0) found.push(site);
    }
    return found;
  }

  siteByKey(key: string): SiteRow | undefined {
    const id = this.#rows.siteIds.get(key);
    return id === undefined ? undefined : this.#rows.sites[id - 1];
  }

  url(id: number): StoredUrl | undefined {
    const row = this.#rows.urls[id - 1];
    return row === undefined ? undefined : storedUrl(row);
  }

  *urls(): Iterable<StoredUrl> {
    for (const row of this.#rows.urls) yield storedUrl(row);
  }

  page(id: number): PageRecord | undefined {
    return this.#rows.pages.get(id);
  }

  *pages(): Iterable<PageRecord> {
    yield* this.#rows.pages.values();
  }

  *pagesAfter(seq: number): Iterable<NumberedPage> {
    const { pages, pageSeqs } = this.#rows;
    for (const page of pages.values()) {
      const own = pageSeqs.get(page.id) ?? 0;
      if (own > seq) yield { seq: own, page };
    }
  }

  pageWithDigest(digest: Uint8Array): number | undefined {
    return pageWith(this.#rows, digestKey(digest));
  }

  ended(siteId: number, afterId: number, countMax: number): EndedUrl[] {
    const rows = this.#rows;
    const hasEnded = rowsOfSite(rows, siteId, afterId).filter((row) => row.reason !== undefined);
    return hasEnded
      .take(countMax)
      .map(({ added, reason }) => endedUrl(rows, added, reason as Reason))
      .toArray();
  }

  urlsOfSite(siteId: number, afterId: number, countMax: number): StoredUrl[] {
    return rowsOfSite(this.#rows, siteId, afterId).take(countMax).map(storedUrl).toArray();
  }

  outbox(afterSeq: number, countMax: number): OutgoingParcel[] {
    const parcels = this.#rows.outbox.values();
    return parcels
      .filter(({ seq }) => seq > afterSeq)
      .take(countMax)
      .toArray();
  }

  visits(id: number): Visits | undefined {
    return this.#rows.visits.get(id);
  }

  commit(batch: Batch): void {
    const rows = this.#rows;
    checkBatch(batch, this);
    for (const site of batch.sites) {
      rows.sites[site.id - 1] = site;
      rows.siteIds.set(site.key, site.id);
    }
    for (const url of batch.urls) addRow(rows, url);
    for (const { id, score, visits } of batch.reopened) {
      reopen(rows, id, score);
      rows.visits.set(id, visits);
    }
    for (const { id, ...visits } of batch.visits) rows.visits.set(id, visits);
    for (const { id, attempts } of batch.retried) rowOf(rows, id).attempts = attempts;
    for (const { id, score } of batch.rescored) rescore(rows, id, score);
    for (const page of batch.pages) addPage(rows, page);
    for (const { id, reason, attempts } of batch.settled) {
      const row = rowOf(rows, id);
      row.reason = reason;
      row.attempts = attempts;
    }
    // Last: one that was born ended waits in no queue.
    for (const url of batch.urls) enqueueNew(rows, url);
    for (const [key, value] of Object.entries(batch.facts)) rows.facts.set(key, value);
    for (const parcel of batch.outgoing) putParcel(rows, parcel);
    for (const seq of batch.delivered) takeParcel(rows, seq);
    rows.totals = batch.totals;
    rows.marks = batch.marks;
  }

  async sync(): Promise<void> {
    this.#assertHeld();
  }

  async close(): Promise<void> {
    if (this.#disk.isHeldBy(this)) this.#disk.crash();
  }

  get #rows(): Rows {
    this.#assertHeld();
    return this.#disk.rows;
  }

  #assertHeld(): void {
    assert(this.#disk.isHeldBy(this), "a store is not used after its end");
  }
}

function emptyRows(): Rows {
  return {
    urls: [],
    sites: [],
    siteIds: new Map(),
    queues: new Map(),
    known: new FingerprintTable(),
    pages: new Map(),
    pageSeqs: new Map(),
    lastPageSeq: 0,
    pageIdByDigest: new Map(),
    visits: new Map(),
    facts: new Map(),
    outbox: new Map(),
    outboxBytes: 0,
    nextParcelSeq: 1,
    totals: NO_TOTALS,
    marks: {},
  };
}

function rowOf(rows: Rows, id: number): UrlRow {
  const row = rows.urls[id - 1];
  assert(row !== undefined, "a batch speaks of known URLs");
  return row;
}

function* rowsOfSite(rows: Rows, siteId: number, afterId: number): Generator<UrlRow> {
  for (let index = afterId; index < rows.urls.length; index++) {
    const row = rows.urls[index] as UrlRow;
    if (row.added.siteId === siteId) yield row;
  }
}

function addRow(rows: Rows, url: NewUrl): void {
  rows.urls.push({ added: url, score: url.score, attempts: 0, reason: undefined });
  rows.known.set(url.fingerprintHigh, url.fingerprintLow, url.id);
}

function enqueueNew(rows: Rows, { id, siteId }: NewUrl): void {
  const { reason, score } = rowOf(rows, id);
  if (reason === undefined) enqueue(rows, siteId, { id, score });
}

function putParcel(rows: Rows, parcel: OutgoingParcel): void {
  rows.outbox.set(parcel.seq, parcel);
  rows.outboxBytes += parcel.body.length;
  rows.nextParcelSeq = parcel.seq + 1;
}

function takeParcel(rows: Rows, seq: number): void {
  rows.outboxBytes -= rows.outbox.get(seq)?.body.length ?? 0;
  rows.outbox.delete(seq);
}

function enqueue(rows: Rows, siteId: number, place: Place): void {
  let queue = rows.queues.get(siteId);
  if (queue === undefined) {
    queue = new Heap(bestFirst);
    rows.queues.set(siteId, queue);
  }
  queue.push(place);
}

function bestFirst(a: Place, b: Place): number {
  return b.score - a.score || a.id - b.id;
}

function rescore(rows: Rows, id: number, score: number): void {
  const row = rowOf(rows, id);
  if (row.score === score) return;
  row.score = score;
  if (row.reason === undefined) enqueue(rows, row.added.siteId, { id, score });
}

function reopen(rows: Rows, id: number, score: number): void {
  const row = rowOf(rows, id);
  row.reason = undefined;
  row.attempts = 0;
  row.score = score;
  enqueue(rows, row.added.siteId, { id, score });
}

function addPage(rows: Rows, page: PageRecord): void {
  const key = digestKey(page.digest);
  if (pageWith(rows, key) === undefined) rows.pageIdByDigest.set(key, page.id);
  // Taken out first, so that pages come in the order in which they were last recorded.
  rows.pages.delete(page.id);
  rows.pages.set(page.id, page);
  rows.pageSeqs.set(page.id, ++rows.lastPageSeq);
}

function pageWith(rows: Rows, key: string): number | undefined {
  const id = rows.pageIdByDigest.get(key);
  const page = id === undefined ? undefined : rows.pages.get(id);
  return page !== undefined && digestKey(page.digest) === key ? id : undefined;
}

function digestKey(digest: Uint8Array): string {
  return Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength).toString("latin1");
}

function waitingUrl(rows: Rows, id: number): WaitingUrl {
  const { reason: _, ...url } = storedUrl(rowOf(rows, id));
  const page = rows.pages.get(id);
  return { ...url, etag: page?.etag ?? "", lastModified: page?.lastModified ?? "" };
}

function endedUrl(rows: Rows, { id, depth }: NewUrl, reason: Reason): EndedUrl {
  const page = rows.pages.get(id);
  return {
    id,
    depth,
    reason,
    wireBytes: page?.wireBytes ?? 0,
    fetchedAtMs: page?.fetchedAtMs ?? 0,
    hasValidators: page !== undefined && (page.etag !== "" || page.lastModified !== ""),
    visits: rows.visits.get(id),
  };
}

function storedUrl(row: UrlRow): StoredUrl {
  const { id, url, siteId, depth, redirectedFromId, redirects } = row.added;
  const { score, attempts, reason } = row;
  return { id, url, siteId, depth, score, attempts, redirectedFromId, redirects, reason };
}
