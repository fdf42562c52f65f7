/**
 * A store whose disk fails from a seed: commits can find it full, and the process can be killed at a
 * commit, just before or just after it takes effect.
 *
 * The kill is thrown as a `SimulatedCrash`, and every later use of the store fails, so that a killed
 * crawler cannot write to the disk. Opening the same disk again shows the last commit's state.
 */

import { CrawlError } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import type { PageRecord } from "../page/page.ts";
import type { Visits } from "../page/visits.ts";
import { type MemoryDisk, openMemoryStore } from "../store/memory/store-memory.ts";
import type { Batch, Fingerprints, SiteRow, Store } from "../store/store.ts";
import type {
  EndedUrl,
  NumberedPage,
  OutgoingParcel,
  PageTopic,
  StoredUrl,
  Totals,
  WaitingUrl,
} from "../store/store.ts";
import type { Fingerprint } from "../url/fingerprint.ts";

export class SimulatedCrash extends Error {
  override readonly name = "SimulatedCrash";
}

export interface StoreFaults {
  readonly random: Random;
  /** The commit, counted from 1, at which the process is killed; undefined for none. */
  readonly crashAtCommit: number | undefined;
  /** Share of commits that find the disk full. */
  readonly fullShare: number;
  /** Called before the kill is thrown. */
  readonly onCrash: () => void;
}

export function openSimStore(disk: MemoryDisk, faults: StoreFaults): Store {
  return new SimStore(disk, faults);
}

class SimStore implements Store {
  readonly #disk: MemoryDisk;
  readonly #inner: Store;
  readonly #faults: StoreFaults;
  #commits = 0;

  constructor(disk: MemoryDisk, faults: StoreFaults) {
    this.#disk = disk;
    this.#inner = openMemoryStore(disk);
    this.#faults = faults;
  }

  commit(batch: Batch): void {
    const { random, crashAtCommit, fullShare, onCrash } = this.#faults;
    this.#commits++;
    if (this.#commits === crashAtCommit) {
      if (random.next() < 0.5) this.#inner.commit(batch);
      this.#disk.crash();
      onCrash();
      throw new SimulatedCrash(`at commit ${this.#commits}`);
    }
    if (random.next() < fullShare) throw new CrawlError("DISK_FULL", "the disk is full");
    this.#inner.commit(batch);
  }

  get nextUrlId(): number {
    return this.#inner.nextUrlId;
  }
  get nextSiteId(): number {
    return this.#inner.nextSiteId;
  }
  get lastPageSeq(): number {
    return this.#inner.lastPageSeq;
  }
  get nextParcelSeq(): number {
    return this.#inner.nextParcelSeq;
  }
  get outboxCount(): number {
    return this.#inner.outboxCount;
  }
  get outboxBytes(): number {
    return this.#inner.outboxBytes;
  }
  get totals(): Totals {
    return this.#inner.totals;
  }
  get marks(): Readonly<Record<string, number>> {
    return this.#inner.marks;
  }
  recall(key: string): string | undefined {
    return this.#inner.recall(key);
  }
  remember(key: string, value: string): void {
    this.#inner.remember(key, value);
  }
  lookup(fingerprints: Fingerprints): Uint32Array {
    return this.#inner.lookup(fingerprints);
  }
  waiting(siteId: number, countMax: number): WaitingUrl[] {
    return this.#inner.waiting(siteId, countMax);
  }
  sites(): Iterable<SiteRow> {
    return this.#inner.sites();
  }
  sitesWithWork(afterId: number, countMax: number): SiteRow[] {
    return this.#inner.sitesWithWork(afterId, countMax);
  }
  siteByKey(key: string): SiteRow | undefined {
    return this.#inner.siteByKey(key);
  }
  url(id: number): StoredUrl | undefined {
    return this.#inner.url(id);
  }
  urls(): Iterable<StoredUrl> {
    return this.#inner.urls();
  }
  seedTargets(): Iterable<string> {
    return this.#inner.seedTargets();
  }
  page(id: number): PageRecord | undefined {
    return this.#inner.page(id);
  }
  pages(): Iterable<PageRecord> {
    return this.#inner.pages();
  }
  pagesAfter(seq: number): Iterable<NumberedPage> {
    return this.#inner.pagesAfter(seq);
  }
  pageWithDigest(digest: Uint8Array): number | undefined {
    return this.#inner.pageWithDigest(digest);
  }
  leastPages(countMax: number): Fingerprint[] {
    return this.#inner.leastPages(countMax);
  }
  topicOf(id: number): PageTopic | undefined {
    return this.#inner.topicOf(id);
  }
  pageTopics(): Iterable<PageTopic> {
    return this.#inner.pageTopics();
  }
  ended(siteId: number, afterId: number, countMax: number): EndedUrl[] {
    return this.#inner.ended(siteId, afterId, countMax);
  }
  visits(id: number): Visits | undefined {
    return this.#inner.visits(id);
  }
  urlsOfSite(siteId: number, afterId: number, countMax: number): StoredUrl[] {
    return this.#inner.urlsOfSite(siteId, afterId, countMax);
  }
  outbox(afterSeq: number, countMax: number): OutgoingParcel[] {
    return this.#inner.outbox(afterSeq, countMax);
  }
  sync(): Promise<void> {
    return this.#inner.sync();
  }
  close(): Promise<void> {
    return this.#inner.close();
  }
}
