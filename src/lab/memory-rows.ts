/**
 * The rows of a store without a disk, and what a batch does to them.
 *
 * A site's queue is a heap of places that are never taken back: whatever has changed since makes its
 * place out of date, and the next reading drops it.
 */

import { assert } from "../base/assert.ts";
import { Heap } from "../base/heap.ts";
import type { Reason } from "../page/outcome.ts";
import type { PageRecord } from "../page/page.ts";
import type { Visits } from "../page/visits.ts";
import { FingerprintTable } from "../base/fingerprint-table.ts";
import { NO_TOTALS } from "../store/store.ts";
import type {
  Batch,
  EndedUrl,
  NewUrl,
  OutgoingParcel,
  PageTopic,
  SiteRow,
} from "../store/store.ts";
import type { StoredUrl, Totals, WaitingUrl } from "../store/store.ts";

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

export interface Rows {
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
  readonly topics: Map<number, PageTopic>;
  readonly facts: Map<string, string>;
  /** By number, which is also the order they came in. */
  readonly outbox: Map<number, OutgoingParcel>;
  outboxBytes: number;
  nextParcelSeq: number;
  totals: Totals;
  marks: Readonly<Record<string, number>>;
}

export function emptyRows(): Rows {
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
    topics: new Map(),
    facts: new Map(),
    outbox: new Map(),
    outboxBytes: 0,
    nextParcelSeq: 1,
    totals: NO_TOTALS,
    marks: {},
  };
}

/** A batch that has been checked. */
export function applyBatch(rows: Rows, batch: Batch): void {
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
  for (const topic of batch.topics) rows.topics.set(topic.id, topic);
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

/** A site's waiting URLs, best first; the queue keeps them. */
export function waitingOf(rows: Rows, siteId: number, countMax: number): WaitingUrl[] {
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

function rowOf(rows: Rows, id: number): UrlRow {
  const row = rows.urls[id - 1];
  assert(row !== undefined, "a batch speaks of known URLs");
  return row;
}

export function* rowsOfSite(rows: Rows, siteId: number, afterId: number): Generator<UrlRow> {
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
  if (pageWith(rows, page.digest) === undefined)
    rows.pageIdByDigest.set(digestKey(page.digest), page.id);
  // Taken out first, so that pages come in the order in which they were last recorded.
  rows.pages.delete(page.id);
  rows.pages.set(page.id, page);
  rows.pageSeqs.set(page.id, ++rows.lastPageSeq);
}

/** The first page that has this digest and still has it. */
export function pageWith(rows: Rows, digest: Uint8Array): number | undefined {
  const key = digestKey(digest);
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

export function endedUrl(rows: Rows, { id, depth }: NewUrl, reason: Reason): EndedUrl {
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

export function storedUrl(row: UrlRow): StoredUrl {
  const { id, url, written, siteId, depth, redirectedFromId, redirects } = row.added;
  const { score, attempts, reason } = row;
  const place = { siteId, depth, redirectedFromId, redirects };
  return { id, url, written, ...place, score, attempts, reason };
}
