/** A crawl as the outside sees it: the live view, `status`, and the result printed at the end. */

import type { BytesByPurpose } from "../bandwidth/history/ledger.ts";
import type { Cap } from "./caps.ts";
import type { RoundNews, Totals } from "../store/store.ts";
import type { Segment } from "../plan/plan.ts";

/** What a crawl is doing. */
export type CrawlState =
  | "starting"
  | "running"
  | "paused"
  /** For the next scheduled recrawl. */
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

/** One site in a {@link Snapshot}. */
export interface SiteView {
  /** scheme://host[:port] */
  readonly site: string;
  /** URLs ever accepted. */
  readonly known: number;
  /** Pages fetched. */
  readonly pages: number;
  readonly bytes: number;
  /** URLs that have no outcome yet. */
  readonly pending: number;
  /** Running requests. */
  readonly inFlight: number;
  readonly state: "fetching" | "ready" | "polite delay" | "back-off" | "robots" | "idle";
  /** Time until the next request is permitted. */
  readonly nextInMs: number;
  readonly round: RoundView;
  /** Weight of its finish time. */
  readonly priority: number;
  /** Prediction of the plan; undefined without a plan, and when the site is done. */
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

/** A failed or refused URL, with the reason from docs/reasons.md. */
export interface Trouble {
  readonly url: string;
  readonly reason: string;
  readonly detail: string;
}

/** Seeds that a rule refused in this run: robots.txt, a private address, a pattern, a media type. */
export interface RefusedSeeds {
  readonly count: number;
  /** At most 10 of each process. */
  readonly first: readonly Trouble[];
}

/** The state of a running crawl, as its live view and dashboard show it. */
export interface Snapshot {
  readonly state: CrawlState;
  /** Why the crawl is paused, in words. */
  readonly because: string;
  readonly processId: number;
  readonly elapsedMs: number;
  readonly resumed: boolean;
  readonly totals: Totals;
  /** URLs that have no outcome yet. */
  readonly pending: number;
  /** Bytes received in the last whole second, packet headers included. */
  readonly rateBps: number;
  /** In force now; undefined for none, 0 when nothing may be fetched. */
  readonly limitBps: number | undefined;
  /** Predicted rate of the running downloads. */
  readonly predictedBps: number;
  /** Downloads whose reading waits for the limit. */
  readonly waitingReaders: number;
  /** Received bytes by purpose. */
  readonly ledger: BytesByPurpose;
  readonly pagesPerSecond: number;
  /** Bytes in each of the last 60 seconds, oldest first. */
  readonly recentBps: readonly number[];
  /** Time for the waiting URLs at the present pace; undefined without a pace. */
  readonly remainingMs: number | undefined;
  readonly connectionsOpen: number;
  readonly connectionsMax: number;
  /** The plan in force; undefined without one. */
  readonly plan: PlanView | undefined;
  readonly siteCount: number;
  /** Sites with a deadline, then the busiest; at most 100. */
  readonly sites: readonly SiteView[];
  /** The last failures, at most 20, newest last. */
  readonly troubles: readonly Trouble[];
  /** Only of a crawl by several processes. */
  readonly parallel?: ParallelView | undefined;
  /** Topics of the pages; absent unless pages are classified. */
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

/** The result of a crawl, as `weir crawl --json` prints it; docs/results.md describes every member. */
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
  readonly bandwidth: {
    readonly limitBps: number | null;
    readonly meanBps: number;
    readonly utilisation: number | null;
    readonly worstSecond: number | null;
    readonly secondsOver105: number | null;
    /** Seconds in which the limit was not filled because of missing processor time. */
    readonly secondsCpuBound: number;
    /** Mean number of URLs that a started URL overtook, and the longest time that a URL was passed over. */
    readonly rankInversion: number;
    readonly longestWaitMs: number;
  };
  readonly ledger: {
    readonly byPurpose: BytesByPurpose;
    /** Bytes of each process; the only process of a crawl has the name 0. */
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
    /** Outcomes of its pages in this recrawl. */
    readonly roundPages: RoundPages;
  }[];
  /** Figures of several processes; null for one. */
  readonly parallel: ParallelResult | null;
  /** Topics of the pages; null unless pages were classified. */
  readonly topics: TopicsResult | null;
  readonly duplicates: { readonly exact: number; readonly near: number };
  readonly resumed: boolean;
  /** True when no work was left; false when the user or a limit stopped the crawl. */
  readonly complete: boolean;
  /** What stopped the crawl, in words; empty when complete. */
  readonly stoppedBy: string;
}
