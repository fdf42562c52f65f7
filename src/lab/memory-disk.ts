/**
 * The disk of a simulated process: a store whose rows are objects, so that a simulation costs little.
 *
 * The rows outlive the process. A kill is simulated by `crash()`, which invalidates the open store at once: a killed
 * crawler cannot write any more. The next opening has the state of the last commit. All promises of the store hold,
 * but memory grows with the number of URLs.
 */

import { assert } from "../base/assert.ts";
import { CrawlError } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import type { Reason } from "../page/outcome.ts";
import type { PageRecord } from "../page/page.ts";
import type { Visits } from "../page/visits.ts";
import { checkBatch } from "../store/batch.ts";
import { applyBatch, emptyRows, endedUrl, pageWith, rowsOfSite } from "./memory-rows.ts";
import { storedUrl, waitingOf } from "./memory-rows.ts";
import type { Rows } from "./memory-rows.ts";
import type { Batch, Fingerprints, OutgoingParcel, SiteRow, Store } from "../store/store.ts";
import type {
  EndedUrl,
  NumberedPage,
  PageTopic,
  StoredUrl,
  Totals,
  WaitingUrl,
} from "../store/store.ts";
import type { Fingerprint } from "../url/fingerprint.ts";

export class SimulatedCrash extends Error {
  override readonly name = "SimulatedCrash";
}

/** Failures of commits, from a seed. */
export interface StoreFaults {
  readonly random: Random;
  /** The commit, counted from 1, at which the process is killed; undefined for none. */
  readonly crashAtCommit: number | undefined;
  /** Share of commits that find the disk full. */
  readonly fullShare: number;
  /** Called before the kill is thrown. */
  readonly onCrash: () => void;
}

export class MemoryDisk {
  readonly rows: Rows = emptyRows();
  #holder: MemoryStore | undefined;

  /** Invalidates the open store without notice. */
  crash(): void {
    this.#holder = undefined;
  }

  /** Throws STORE_LOCKED while another store is open. */
  open(): Store {
    if (this.#holder !== undefined) throw new CrawlError("STORE_LOCKED", "the store is open");
    return (this.#holder = new MemoryStore(this));
  }

  /** The same with failures: a commit finds the disk full, or the process is killed just before or after it. */
  openWith({ random, crashAtCommit, fullShare, onCrash }: StoreFaults): Store {
    const store = this.open();
    const commit = store.commit.bind(store);
    let commits = 0;
    store.commit = (batch) => {
      commits++;
      if (commits === crashAtCommit) {
        if (random.next() < 0.5) commit(batch);
        this.crash();
        onCrash();
        throw new SimulatedCrash(`at commit ${commits}`);
      }
      if (random.next() < fullShare) throw new CrawlError("DISK_FULL", "the disk is full");
      commit(batch);
    };
    return store;
  }

  isHeldBy(store: MemoryStore): boolean {
    return this.#holder === store;
  }
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
    return waitingOf(this.#rows, siteId, countMax);
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

  *seedTargets(): Iterable<string> {
    for (const { added } of this.#rows.urls)
      if (added.depth === 0 && added.redirects > 0) yield added.url;
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
    return pageWith(this.#rows, digest);
  }

  leastPages(countMax: number): Fingerprint[] {
    const { urls, pages } = this.#rows;
    return urls
      .filter(({ added }) => pages.has(added.id))
      .map(({ added }) => ({ high: added.fingerprintHigh, low: added.fingerprintLow }))
      .sort((a, b) => a.high - b.high || a.low - b.low)
      .slice(0, countMax);
  }

  topicOf(id: number): PageTopic | undefined {
    return this.#rows.topics.get(id);
  }

  *pageTopics(): Iterable<PageTopic> {
    const { topics } = this.#rows;
    yield* [...topics.values()].sort((a, b) => a.id - b.id);
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
    checkBatch(batch, this);
    applyBatch(this.#rows, batch);
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
