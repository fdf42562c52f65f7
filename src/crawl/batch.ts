/**
 * The changes since the last commit. Reads return committed and uncommitted data alike; no other file knows the
 * difference.
 *
 * Invariant 3, one commit per page: a page's record, its new links and its end are added in one tick, so that
 * they are always in the same commit. Commits run from a timer and never from inside such a tick. When the
 * disk is full the batch is kept and committed later: nothing is dropped.
 *
 * A URL may change several times in one batch; its last state is stored. A read costs one query of the store
 * and O(changes to the site in this batch).
 */

import type { Clock } from "../base/clock.ts";
import { type CrawlError, isLackOfRoom } from "../base/errors.ts";
import type { Output } from "../output/output.ts";
import type { PageRecord } from "../page/page.ts";
import type { Visits } from "../page/visits.ts";
import { FingerprintTable } from "../base/fingerprint-table.ts";
import type {
  EndedUrl,
  Fingerprints,
  NewUrl,
  OutgoingParcel,
  PageTopic,
  ReopenedUrl,
  SettledUrl,
  Store,
  StoredUrl,
  WaitingUrl,
} from "../store/store.ts";
import type { Fingerprint } from "../url/fingerprint.ts";
import type { Sites } from "./sites.ts";
import type { Counters } from "./counters.ts";

const COMMIT_AFTER_MS = 50;
const COMMIT_AFTER_CHANGES = 2048;
const RETRY_AFTER_MS = 2000;

export type BatchEvent =
  /** Before a commit: the last moment to add something to it. */
  | { readonly kind: "committing" }
  | { readonly kind: "committed" }
  /** Nothing can be stored now; undefined when that is over. */
  | { readonly kind: "storage"; readonly trouble: CrawlError | undefined }
  /** A bug, or a store that no longer works: the crawl ends. */
  | { readonly kind: "fault"; readonly fault: unknown };

interface BatchParts {
  readonly clock: Clock;
  readonly store: Store;
  readonly output: Pick<Output, "marks"> | undefined;
  readonly sites: Sites;
  readonly counters: Counters;
  readonly emit: (event: BatchEvent) => void;
}

/** Changes to the URLs of one site: those added, and the ids that have ended or wait again. */
interface SiteChanges {
  readonly added: NewUrl[];
  readonly moved: Set<number>;
}

export class Batch {
  readonly #parts: BatchParts;
  readonly #startedAtMs: number;
  #added: NewUrl[] = [];
  readonly #ids = new FingerprintTable();
  readonly #settled = new Map<number, SettledUrl>();
  readonly #reopened = new Map<number, ReopenedUrl>();
  readonly #bySite = new Map<number, SiteChanges>();
  readonly #attempts = new Map<number, number>();
  readonly #scores = new Map<number, number>();
  readonly #visits = new Map<number, Visits>();
  readonly #pages = new Map<number, PageRecord>();
  readonly #pagesByDigest = new Map<string, number>();
  readonly #topics = new Map<number, PageTopic>();
  readonly #facts = new Map<string, string>();
  readonly #outgoing = new Map<number, OutgoingParcel>();
  #delivered: number[] = [];
  #cancelTimer: (() => void) | undefined;
  #timerAtMs = Infinity;
  #isStuck = false;

  constructor(parts: BatchParts) {
    this.#parts = parts;
    this.#startedAtMs = parts.clock.nowMs();
  }

  /** Whether everything is committed. */
  get isEmpty(): boolean {
    return this.#timerAtMs === Infinity;
  }

