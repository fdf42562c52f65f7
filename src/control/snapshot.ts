/** The state of a crawl for users: for the live view, `status`, and the printed result. */

import type { BytesByPurpose } from "../bandwidth/history/ledger.ts";
import type { Slowed } from "../base/units.ts";
import type { Cap } from "./caps.ts";
import type { RoundNews, Totals } from "../store/store.ts";
import type { Segment } from "../plan/plan.ts";

/** What a crawl is doing. */
export type CrawlState =
  | "starting"
  | "running"
  | "paused"
  /** Until the next recrawl. */
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
  /** The planned rates; times count from the moment of the plan. */
  readonly segments: readonly Segment[];
  readonly isLate: boolean;
}

/** The current recrawl of a site, its pages, and the start of the next one. */
export interface RoundView {
  /** From 1. */
  readonly number: number;
  readonly news: RoundNews;
  /** 0 when it is late; undefined without a schedule. */
  readonly nextInMs: number | undefined;
}

/** What the first plan of a crawl promised for a site. */
export interface PromisedView {
  /**
   * `sure`; `likely`: it depends on an estimate; `unlikely`: late, by an estimated size; `late`.
   */
  readonly certainty: "sure" | "likely" | "unlikely" | "late";
  /** Planned end, from the start. */
  readonly finishMs: number;
}

/** One site in a {@link Snapshot}. */
export interface SiteView {
  /** scheme://host[:port] */
  readonly site: string;
  /** Its URLs that were admitted. */
  readonly known: number;
  /** Pages fetched. */
  readonly pages: number;
  readonly bytes: number;
  /** URLs without an outcome. */
  readonly pending: number;
  /** Running requests. */
  readonly inFlight: number;
  readonly state:
    | "fetching"
    | "ready"
    | "polite delay"
    | "back-off"
    | "locating"
    | "robots"
    | "opening"
    | "idle"
    | "unreachable";
  /** Time until the next request is allowed. */
  readonly nextInMs: number;
  /** The rate to which 429 or 503 slowed it down; undefined when it accepts every request. */
  readonly slowed?: Slowed | undefined;
  readonly round: RoundView;
  /** Weight of a second of its finish time. */
  readonly priority: number;
  /** Its forecast; undefined without a plan, and when it is done. */
  readonly forecast: Forecast | undefined;
  /** Counted from the start; undefined without a deadline. */
  readonly deadlineMs: number | undefined;
  /** When it was done, from the start. */
  readonly finishedMs: number | undefined;
  /** What the first plan promised; undefined without a deadline or a plan. */
  readonly promised?: PromisedView | undefined;
}

export interface PlanView {
  /** Number of plans so far, this one included. */
  readonly number: number;
  /** Age of the plan; forecasts count from it. */
  readonly madeAgoMs: number;
}

/** A failed or refused URL, with its reason (docs/reasons.md). */
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
  /** At most 10 per process. */
  readonly first: readonly Trouble[];
}

/** The state of a running crawl, as the live view and the dashboard show it. */
export interface Snapshot {
  readonly state: CrawlState;
  /** Reason of a pause, in words. */
  readonly because: string;
  readonly processId: number;
  readonly elapsedMs: number;
  readonly resumed: boolean;
  readonly totals: Totals;
  /** URLs without an outcome. */
  readonly pending: number;
  /** Sites that could not be reached when they were last probed. */
  readonly unreachable: number;
  /** Over the last full second, on the wire. */
  readonly rateBps: number;
  /** The current limit; undefined for none, 0 when nothing may be fetched. */
  readonly limitBps: number | undefined;
  /** CB: predicted rate of the running downloads. */
  readonly predictedBps: number;
  /** Downloads paused by the limit. */
  readonly waitingReaders: number;
  /** Received bytes by purpose. */
  readonly ledger: BytesByPurpose;
  readonly pagesPerSecond: number;
  /** Bytes in each of the last 60 seconds, oldest first. */
  readonly recentBps: readonly number[];
  /** Estimated time for the waiting URLs at the present pace; undefined without an estimate. */
  readonly remainingMs: number | undefined;
  readonly connectionsOpen: number;
  readonly connectionsMax: number;
  /** The current plan; undefined without one. */
  readonly plan: PlanView | undefined;
  readonly siteCount: number;
  /** Sites with a deadline, then the busiest ones, at most 100. */
  readonly sites: readonly SiteView[];
  /** The last failures, at most 20, newest last. */
  readonly troubles: readonly Trouble[];
  /** For several processes; absent for one. */
  readonly parallel?: ParallelView | undefined;
  /** Topics of pages; absent without a model. */
  readonly topics?: TopicsView | undefined;
}

