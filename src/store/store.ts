/**
 * What is needed to go on after a crash, as a socket.
 *
 * Every change goes through `commit(batch)`: a page's record, its new links, its end and the
 * totals are stored together or not at all. A batch may hold several pages; each is wholly in it.
 * Reads see every commit before them. Ids of URLs and sites count up from 1 and are given by the
 * caller (`nextUrlId`, `nextSiteId`), so that a batch can refer to what it creates.
 *
 * Promises, held by `store.suite.ts` on every adapter:
 *   1. after a kill at any moment the store opens as it was after some commit, whole;
 *   2. known = done + failed + skipped + pending, in totals and in rows;
 *   3. one process at a time: a second opening is refused with STORE_LOCKED;
 *   4. no more bytes are booked in a ledger than came;
 *   5. memory does not grow with the number of URLs beyond the settings given.
 */

import type { Reason } from "../page/outcome.ts";
import type { PageRecord } from "../page/page.ts";
import type { Visits } from "../page/visits.ts";
import type { Fingerprint } from "../url/fingerprint.ts";

/** URL fingerprints in bulk: high and low unsigned halves, `count` of them. */
export interface Fingerprints {
  readonly high: Uint32Array;
  readonly low: Uint32Array;
  readonly count: number;
}

/** What every row of a URL says. */
interface UrlRow {
  readonly id: number;
  /** Canonical: the key. */
  readonly url: string;
  /** As it is requested and shown, where that is another spelling. */
  readonly written: string | undefined;
  readonly siteId: number;
  readonly depth: number;
  readonly score: number;
  /** The id of the URL whose redirect led here, and how many redirects in a row; 0 and 0 for a link. */
  readonly redirectedFromId: number;
  readonly redirects: number;
}

export interface NewUrl extends UrlRow {
  readonly fingerprintHigh: number;
  readonly fingerprintLow: number;
}

/** A URL that waits to be fetched. */
export interface WaitingUrl extends UrlRow {
  readonly attempts: number;
  /** From the last time it was fetched, for a conditional request; empty when never. */
  readonly etag: string;
  readonly lastModified: string;
}

/** A URL that has ended, with all that says whether to ask for it again. */
export interface EndedUrl {
  readonly id: number;
  readonly depth: number;
  readonly reason: Reason;
  /** Of its page; 0 and 0 when it never had one. */
  readonly wireBytes: number;
  readonly fetchedAtMs: number;
  /** Whether its server can be asked if it has changed. */
  readonly hasValidators: boolean;
  /** undefined until it is first asked for again. */
  readonly visits: Visits | undefined;
}

export interface SettledUrl {
  readonly id: number;
  readonly reason: Reason;
  readonly attempts: number;
}

export interface SiteRow {
  readonly id: number;
  /** scheme://host:port, the unit of politeness. */
  readonly key: string;
  /** URLs of it ever admitted, and of these waiting. */
  readonly known: number;
  readonly pending: number;
  readonly pages: number;
  readonly bytes: number;
  /** Of these, what the requests that have ended were for; the rest came for unfinished ones. */
  readonly ledger: Readonly<Record<string, number>>;
  /** robots.txt as last received; undefined when never asked for. */
  readonly robots: StoredRobots | undefined;
  /** True once its sitemaps have been read to the end, so that a resumed crawl does not ask again. */
  readonly sitemapsRead: boolean;
  /** Counts that trap defences must remember, as the frontier wrote them. */
  readonly traps: string;
  /** The rate of requests that it was found to accept, as the frontier wrote it; empty without one. */
  readonly rate: string;
  /** undefined in rows from before there were rounds. */
  readonly round: StoredRound | undefined;
}

/** What came of the pages of a site in one round. */
export interface RoundNews {
  readonly changed: number;
  readonly unchanged: number;
  /** Never seen before. */
  readonly fresh: number;
  /** Answered earlier, and now with 404 or 410. */
  readonly gone: number;
  /** Not asked for, because they were unlikely to have changed. */
  readonly left: number;
}