  /** Whether the last commit failed because the disk is full. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  addUrl(url: NewUrl): void {
    this.#added.push(url);
    this.#ids.set(url.fingerprintHigh, url.fingerprintLow, url.id);
    this.#changesOf(url.siteId).added.push(url);
    this.#schedule();
  }

  endUrl(siteId: number, settled: SettledUrl): void {
    this.#settled.set(settled.id, settled);
    this.#changesOf(siteId).moved.add(settled.id);
    this.#scores.delete(settled.id);
    this.#schedule();
  }

  /** A URL that has ended waits again. */
  reopenUrl(siteId: number, reopened: ReopenedUrl): void {
    const { id, score, visits } = reopened;
    const waitsInStore = this.#settled.delete(id) && !this.#reopened.has(id);
    if (waitsInStore) {
      this.#visits.set(id, visits);
      this.#scores.set(id, score);
    } else this.#reopened.set(id, reopened);
    this.#attempts.delete(id);
    this.#changesOf(siteId).moved.add(id);
    this.#schedule();
  }

  setAttempts(id: number, attempts: number): void {
    this.#attempts.set(id, attempts);
    this.#schedule();
  }

  setScore(id: number, score: number): void {
    this.#scores.set(id, score);
    this.#schedule();
  }

  setVisits(id: number, visits: Visits): void {
    this.#visits.set(id, visits);
    this.#schedule();
  }

  addPage(page: PageRecord): void {
    this.#pages.set(page.id, page);
    if (page.likeness === undefined) this.#pagesByDigest.set(digestKey(page.digest), page.id);
    this.#schedule();
  }

  setTopic(topic: PageTopic): void {
    this.#topics.set(topic.id, topic);
    this.#schedule();
  }

  setFact(key: string, value: string): void {
    this.#facts.set(key, value);
    this.#schedule();
  }

  addParcel(parcel: OutgoingParcel): void {
    this.#outgoing.set(parcel.seq, parcel);
    this.#schedule();
  }

  dropParcel(seq: number): void {
    this.#delivered.push(seq);
    this.#schedule();
  }

  /** Only rows of sites or totals have changed. */
  touch(): void {
    this.#schedule();
  }

