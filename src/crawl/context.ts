/**
 * What every part of a crawl receives: interfaces to the outside, settings, shared data, and a way to emit events.
 *
 * `wire.ts` creates the parts in an order without cycles. A part calls parts that were created before it, and emits
 * events for later parts; `wire.ts` dispatches all events in one list.
 */

import type { Almanac } from "../bandwidth/clock/day-kind.ts";
import type { ThreadSecond } from "../bandwidth/full-thread.ts";
import type { Meter } from "../bandwidth/history/meter.ts";
import type { SpeedTable } from "../bandwidth/history/speed-table.ts";
import type { TimeZone } from "../bandwidth/clock/local-time.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { Settings } from "../config/schema.ts";
import type { Spellings } from "../config/seeds.ts";
import type { UrlMessage } from "../exchange/url-message.ts";
import type { Fetcher, FetchedPage } from "../fetch/fetcher.ts";
import type { Resolver } from "../fetch/resolver.ts";
import type { Politeness } from "../frontier/politeness.ts";
import type { Sieve } from "../frontier/sieve.ts";
import type { Traps } from "../frontier/traps.ts";
import type { Workbench } from "../frontier/workbench.ts";
import type { Output } from "../output/output.ts";
import type { Traces } from "../output/traces.ts";
import type { Reason } from "../page/outcome.ts";
import type { PageAside } from "../page/page-thread.ts";
import type { PageIndex } from "../search/index-thread.ts";
import type { Store, WaitingUrl } from "../store/store.ts";
import type { Classifier } from "../topics/classify.ts";
import type { Scope } from "../url/scope.ts";
import type { CanonicalUrl } from "../url/url.ts";
import type { Batch, BatchEvent } from "./batch.ts";
import type { Candidate } from "./candidate.ts";
import type { Counters } from "./counters.ts";
import type { CrawlHooks } from "./hooks.ts";
import type { Ownership, PeerSetup } from "./ownership.ts";
import type { Placement, Placing, Reading } from "./parse-page.ts";
import type { QueuedRequest, Requests } from "./requests.ts";
import type { Site } from "./site.ts";
import type { SiteEvent, Sites } from "./sites.ts";

/** The interfaces of one crawl to the outside, and its settings and seeds. */
export interface CrawlParts {
  readonly settings: Settings;
  readonly seeds: readonly CanonicalUrl[];
  readonly spellings?: Spellings;
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly fetcher: Fetcher;
  /** undefined behind a proxy, which resolves names itself. */
  readonly resolver: Resolver | undefined;
  readonly output: Output | undefined;
  /** undefined when pages are not indexed during the crawl. */
  readonly index?: PageIndex | undefined;
  /** undefined where large bodies are read in the crawl's own thread. */
  readonly aside?: PageAside | undefined;
  readonly log: Log;
  readonly hooks: CrawlHooks;
  readonly line: LinkSetup;
  /** For one process of several. */
  readonly team?: PeerSetup;
  readonly traces?: Traces | undefined;
  /** undefined when pages are not classified. */
  readonly topics?: TopicSetup | undefined;
}

/** What a crawl knows of its network link, of servers, and of the hours of the day. */
export interface LinkSetup {
  readonly wire: Wire;
  readonly speeds: SpeedTable;
  readonly zone: TimeZone;
  readonly almanac: Almanac;
}

/** The network link as the operating system shows it. */
export interface Wire {
  /** Sets the bytes that a connection may hold unread; undefined: the default of the system. */
  setWindow(bytes: number | undefined): void;
  /** Whether the system obeys such a window. */
  readonly windowsHeld: boolean;
  /** Bytes of packet overhead for each byte received, on a link with this limit. */
  overheadShare(nowMs: number, limitBps: number | undefined): number;
  /** Overhead beyond that share since the last call, in which `receivedBytes` were received; may be negative. */
  takeBeyond(receivedBytes: number): number;
  /** All bytes of the link since the last call, read or not; undefined if other programs use it or nothing counts. */
  takeCarried(receivedBytes: number, limitBps: number): number | undefined;
  /** The processor time of the crawl's thread since the last call. */
  takeThread(): ThreadSecond;
}

