/**
 * The setting that the three experiments on bounded bandwidth share: a department's line and the
 * servers its crawler meets.
 *
 * The paper (Diligenti, Maggini, Pucci, Scarselli: *Design of a Crawler with Bounded Bandwidth*, WWW
 * 2004) gives the limit, k, σ and max_d. It does not describe its servers. `far` ones were chosen once,
 * before any result was seen: speeds over two decades, a way as long as to the rest of the world, pages
 * of a dozen kilobytes. There the way decides what a download takes, and a dozen of them fit under the
 * limit. `near` ones are the same at the end of a tenth of that way, so that fewer and larger ones fit:
 * how coarse the pieces are is what the paper's way of filling the limit depends on most.
 */

import type { Settings } from "../../config/schema.ts";
import type { WorldPlan } from "../world/plan.ts";
import type { Axis, Line } from "./experiment.ts";
import { crawlQueue, type QueuePlan, type QueueReport } from "./queue-crawl.ts";

export const PAPER = "Diligenti et al., Design of a Crawler with Bounded Bandwidth, WWW 2004";
export const LIMIT_BPS = 140_000;
export const WARM_UP_SECONDS = 180;
export const WATCHED_SECONDS = 120;
/** The paper's figures show forty seconds. */
export const SHOWN_SECONDS = 40;

const SERVERS = {
  siteCount: 40,
  speedBpsMin: 4_000,
  speedBpsMax: 400_000,
  bytesMedianMin: 4_000,
  bytesMedianMax: 32_000,
  bytesMax: 300_000,
} satisfies Partial<WorldPlan>;
const WAYS = {
  far: { latencyMsMin: 40, latencyMsMax: 400 },
  near: { latencyMsMin: 4, latencyMsMax: 40 },
} satisfies Record<string, Partial<WorldPlan>>;
const PAGES_PER_SITE = 120;
const PREDICTION = { speedGain: 0.3, speedSpreadMinutes: 120 } satisfies Partial<Settings>;

export const LINE_PARAMETERS = {
  limitBps: LIMIT_BPS,
  k: PREDICTION.speedGain,
  sigmaMinutes: PREDICTION.speedSpreadMinutes,
  servers: SERVERS.siteCount,
  serverBpsMin: SERVERS.speedBpsMin,
  serverBpsMax: SERVERS.speedBpsMax,
  pageBytesMedianMin: SERVERS.bytesMedianMin,
  pageBytesMedianMax: SERVERS.bytesMedianMax,
  warmUpSeconds: WARM_UP_SECONDS,
  watchedSeconds: WATCHED_SECONDS,
} as const;

export interface Contest {
  readonly servers: keyof typeof WAYS;
  readonly queue: QueuePlan["queue"];
  readonly control: Settings["control"];
  readonly maxD: number;
}

export function crawlBounded(seed: number, contest: Contest): Promise<QueueReport> {
  const { servers, queue, control, maxD } = contest;
  return crawlQueue({
    seed,
    queue,
    world: { ...SERVERS, ...WAYS[servers] },
    settings: { ...PREDICTION, limitBps: LIMIT_BPS, control, searchDepthMax: maxD },
    pagesPerSite: PAGES_PER_SITE,
    warmUpSeconds: WARM_UP_SECONDS,
    seconds: WATCHED_SECONDS,
  });
}

export const TIME: Axis = { label: "time", unit: "s" };
export const RATE: Axis = { label: "rate", unit: "B/s" };

/** The limit as a line over the seconds that are shown. */
export const LIMIT_LINE: Line = {
  name: "limit L",
  kind: "limit",
  points: [
    [0, LIMIT_BPS],
    [SHOWN_SECONDS, LIMIT_BPS],
  ],
};

/** The first seconds of a series, one point a second. */
export function shown(name: string, kind: Line["kind"], bps: readonly number[]): Line {
  const points = bps.slice(0, SHOWN_SECONDS).map((rate, second) => [second, rate] as const);
  return { name, kind, points };
}
