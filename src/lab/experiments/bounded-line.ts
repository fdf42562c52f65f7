/**
 * The common setting of the three experiments on bounded bandwidth: a department's link and its servers.
 *
 * The paper (Diligenti, Maggini, Pucci, Scarselli: *Design of a Crawler with Bounded Bandwidth*, WWW
 * 2004) gives the limit, k, σ and max_d, but not its servers. The `far` servers were chosen once, before
 * any result was known: speeds over two decades, worldwide latencies, pages of a dozen kilobytes. The
 * latency dominates their download times, and a dozen downloads fit under the limit. The `near` servers
 * have a tenth of the latency, so that fewer and faster downloads fit: the paper's control depends most
 * on this granularity.
 */

import type { Settings } from "../../config/schema.ts";
import type { WorldPlan } from "../world/plan.ts";
import type { Axis, Line } from "./experiment.ts";
import { crawlQueue, type QueuePlan, type QueueReport } from "./queue-crawl.ts";

export const PAPER = "Diligenti et al., Design of a Crawler with Bounded Bandwidth, WWW 2004";
export const LIMIT_BPS = 140_000;
const WARM_UP_SECONDS = 180;
const WATCHED_SECONDS = 120;
/** Length of the paper's figures. */
const SHOWN_SECONDS = 40;

const SERVERS = {
  siteCount: 40,
  speedBpsMin: 4_000,
  speedBpsMax: 400_000,
  bytesMedianMin: 4_000,
  bytesMedianMax: 32_000,
  bytesMax: 300_000,
} satisfies Partial<WorldPlan>;
const LATENCIES = {
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
  readonly servers: keyof typeof LATENCIES;
  readonly queue: QueuePlan["queue"];
  readonly control: Settings["control"];
  readonly maxD: number;
}

export function crawlBounded(seed: number, contest: Contest): Promise<QueueReport> {
  const { servers, queue, control, maxD } = contest;
  return crawlQueue({
    seed,
    queue,
    world: { ...SERVERS, ...LATENCIES[servers] },
    settings: { ...PREDICTION, limitBps: LIMIT_BPS, control, searchDepthMax: maxD },
    pagesPerSite: PAGES_PER_SITE,
    warmUpSeconds: WARM_UP_SECONDS,
    seconds: WATCHED_SECONDS,
  });
}

export const TIME: Axis = { label: "time", unit: "s" };
export const RATE: Axis = { label: "rate", unit: "B/s" };

/** The limit as a line over the plotted seconds. */
export const LIMIT_LINE: Line = {
  name: "limit L",
  kind: "limit",
  points: [
    [0, LIMIT_BPS],
    [SHOWN_SECONDS, LIMIT_BPS],
  ],
};

/** The first seconds of a series, one point per second. */
export function shown(name: string, kind: Line["kind"], bps: readonly number[]): Line {
  const points = bps.slice(0, SHOWN_SECONDS).map((rate, second) => [second, rate] as const);
  return { name, kind, points };
}