export const NO_NEWS: RoundNews = { changed: 0, unchanged: 0, fresh: 0, gone: 0, left: 0 };

/** How often a site has been crawled, and how far the present time is. */
export interface StoredRound {
  /** From 1. */
  readonly number: number;
  /** On the wall clock. */
  readonly startedAtMs: number;
  /** What the site had sent before. */
  readonly bytesBefore: number;
  /** What its known pages were expected to send; undefined in the first round. */
  readonly expectedBytes: number | undefined;
  /** How much came in earlier rounds for every byte expected. */
  readonly surplus: number;
  /** Known URLs up to this one have been judged for this round; undefined when all have. */
  readonly openedTo: number | undefined;
  /** When its sitemaps were last read, on the wall clock; 0 when not in a later round. */
  readonly sitemapsAtMs: number;
  readonly news: RoundNews;
}

export interface StoredRobots {
  readonly status: number;
  readonly text: string;
  readonly fetchedAtMs: number;
}

/** Sums over the whole crawl; stored with every commit. */
export interface Totals {
  readonly known: number;
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
  readonly pages: number;
  /** Pages fetched since the last recrawl began, which is what --pages limits; undefined before the first recrawl. */
  readonly pagesRecrawled?: number | undefined;
  readonly bytes: number;
  /** As in a site's row, over all of them. */
  readonly ledger: Readonly<Record<string, number>>;
  readonly crawledMs: number;
  /** What came today and this month, as the quota wrote it; empty before the first byte. */
  readonly usage: string;
  readonly duplicatesExact: number;
  readonly duplicatesNear: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Links that never became known URLs, by the rule of the gate that refused them. */
  readonly refusedLinks: Readonly<Record<string, number>>;
  readonly remarks: Readonly<Record<string, number>>;
}

export interface ReopenedUrl {
  readonly id: number;
  readonly score: number;
  readonly visits: Visits;
}

/** Something for another process, kept until its owner there has committed it. */
export interface OutgoingParcel {
  /** Given by the caller from `nextParcelSeq` on, in rising order. */
  readonly seq: number;
  /** The node it is for. */
  readonly to: string;
  readonly body: Uint8Array;
}

/** What a page was found to be about. */
export interface PageTopic {
  /** Of its URL. */
  readonly id: number;
  readonly topic: string;
  /** From 0 to 1. */
  readonly confidence: number;
  /** The process that fetched the page; empty when this one did. */
  readonly from: string;
}

export interface Batch {
  /** New and changed sites, whole rows. */
  readonly sites: readonly SiteRow[];
  /** One may be born ended: its end is then in the same batch. */
  readonly urls: readonly NewUrl[];
  readonly settled: readonly SettledUrl[];
  /** Tried without success, to be tried again. */
  readonly retried: readonly { readonly id: number; readonly attempts: number }[];
  /** New absolute scores of waiting URLs. */
  readonly rescored: readonly { readonly id: number; readonly score: number }[];
  /** Ended URLs that wait again, for a new round. */
  readonly reopened: readonly ReopenedUrl[];
  /** Results of the visits of this recrawl. */
  readonly visits: readonly ({ readonly id: number } & Visits)[];
  readonly pages: readonly PageRecord[];
  /** Each replaces an earlier one of the same URL. */
  readonly topics: readonly PageTopic[];
  /** Kept as by `remember`, but with everything else or not at all. */
  readonly facts: Readonly<Record<string, string>>;
  readonly outgoing: readonly OutgoingParcel[];
  /** Numbers of parcels that are no longer ours to keep; those that are not there are passed over. */
  readonly delivered: readonly number[];
  readonly totals: Totals;
  /** Ends of the output files as of this batch: what lies beyond is from an unfinished one. */
  readonly marks: Readonly<Record<string, number>>;
}