/** What classifies pages, and decides which process owns their content. */
export interface TopicSetup {
  readonly classifier: Classifier | undefined;
  readonly placing: Placing;
  /** Names the model, so that all processes can check that theirs is the same. */
  readonly modelDigest: string;
}

export interface CrawlContext extends CrawlParts {
  /** Aborted when requests in progress are cut off. */
  readonly signal: AbortSignal;
  /** Whether the store has data of an earlier run. */
  readonly resumed: boolean;
  readonly meter: Meter;
  readonly counters: Counters;
  readonly sites: Sites;
  readonly politeness: Politeness;
  readonly workbench: Workbench<QueuedRequest>;
  readonly requests: Requests;
  readonly batch: Batch;
  readonly scope: Scope;
  readonly sieve: Sieve;
  readonly traps: Traps;
  /** undefined for a process that crawls alone. */
  readonly ownership: Ownership | undefined;
  readonly emit: Emit;
}

export type Emit = (event: CrawlEvent) => void;

/** Everything that a part reports without knowing its receivers; `wire.ts` lists which part acts on what. */
export type CrawlEvent =
  | BatchEvent
  | SiteEvent
  /** A site has its place among those that are crawled; next are its IP address and its robots.txt. */
  | { readonly kind: "siteWoken"; readonly site: Site }
  /** A shape of the site's URLs has brought nothing but worthless pages. */
  | { readonly kind: "shapeWorthless"; readonly site: Site }
  /** Only URLs that have failed are left on the workbench for the site. */
  | { readonly kind: "siteDoubted"; readonly site: Site }
  /** One more URL of the site waits. */
  | { readonly kind: "siteGrown"; readonly site: Site }
  /** Its last waiting URL has ended. */
  | { readonly kind: "siteDone"; readonly site: Site }
  | {
      readonly kind: "urlEnded";
      readonly url: string;
      readonly reason: Reason;
      readonly detail: string;
    }
  /** A URL was charged for a failure of its own. */
  | { readonly kind: "urlCharged" }
  /** A request that could not start may start now. */
  | { readonly kind: "mayStart" }
  | { readonly kind: "requestEnded"; readonly site: Site; readonly reason: Reason }
  /** No request is in progress. */
  | { readonly kind: "idle" }
  /** The speed of a server has been measured. */
  | { readonly kind: "serverTried" }
  | { readonly kind: "limitApplied"; readonly isHolding: boolean; readonly hasChanged: boolean }
  /** The counters of the link have been read. */
  | { readonly kind: "linkRead" }
  /** The calendar forbids all requests now, or allows them again. */
  | { readonly kind: "pause"; readonly isPaused: boolean }
  | { readonly kind: "quotaUsedUp"; readonly what: string }
  /** A new URL of another process. */
  | {
      readonly kind: "foreignUrl";
      readonly candidate: Candidate;
      readonly depth: number;
      readonly redirects: number;
      readonly score: number;
    }
  /** One more link to a URL of another process. */
  | { readonly kind: "foreignLink"; readonly url: CanonicalUrl }
  /** A page whose content another process owns, and which is sent to it. */
  | {
      readonly kind: "foreignPage";
      readonly row: WaitingUrl;
      readonly result: FetchedPage;
      readonly owner: string;
      readonly placement: Placement;
    }
  /** The links of a page whose content another process owns, and which is stored here. */
  | {
      readonly kind: "foreignLinks";
      readonly row: WaitingUrl;
      readonly owner: string;
      readonly links: readonly Candidate[];
      readonly refresh: Candidate | undefined;
    }
  /** A page was stored for the first time, and classified. */
  | {
      readonly kind: "pageClassified";
      readonly url: string;
      readonly reading: Reading;
      readonly placement: Placement;
      readonly isImported: boolean;
    }
  /** A message that this process would have to send to itself. */
  | { readonly kind: "ownMessage"; readonly message: UrlMessage }
  /** Bytes exchanged with other processes over the limited link. */
  | { readonly kind: "exchanged"; readonly bytes: number };