  /** The ids of known URLs, 0 where unknown; one for each fingerprint, in order. */
  lookup(fingerprints: Fingerprints): Uint32Array {
    const ids = this.#parts.store.lookup(fingerprints);
    if (this.#added.length === 0) return ids;
    const { high, low } = fingerprints;
    for (let index = 0; index < ids.length; index++)
      if (ids[index] === 0) ids[index] = this.#ids.get(high[index] as number, low[index] as number);
    return ids;
  }

  /** The id of a known URL; 0 when it is unknown. */
  idOf({ high, low }: Fingerprint): number {
    const one = { high: Uint32Array.of(high), low: Uint32Array.of(low), count: 1 };
    return this.lookup(one)[0] as number;
  }

  url(id: number): StoredUrl | undefined {
    const added = this.#addedUrl(id);
    const url =
      added === undefined
        ? this.#parts.store.url(id)
        : { ...added, attempts: 0, reason: undefined };
    return url === undefined ? undefined : this.#asChanged(url);
  }

  page(id: number): PageRecord | undefined {
    return this.#pages.get(id) ?? this.#parts.store.page(id);
  }

  /** The first page with this content, if any. */
  pageWithDigest(digest: Uint8Array): number | undefined {
    return this.#pagesByDigest.get(digestKey(digest)) ?? this.#parts.store.pageWithDigest(digest);
  }

  topicOf(id: number): PageTopic | undefined {
    return this.#topics.get(id) ?? this.#parts.store.topicOf(id);
  }

  visits(id: number): Visits | undefined {
    const visits = this.#visits.get(id) ?? this.#reopened.get(id)?.visits;
    return visits ?? this.#parts.store.visits(id);
  }

  recall(key: string): string | undefined {
    return this.#facts.get(key) ?? this.#parts.store.recall(key);
  }

  /** A parcel that has not been delivered. */
  parcel(seq: number): OutgoingParcel | undefined {
    const [row] = this.#outgoing.has(seq) ? [] : this.#parts.store.outbox(seq - 1, 1);
    return this.#outgoing.get(seq) ?? (row?.seq === seq ? row : undefined);
  }

  /** A site's waiting URLs, best score first, then oldest. Scores beyond the first are as committed. */
  waiting(siteId: number, countMax: number): WaitingUrl[] {
    const { store } = this.#parts;
    const changes = this.#bySite.get(siteId);
    if (changes === undefined && this.#scores.size === 0) return store.waiting(siteId, countMax);
    const rows = store
      .waiting(siteId, countMax + (changes?.moved.size ?? 0))
      .filter(({ id }) => !this.#settled.has(id))
      .map((row) => (this.#pages.has(row.id) ? this.#waitingRow(row) : this.#withScore(row)));
    for (const url of changes?.added ?? [])
      if (!this.#settled.has(url.id)) rows.push(this.#waitingRow({ ...url, attempts: 0 }));
    for (const id of changes?.moved ?? [])
      if (this.#reopened.has(id) && !this.#settled.has(id))
        rows.push(this.#waitingRow(this.url(id) as StoredUrl));
    return rows.sort((a, b) => b.score - a.score || a.id - b.id).slice(0, countMax);
  }

  /** A site's ended URLs with an id above `afterId`, in order of id. */
  ended(siteId: number, afterId: number, countMax: number): EndedUrl[] {
    const { store } = this.#parts;
    const moved = this.#bySite.get(siteId)?.moved;
    if (moved === undefined) return store.ended(siteId, afterId, countMax);
    const rows = store
      .ended(siteId, afterId, countMax + moved.size)
      .filter(({ id }) => !moved.has(id));
    for (const id of moved)
      if (id > afterId && this.#settled.has(id)) rows.push(this.#endedRow(id));
    return rows.sort((a, b) => a.id - b.id).slice(0, countMax);
  }

  /** All URLs of a site with an id above `afterId`, in order of id. */
  urlsOfSite(siteId: number, afterId: number, countMax: number): StoredUrl[] {
    const rows = this.#parts.store
      .urlsOfSite(siteId, afterId, countMax)
      .map((row) => this.#asChanged(row));
    for (const url of this.#bySite.get(siteId)?.added ?? []) {
      if (rows.length >= countMax) break;
      if (url.id > afterId) rows.push(this.#asChanged({ ...url, attempts: 0, reason: undefined }));
    }
    return rows;
  }

  /** Commits everything. Returns false when the disk is full. */
  commit(): boolean {
    this.#parts.emit({ kind: "committing" });
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#timerAtMs = Infinity;
    const { clock, store, output, sites, counters, emit } = this.#parts;
    const rows = sites.takeChangedRows();
    try {
      store.commit({
        sites: rows,
        urls: this.#added,
        settled: this.#settled.values().toArray(),
        retried: Array.from(this.#attempts, ([id, attempts]) => ({ id, attempts })),
        rescored: Array.from(this.#scores, ([id, score]) => ({ id, score })),
        reopened: this.#reopened.values().toArray(),
        visits: Array.from(this.#visits, ([id, visits]) => ({ id, ...visits })),
        pages: this.#pages.values().toArray(),
        topics: this.#topics.values().toArray(),
        facts: Object.fromEntries(this.#facts),
        outgoing: this.#outgoing.values().toArray(),
        delivered: this.#delivered,
        totals: counters.totals(clock.nowMs() - this.#startedAtMs),
        marks: output?.marks() ?? {},
      });
    } catch (error) {
      if (!isLackOfRoom(error)) throw error;
      for (const row of rows) sites.changed(sites.byId(row.id));
      this.reportTrouble(error);
      return false;
    }
    // Cleared first, because the events may add to the next batch.
    this.#clear();
    sites.shed();
    if (this.#isStuck) {
      this.#isStuck = false;
      emit({ kind: "storage", trouble: undefined });
    }
    emit({ kind: "committed" });
    return true;
  }

  /** The disk is full. Everything waits until a commit succeeds again. */
  reportTrouble(trouble: CrawlError): void {
    this.#isStuck = true;
    this.#parts.emit({ kind: "storage", trouble });
    this.#arm(RETRY_AFTER_MS);
  }

  /** Drops everything: the store stays as it was after the last commit. */
  abandon(): void {
    this.#cancelTimer?.();
    this.#timerAtMs = -Infinity;
    this.#clear();
  }

  #changesOf(siteId: number): SiteChanges {
    const known = this.#bySite.get(siteId);
    if (known !== undefined) return known;
    const changes = { added: [], moved: new Set<number>() };
    this.#bySite.set(siteId, changes);
    return changes;
  }

  #addedUrl(id: number): NewUrl | undefined {
    // Ids count up without a gap.
    const first = this.#added[0]?.id ?? Infinity;
    return id < first ? undefined : this.#added[id - first];
  }

  #asChanged(url: StoredUrl): StoredUrl {
    const reopened = this.#reopened.get(url.id);
    const open =
      reopened === undefined
        ? url
        : { ...url, score: reopened.score, attempts: 0, reason: undefined };
    const now = open.reason === undefined ? this.#withScore(open) : open;
    const settled = this.#settled.get(url.id);
    return settled === undefined ? now : { ...now, ...settled };
  }

  #withScore<T extends Pick<WaitingUrl, "id" | "score" | "attempts">>(url: T): T {
    const score = this.#scores.get(url.id);
    const attempts = this.#attempts.get(url.id);
    if (score === undefined && attempts === undefined) return url;
    return { ...url, score: score ?? url.score, attempts: attempts ?? url.attempts };
  }

  #waitingRow(url: Omit<WaitingUrl, "etag" | "lastModified">): WaitingUrl {
    // Only a URL that has ended before has a page.
    const hasEnded = this.#bySite.get(url.siteId)?.moved.has(url.id) === true;
    const { etag = "", lastModified = "" } = (hasEnded ? this.page(url.id) : undefined) ?? {};
    return { ...this.#withScore(url), etag, lastModified };
  }

  #endedRow(id: number): EndedUrl {
    const { depth } = this.url(id) as StoredUrl;
    const { reason } = this.#settled.get(id) as SettledUrl;
    const { wireBytes = 0, fetchedAtMs = 0, etag = "", lastModified = "" } = this.page(id) ?? {};
    const hasValidators = etag !== "" || lastModified !== "";
    return { id, depth, reason, wireBytes, fetchedAtMs, hasValidators, visits: this.visits(id) };
  }

  #clear(): void {
    if (this.#added.length > 0) this.#ids.clear();
    this.#added = [];
    this.#delivered = [];
    this.#settled.clear();
    this.#reopened.clear();
    this.#bySite.clear();
    this.#attempts.clear();
    this.#scores.clear();
    this.#visits.clear();
    this.#pages.clear();
    this.#pagesByDigest.clear();
    this.#topics.clear();
    this.#facts.clear();
    this.#outgoing.clear();
  }

  #schedule(): void {
    if (this.#isStuck) return;
    const moved = this.#settled.size + this.#reopened.size;
    const parcels = this.#outgoing.size + this.#delivered.length;
    const isFull = this.#added.length + moved + parcels >= COMMIT_AFTER_CHANGES;
    this.#arm(isFull ? 0 : COMMIT_AFTER_MS);
  }

  #arm(delayMs: number): void {
    const atMs = this.#parts.clock.nowMs() + delayMs;
    if (atMs >= this.#timerAtMs) return;
    this.#cancelTimer?.();
    this.#timerAtMs = atMs;
    this.#cancelTimer = this.#parts.clock.after(delayMs, () => {
      try {
        this.commit();
      } catch (fault) {
        this.#parts.emit({ kind: "fault", fault });
      }
    });
  }
}

/** Half of a SHA-256: accidental equality is impossible, and a short string is cheap to compare. */
function digestKey(digest: Uint8Array): string {
  return Buffer.from(digest.buffer, digest.byteOffset, 16).toString("latin1");
}