export interface Store {
  readonly nextUrlId: number;
  readonly nextSiteId: number;
  /**
   * Pages are numbered from 1 in order of recording, with a new number at each recording; this is
   * the last number, or 0.
   */
  readonly lastPageSeq: number;
  /** Counts up for ever: a number is never given twice, however empty the outbox. */
  readonly nextParcelSeq: number;
  readonly totals: Totals;
  readonly marks: Readonly<Record<string, number>>;
  /** Parcels in the outbox, and the bytes of their bodies. */
  readonly outboxCount: number;
  readonly outboxBytes: number;
  /** Free-form facts about the crawl (its settings, its seeds' digest), kept with `remember`. */
  recall(key: string): string | undefined;
  remember(key: string, value: string): void;

  /** The ids of known URLs, 0 where unknown; one answer per fingerprint, in order. */
  lookup(fingerprints: Fingerprints): Uint32Array;
  /** A site's waiting URLs, best score first, then oldest. */
  waiting(siteId: number, countMax: number): WaitingUrl[];
  sites(): Iterable<SiteRow>;
  /** Sites with waiting URLs and an id above `afterId`, in order of id. */
  sitesWithWork(afterId: number, countMax: number): SiteRow[];
  siteByKey(key: string): SiteRow | undefined;
  url(id: number): StoredUrl | undefined;
  urls(): Iterable<StoredUrl>;
  /** URLs to which seeds redirect: those of depth 0 behind a redirect, in order of id. */
  seedTargets(): Iterable<string>;
  page(id: number): PageRecord | undefined;
  pages(): Iterable<PageRecord>;
  /** Pages recorded after that number, in order, each with its own. */
  pagesAfter(seq: number): Iterable<NumberedPage>;
  /** The first page with this content, if any. */
  pageWithDigest(digest: Uint8Array): number | undefined;
  /** Fingerprints of URLs with a page, the lowest first: a sample by which different pages are counted. */
  leastPages(countMax: number): Fingerprint[];
  topicOf(id: number): PageTopic | undefined;
  /** In order of id. */
  pageTopics(): Iterable<PageTopic>;

  /** A site's ended URLs with an id above `afterId`, in order of id. */
  ended(siteId: number, afterId: number, countMax: number): EndedUrl[];
  visits(id: number): Visits | undefined;
  /** All URLs of a site with an id above `afterId`, in order of id: for moving it to another owner. */
  urlsOfSite(siteId: number, afterId: number, countMax: number): StoredUrl[];
  /** Parcels not yet delivered with a number above `afterSeq`, in order of number. */
  outbox(afterSeq: number, countMax: number): OutgoingParcel[];

  commit(batch: Batch): void;
  /** Settles with the disk: what was committed before this survives a power cut. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface NumberedPage {
  readonly seq: number;
  readonly page: PageRecord;
}

/** The part of a store that can be read while another process writes it. */
export type ReadableStore = Omit<
  Store,
  | "nextUrlId"
  | "nextSiteId"
  | "remember"
  | "commit"
  | "waiting"
  | "sitesWithWork"
  | "pageWithDigest"
  | "seedTargets"
  | "ended"
  | "visits"
  | "leastPages"
  | "urlsOfSite"
  | "sync"
  | "outbox"
  | "nextParcelSeq"
  | "outboxCount"
  | "outboxBytes"
>;

export interface StoredUrl extends UrlRow {
  readonly attempts: number;
  /** undefined while it waits. */
  readonly reason: Reason | undefined;
}

export const NO_TOTALS: Totals = {
  known: 0,
  done: 0,
  failed: 0,
  skipped: 0,
  pages: 0,
  bytes: 0,
  ledger: {},
  crawledMs: 0,
  usage: "",
  duplicatesExact: 0,
  duplicatesNear: 0,
  outcomes: {},
  refusedLinks: {},
  remarks: {},
};
