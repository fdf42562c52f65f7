/**
 * Collects what happened until it is committed: one batch at a time, in the order it happened.
 *
 * Invariant 3, one commit per page: a page's record, its new links and its end are noted in one go,
 * without waiting between them, so that they are always in the same batch. Commits run from a timer
 * and never from inside such a go. When the disk is full the batch is kept and tried again: nothing
 * noted is ever dropped.
 */

import type { Clock } from "../base/clock.ts";
import { type CrawlError, isLackOfRoom } from "../base/errors.ts";
import type { PageRecord } from "../page/page.ts";
import type { Visits } from "../page/visits.ts";
import type { NewUrl, OutgoingParcel, PageTopic, ReopenedUrl } from "../store/store.ts";
import type { SettledUrl, Store } from "../store/store.ts";
import type { Roster } from "./sites.ts";
import type { Tally } from "./counters.ts";

const COMMIT_AFTER_MS = 50;
const COMMIT_AFTER_NOTES = 2048;
const RETRY_AFTER_MS = 2000;

export interface NotebookParts {
  readonly clock: Clock;
  readonly store: Store;
  readonly roster: Roster;
  readonly tally: Tally;
  /** Ends of the output files, as of everything noted. */
  readonly marks: () => Readonly<Record<string, number>>;
  /** Called before anything is taken: whoever has something to add to this commit notes it now. */
  readonly beforeCommit: () => void;
  readonly onCommit: () => void;
  /** Told why nothing can be stored, and `undefined` once it can again. */
  readonly onTrouble: (trouble: CrawlError | undefined) => void;
  readonly onFault: (fault: unknown) => void;
}

export class Notebook {
  readonly #parts: NotebookParts;
  readonly #startedAtMs: number;
  #urls: NewUrl[] = [];
  #settled: SettledUrl[] = [];
  #retried: { id: number; attempts: number }[] = [];
  #pages: PageRecord[] = [];
  #reopened: ReopenedUrl[] = [];
  readonly #reopenedIds = new Set<number>();
  #visits: ({ id: number } & Visits)[] = [];
  #outgoing: OutgoingParcel[] = [];
  #delivered: number[] = [];
  readonly #facts = new Map<string, string>();
  readonly #topics = new Map<number, PageTopic>();
  readonly #scores = new Map<number, number>();
  /** Ids of URLs noted but not yet in the store, which therefore cannot tell that they are known. */
  readonly #unstored = new Map<string, number>();
  readonly #unstoredDigests = new Map<string, number>();
  /** Ids that have ended but still wait in the store. */
  readonly #ended = new Set<number>();
  readonly #endedBySite = new Map<number, number>();
  #cancelTimer: (() => void) | undefined;
  #timerAtMs = Infinity;
  #inTrouble = false;

  constructor(parts: NotebookParts) {
    this.#parts = parts;
    this.#startedAtMs = parts.clock.nowMs();
  }

  get isEmpty(): boolean {
    return this.#timerAtMs === Infinity;
  }

  noteUrl(url: NewUrl): void {
    this.#urls.push(url);
    this.#unstored.set(url.url, url.id);
    this.#schedule();
  }

  noteSettled(siteId: number, settled: SettledUrl): void {
    const { id } = settled;
    this.#settled.push(settled);
    this.#ended.add(id);
    // What was born ended never waits in the store.
    if (this.unstored(id) === undefined) this.#endedBySite.set(siteId, this.endedOf(siteId) + 1);
    this.#scores.delete(id);
    this.#schedule();
  }

  noteRetry(id: number, attempts: number): void {
    this.#retried.push({ id, attempts });
    this.#schedule();
  }

  notePage(page: PageRecord): void {
    this.#pages.push(page);
    if (page.likeness === undefined) this.#unstoredDigests.set(digestKey(page.digest), page.id);
    this.#schedule();
  }

  /** Of several for one page the last is kept. */
  noteTopic(topic: PageTopic): void {
    this.#topics.set(topic.id, topic);
    this.#schedule();
  }

  /** Only of what has ended in the store: it waits there after the commit, and not before. */
  noteReopened(reopened: ReopenedUrl): void {
    this.#reopened.push(reopened);
    this.#reopenedIds.add(reopened.id);
    this.#schedule();
  }

  /** Whether it waits from the next commit on. */
  hasReopened(id: number): boolean {
    return this.#reopenedIds.has(id);
  }

  noteVisits(id: number, visits: Visits): void {
    this.#visits.push({ id, ...visits });
    this.#schedule();
  }

