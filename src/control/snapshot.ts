/** A crawl as the outside sees it: the live view, `status`, and the result printed at the end. */

import type { BytesByPurpose } from "../bandwidth/history/ledger.ts";
import type { Cap } from "./caps.ts";
import type { RoundNews, Totals } from "../store/store.ts";
import type { Segment } from "../plan/plan.ts";

export type CrawlState =
  | "starting"
  | "running"
  | "paused"
  /** For the next round. */
  | "waiting"
  | "stopping"
  | "done"
  | "stopped";

/** What the plan predicts for a site. */
export interface Forecast {
  /** From now; negative once it has passed. */
  readonly deadlineInMs: number | undefined;
  /** From now. */
  readonly finishInMs: number;
  readonly rateBps: number;
  readonly leftBytes: number;
  /** The planned rates, with times from the moment the plan was made. */
  readonly segments: readonly Segment[];
  readonly isLate: boolean;
}

/** Which time a site is crawled, what came of it, and when the next begins. */
export interface RoundView {
  /** From 1. */
  readonly number: number;
  readonly news: RoundNews;
  /** 0 when it is late; undefined without a schedule. */
  readonly nextInMs: number | undefined;
}

export interface SiteView {
  readonly site: string;
  /** URLs of it ever admitted. */
  readonly known: number;
  readonly pages: number;
  readonly bytes: number;
  readonly pending: number;
  readonly inFlight: number;
  readonly state:
    | "fetching"
    | "ready"
    | "polite delay"
    | "back-off"
    | "robots"
    | "idle"
    | "unreachable";
  /** How long until it may be asked again. */
  readonly nextInMs: number;
  readonly round: RoundView;
  /** How much a second of its waiting counts. */
  readonly priority: number;
  /** What the plan says of it; undefined without a plan, and when it is done. */
  readonly forecast: Forecast | undefined;
  /** Counted from the start; undefined without a deadline. */
  readonly deadlineMs: number | undefined;
  /** When it was done, counted from the start. */
  readonly finishedMs: number | undefined;
}

export interface PlanView {
  /** How many have been made, this one included. */
  readonly number: number;
  /** Forecasts count from then. */
  readonly madeAgoMs: number;
}

export interface Trouble {
  readonly url: string;
  readonly reason: string;
  readonly detail: string;
}

/** Sites that could not be reached when they were last probed; their URLs are pending. */
export interface UnreachableSites {
  readonly count: number;
  /** At most 10 of each process. */
  readonly first: readonly {
    readonly site: string;
    readonly pending: number;
    /** What its last probe ended with. */
    readonly reason: string;
    readonly detail: string;
    /** For how long it has not responded. */
    readonly seconds: number;
  }[];
}

/** Seeds that a rule refused in this run: robots.txt, a private address, a pattern, a media type. */
export interface RefusedSeeds {
  readonly count: number;
  /** At most 10 of each process. */
  readonly first: readonly Trouble[];
}

export interface Snapshot {
  readonly state: CrawlState;
  /** Why it waits, in words, when it is paused. */
  readonly because: string;
  readonly processId: number;
  readonly elapsedMs: number;
  readonly resumed: boolean;
  readonly totals: Totals;
  readonly pending: number;
  /** Sites that could not be reached when they were last probed. */
  readonly unreachable: number;
  /** Over the last whole second, on the wire. */
  readonly rateBps: number;
  /** In force now; undefined for none, 0 when nothing may be fetched. */
  readonly limitBps: number | undefined;
  /** CB: what the running downloads are predicted to take. */
  readonly predictedBps: number;
  /** Downloads whose reading waits for the limit. */
  readonly waitingReaders: number;
  /** What has come, by what it was for. */
  readonly ledger: BytesByPurpose;
  readonly pagesPerSecond: number;
  /** Bytes in each of the last 60 seconds, oldest first. */
  readonly recentBps: readonly number[];
  /** How long the waiting URLs will take at the present pace; undefined while nobody can tell. */
  readonly remainingMs: number | undefined;
  readonly connectionsOpen: number;
  readonly connectionsMax: number;
  /** The plan in force; undefined without one. */
  readonly plan: PlanView | undefined;
  readonly siteCount: number;
  /** Those with a deadline, then the busiest, at most 100. */
  readonly sites: readonly SiteView[];
  /** The last failures, at most 20, newest last. */
  readonly troubles: readonly Trouble[];
  /** Of several processes; absent for one. */
  readonly parallel?: ParallelView | undefined;
  /** What pages are about; absent where nobody asks. */
  readonly topics?: TopicsView | undefined;
}