/** One process of several. */
interface ProcessView {
  readonly name: string;
  readonly pages: number;
  readonly pending: number;
  readonly rateBps: number;
  readonly limitBps: number | undefined;
  readonly state: string;
}

/** Several running processes, and the URLs they exchanged. */
export interface ParallelView {
  readonly procs: readonly ProcessView[];
  /** URLs sent from the process of the row to that of the column; empty for more than 32 processes. */
  readonly flows: readonly (readonly number[])[];
  /** All URLs sent, also where there are too many processes for `flows`. */
  readonly urlsSent?: number;
  /** Invalid messages that were dropped between the processes and their coordinator. */
  readonly droppedMessages?: number;
  /** In a cluster: bytes exchanged by its nodes, and the number of different pages. */
  readonly exchangeBytes?: number;
  readonly differentPages?: number;
}

/** The paper's measures of a crawl by several processes. */
export interface ParallelResult {
  readonly procs: number;
  /** Pages fetched, and the different ones among them: N and I. */
  readonly downloaded: number;
  readonly unique: number;
  readonly overlap: number;
  readonly urlsExchanged: number;
  /** URLs exchanged per page. */
  readonly communicationOverhead: number;
  readonly exchangeBytes: number;
  /** Against a reference, or estimated from a sample; null without either. Quality only against a reference. */
  readonly coverage: number | null;
  readonly quality: number | null;
}

/** Topics of pages, and how often links stay within a topic. */
export interface TopicsResult {
  /** Digest of the model. */
  readonly model: string;
  /** Share of links between two pages of the same topic. */
  readonly locality: number;
  /** Pages fetched by the process that stores them, and by others for it. */
  readonly byTopic: Readonly<Record<string, { readonly own: number; readonly imported: number }>>;
}

/** The same during the crawl, with the number of links examined: those to recently read pages. */
export interface TopicsView extends TopicsResult {
  readonly linksJudged: number;
}

/** In the JSON result. */
interface RoundPages {
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

/** The result of a crawl, as `weir crawl --json` prints it (docs/results.md); names and meanings are fixed. */
export interface CrawlResult {
  readonly pages: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly urls: Readonly<Record<"known" | "done" | "failed" | "skipped" | "pending", number>>;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly refusedLinks: Readonly<Record<string, number>>;
  readonly remarks: Readonly<Record<string, number>>;
  /** Caps that cut something off, and the settings that raise them. */
  readonly caps: readonly Cap[];
  readonly refusedSeeds: RefusedSeeds;
  readonly unreachable: UnreachableSites;
  readonly bandwidth: {
    readonly limitBps: number | null;
    readonly meanBps: number;
    readonly utilisation: number | null;
    readonly worstSecond: number | null;
    readonly secondsOver105: number | null;
    /** Seconds in which the limit was not filled because the processor was busy. */
    readonly secondsCpuBound: number;
    /**
     * Mean number of URLs that a started one overtook, and the longest time that one was skipped.
     */
    readonly rankInversion: number;
    readonly longestWaitMs: number;
  };
  readonly ledger: {
    readonly byPurpose: BytesByPurpose;
    /** Bytes of each process; the name of a single process is 0. */
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
    /** What the first plan promised: the planned end, and how certain it was; null without one. */
    readonly promised: { readonly finishSeconds: number; readonly certainty: string } | null;
    readonly round: number;
    readonly nextRoundInSeconds: number | null;
    /** Outcomes of its pages in this recrawl. */
    readonly roundPages: RoundPages;
  }[];
  /** For several processes together; null for one. */
  readonly parallel: ParallelResult | null;
  /** Topics of pages; null without a model. */
  readonly topics: TopicsResult | null;
  readonly duplicates: { readonly exact: number; readonly near: number };
  readonly resumed: boolean;
  /** True when no work was left, instead of a stop by the user or by a limit. */
  readonly complete: boolean;
  /** Reason of the stop, in words; empty when complete. */
  readonly stoppedBy: string;
}