  noteScore(id: number, score: number): void {
    this.#scores.set(id, score);
    this.#schedule();
  }

  /** Leaves with whatever else is noted now. */
  noteOutgoing(parcel: OutgoingParcel): void {
    this.#outgoing.push(parcel);
    this.#schedule();
  }

  noteDelivered(seq: number): void {
    this.#delivered.push(seq);
    this.#schedule();
  }

  /** Of several for one key the last is kept. */
  noteFact(key: string, value: string): void {
    this.#facts.set(key, value);
    this.#schedule();
  }

  /** Something changed that only the site rows and totals show. */
  noteChange(): void {
    this.#schedule();
  }

  unstoredId(url: string): number | undefined {
    return this.#unstored.get(url);
  }

  /** A URL noted but not yet in the store. */
  unstored(id: number): NewUrl | undefined {
    // Numbers count up, so the place follows from the first.
    const first = this.#urls[0]?.id ?? Infinity;
    return id < first ? undefined : this.#urls[id - first];
  }

  unstoredPage(id: number): PageRecord | undefined {
    return this.#pages.find((page) => page.id === id);
  }

  /** As noted and not yet in the store. */
  topicOf(id: number): PageTopic | undefined {
    return this.#topics.get(id);
  }

  hasEnded(id: number): boolean {
    return this.#ended.has(id);
  }

  /** URLs of the site that have ended but still wait in the store. */
  endedOf(siteId: number): number {
    return this.#endedBySite.get(siteId) ?? 0;
  }

  unstoredScore(id: number): number | undefined {
    return this.#scores.get(id);
  }

  pageWithDigest(digest: Uint8Array): number | undefined {
    return this.#unstoredDigests.get(digestKey(digest)) ?? this.#parts.store.pageWithDigest(digest);
  }

  /** Commits what is noted. Answers false when the disk would not take it. */
  commit(): boolean {
    this.#parts.beforeCommit();
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#timerAtMs = Infinity;
    const { clock, store, roster, tally, marks, onCommit } = this.#parts;
    const sites = roster.takeChangedRows();
    try {
      store.commit({
        sites,
        urls: this.#urls,
        settled: this.#settled,
        retried: this.#retried,
        rescored: Array.from(this.#scores, ([id, score]) => ({ id, score })),
        reopened: this.#reopened,
        visits: this.#visits,
        pages: this.#pages,
        topics: this.#topics.values().toArray(),
        facts: Object.fromEntries(this.#facts),
        outgoing: this.#outgoing,
        delivered: this.#delivered,
        totals: tally.totals(clock.nowMs() - this.#startedAtMs),
        marks: marks(),
      });
    } catch (error) {
      if (!isLackOfRoom(error)) throw error;
      for (const row of sites) roster.changed(roster.byId(row.id));
      this.reportTrouble(error);
      return false;
    }
    // Wiped before anybody is told: whoever is told may note things again.
    this.#wipe();
    roster.shed();
    if (this.#inTrouble) {
      this.#inTrouble = false;
      this.#parts.onTrouble(undefined);
    }
    onCommit();
    return true;
  }

  /** The disk is full. Everything waits until a commit succeeds again. */
  reportTrouble(trouble: CrawlError): void {
    this.#inTrouble = true;
    this.#parts.onTrouble(trouble);
    this.#arm(RETRY_AFTER_MS);
  }

  /** Drops what is noted: the store stays as it was after the last commit. */
  abandon(): void {
    this.#cancelTimer?.();
    this.#timerAtMs = -Infinity;
    this.#wipe();
  }

  #wipe(): void {
    this.#urls = [];
    this.#settled = [];
    this.#retried = [];
    this.#pages = [];
    this.#reopened = [];
    this.#reopenedIds.clear();
    this.#visits = [];
    this.#outgoing = [];
    this.#delivered = [];
    this.#facts.clear();
    this.#topics.clear();
    this.#scores.clear();
    this.#unstored.clear();
    this.#unstoredDigests.clear();
    this.#ended.clear();
    this.#endedBySite.clear();
  }

  #schedule(): void {
    if (this.#inTrouble) return;
    const ends = this.#settled.length + this.#reopened.length;
    const parcels = this.#outgoing.length + this.#delivered.length;
    const isFull = this.#urls.length + ends + parcels >= COMMIT_AFTER_NOTES;
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
        this.#parts.onFault(fault);
      }
    });
  }
}

/** Half of a SHA-256 is beyond accident, and a short string is cheap to compare. */
function digestKey(digest: Uint8Array): string {
  return Buffer.from(digest.buffer, digest.byteOffset, 16).toString("latin1");
}
