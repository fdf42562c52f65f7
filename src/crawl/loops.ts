/** All loops of one crawl as the crawler and the showing see them, and what surrounds them. */

import type { Controller } from "../bandwidth/controller.ts";
import type { Meter } from "../bandwidth/history/meter.ts";
import type { CrawlError } from "../base/errors.ts";
import type { Courtesy } from "../frontier/politeness.ts";
import type { Workbench } from "../frontier/workbench.ts";
import type { FetchLoop } from "./fetch-loop.ts";
import type { Job } from "./job.ts";
import type { Line } from "./limit/link-budget.ts";
import type { Batch } from "./batch.ts";
import type { Ordering } from "./ordering.ts";
import type { Pace } from "./pace.ts";
import type { Promised } from "./deadlines/deadlines.ts";
import type { Refill } from "./queue.ts";
import type { Replan } from "./deadlines/replan.ts";
import type { Roster, Site } from "./sites.ts";
import type { Rounds } from "./recrawl/recrawls.ts";
import type { Settler } from "./end-url.ts";
import type { Sluice } from "./limit/limiter.ts";
import type { Tally } from "./counters.ts";
import type { Team } from "./peers/peer.ts";
import type { TopicWatch } from "./topics/counts.ts";
import type { Patience } from "./patience.ts";
import type { Unreachable } from "./unreachable.ts";

export interface Surroundings {
  readonly meter: Meter;
  readonly signal: AbortSignal;
  readonly resumed: boolean;
  /** When the time began that a site's deadline counts from. */
  readonly beganAtMs: (site: Site) => number;
  readonly allowance: () => number;
  /** A calendar that allows nothing for now, or something again. */
  readonly onPause: (isPaused: boolean) => void;
  readonly onQuotaUsedUp: (what: string) => void;
  readonly onTrouble: (trouble: CrawlError | undefined) => void;
  readonly onIdle: () => void;
  readonly onFault: (fault: unknown) => void;
}

/** All loops of one crawl, as the crawler and the showing see them. */
export interface Loops {
  readonly tally: Tally;
  readonly pace: Pace;
  readonly courtesy: Courtesy;
  readonly workbench: Workbench<Job>;
  readonly roster: Roster;
  readonly batch: Batch;
  readonly settler: Settler;
  readonly refill: Refill;
  readonly unreachable: Unreachable;
  readonly patience: Patience;
  readonly fetchLoop: FetchLoop;
  readonly controller: Controller;
  readonly sluice: Sluice;
  readonly line: Line;
  readonly promised: Promised;
  readonly replan: Replan;
  readonly rounds: Rounds;
  /** undefined where one process has the whole web. */
  readonly team: Team | undefined;
  readonly ordering: Ordering | undefined;
  /** undefined where nobody asks what pages are about. */
  readonly topicWatch: TopicWatch | undefined;
  admitSeeds(): void;
  setDelay(delayMs: number): void;
  /** Look-ups of names under way, for which nothing is on the workbench yet. */
  errandsUnderWay(): number;
}