/** One process of several. */
export interface ProcessView {
  readonly name: string;
  readonly pages: number;
  readonly pending: number;
  readonly rateBps: number;
  readonly limitBps: number | undefined;
  readonly state: string;
}

/** Several processes at work, and what they sent each other. */
export interface ParallelView {
  readonly procs: readonly ProcessView[];
  /** URLs sent: from the process of the row to that of the column. */
  readonly flows: readonly (readonly number[])[];
  /** Of a cluster: what its nodes sent each other, and how many different pages they have. */
  readonly exchangeBytes?: number;
  readonly differentPages?: number;
}

/** What several processes cost and brought, in the paper's measures. */
export interface ParallelResult {
  readonly procs: number;
  /** Pages fetched, and different ones among them: N and I. */
  readonly downloaded: number;
  readonly unique: number;
  readonly overlap: number;
  readonly urlsExchanged: number;
  /** URLs exchanged for each page. */
  readonly communicationOverhead: number;
  readonly exchangeBytes: number;
  /** Against a reference, or estimated from a sample; null without either. Quality only against a reference. */
  readonly coverage: number | null;
  readonly quality: number | null;
}

/** What pages are about, and how well links keep to it. */
export interface TopicsResult {
  /** The digest of the model. */
  readonly model: string;
  /** The share of links whose two pages are about the same. */
  readonly locality: number;
  /** Pages fetched by the process that keeps them, and by others for it. */
  readonly byTopic: Readonly<Record<string, { readonly own: number; readonly imported: number }>>;
}

/** The same while it goes on: of the links so many were judged, those to pages that were read lately. */
export interface TopicsView extends TopicsResult {
  readonly linksJudged: number;
}

/** As programs read it. */
export interface RoundPages {
  readonly changed: number;
  readonly unchanged: number;
  readonly new: number;
  readonly gone: number;
  readonly leftOut: number;
}

export function roundPagesOf({ news }: Pick<RoundView, "news">): RoundPages {
  const { changed, unchanged, fresh, gone, left } = news;
  return { changed, unchanged, new: fresh, gone, leftOut: left };
}

/** What `weir crawl --json` prints: names and meanings are fixed by the command line's contract. */
export interface CrawlResult {
  readonly pages: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly urls: Readonly<Record<"known" | "done" | "failed" | "skipped" | "pending", number>>;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly refusedLinks: Readonly<Record<string, number>>;
  readonly remarks: Readonly<Record<string, number>>;
  /** Caps that cut something off, and the settings that move them. */
  readonly caps: readonly Cap[];
  readonly refusedSeeds: RefusedSeeds;
  readonly unreachable: UnreachableSites;
  readonly bandwidth: {
    readonly limitBps: number | null;
    readonly meanBps: number;
    readonly utilisation: number | null;
    readonly worstSecond: number | null;
    readonly secondsOver105: number | null;
    /** Seconds in which the limit was not filled for want of processor time. */
    readonly secondsCpuBound: number;
    /** How many URLs a started one overtook, on average, and the longest that one was passed over. */
    readonly rankInversion: number;
    readonly longestWaitMs: number;
  };
  readonly ledger: {
    readonly byPurpose: BytesByPurpose;
    /** Bytes of each process; one that crawls alone is called 0. */
    readonly byProcess: Readonly<Record<string, number>>;
  };
  readonly sites: readonly {
    readonly site: string;
    readonly pages: number;
    readonly bytes: number;
    readonly ledger: BytesByPurpose;
    readonly deadlineSeconds: number | null;
    readonly finishedSeconds: number | null;
    readonly met: boolean | null;
    readonly round: number;
    readonly nextRoundInSeconds: number | null;
    /** What came of its pages in this round. */
    readonly roundPages: RoundPages;
  }[];
  /** Of several processes together; null for one. */
  readonly parallel: ParallelResult | null;
  /** What pages were about; null where nobody asked. */
  readonly topics: TopicsResult | null;
  readonly duplicates: { readonly exact: number; readonly near: number };
  readonly resumed: boolean;
  /** True when the work ended because there was none left, and not because somebody or a limit stopped it. */
  readonly complete: boolean;
  /** What stopped it, in words; empty when complete. */
  readonly stoppedBy: string;
}
