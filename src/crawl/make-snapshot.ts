/** Makes snapshots and results: all that is shown of a crawl. */

import { capsOf } from "../control/caps.ts";
import { Books } from "../bandwidth/history/ledger.ts";
import type { Meter } from "../bandwidth/history/meter.ts";
import { NO_NEWS, type SiteRow } from "../store/store.ts";
import type { Site, SiteState } from "./site.ts";
import type { Wired } from "./wire.ts";
import { type Forecast, type PromisedView, roundPagesOf } from "../control/snapshot.ts";
import { topicFigures } from "../results/topic-figures.ts";
import type {
  CrawlResult,
  CrawlState,
  RoundView,
  SiteView,
  Snapshot,
} from "../control/snapshot.ts";

type Recrawls = Wired["recrawls"];

/** A site that is ready is shown by what it does. */
const SHOWN_STATES = {
  asleep: "idle",
  opening: "opening",
  locating: "locating",
  "reading-robots": "robots",
  ready: "ready",
  resting: "ready",
  ending: "ready",
  unreachable: "unreachable",
} as const satisfies Record<SiteState, SiteView["state"]>;
const SITES_SHOWN = 100;
/** Segments of a forecast that are shown; all later ones are shown as one. */
const SEGMENTS_SHOWN = 12;
const SITES_IN_RESULT = 10_000;
/** Seconds over which the pace is measured to estimate the time for the rest. */
const PACE_SECONDS = 10;

export interface Moment {
  readonly wired: Wired;
  readonly nowMs: number;
  readonly startedAtMs: number;
}

export function snapshotOf(
  moment: Moment & { readonly state: CrawlState; readonly because: string },
): Snapshot {
  const { wired, nowMs, startedAtMs, state, because } = moment;
  const { context, controller, fetchLoop, replanner } = wired;
  const { counters, sites, meter, requests, resumed } = context;
  const recentBps = meter.recentBps(nowMs);
  const pagesPerSecond = counters.pace.perSecond(nowMs, PACE_SECONDS);
  return {
    state,
    because,
    processId: process.pid,
    elapsedMs: nowMs - startedAtMs,
    resumed,
    totals: counters.totals(nowMs - startedAtMs),
    pending: counters.pending,
    unreachable: sites.outages.size,
    rateBps: recentBps.at(-1) ?? 0,
    limitBps: wired.link.limitBps,
    predictedBps: controller.predictedBps,
    waitingReaders: controller.waiting,
    ledger: counters.ledger.byPurpose(),
    pagesPerSecond,
    recentBps,
    remainingMs: pagesPerSecond > 0 ? (counters.pending / pagesPerSecond) * 1000 : undefined,
    connectionsOpen: requests.sent,
    connectionsMax: fetchLoop.connectionsMax,
    plan: replanner.made(nowMs),
    siteCount: sites.count,
    sites: mostTelling(wired).map((site) => siteView(wired, site, nowMs)),
    troubles: counters.failures,
    ...(wired.topicCounts === undefined ? {} : { topics: wired.topicCounts.view() }),
  };
}

export function resultOf(
  moment: Moment & {
    readonly stoppedBy: string;
    /** undefined if pages are not classified. */
    readonly modelDigest: string | undefined;
  },
): CrawlResult {
  const { wired, nowMs, startedAtMs, stoppedBy, modelDigest } = moment;
  const { counters, store, resumed } = wired.context;
  const elapsedMs = nowMs - startedAtMs;
  const totals = counters.totals(elapsedMs);
  const { pending } = counters;
  return {
    pages: totals.pages,
    bytes: totals.bytes,
    seconds: elapsedMs / 1000,
    urls: {
      known: totals.known,
      done: totals.done,
      failed: totals.failed,
      skipped: totals.skipped,
      pending,
    },
    outcomes: totals.outcomes,
    refusedLinks: totals.refusedLinks,
    remarks: totals.remarks,
    caps: capsOf(totals),
    refusedSeeds: counters.refusedSeeds,
    unreachable: wired.unreachable.sites(),
    bandwidth: bandwidthOf(moment),
    ledger: {
      byPurpose: counters.ledger.byPurpose(),
      byProcess: { 0: counters.ledger.bytes },
    },
    sites: siteResults(wired),
    parallel: null,
    topics: modelDigest === undefined ? null : topicFigures([store], modelDigest),
    duplicates: { exact: totals.duplicatesExact, near: totals.duplicatesNear },
    resumed,
    complete: pending === 0 && stoppedBy === "",
    stoppedBy,
  };
}

function siteResults({ context, deadlines, recrawls }: Wired): CrawlResult["sites"] {
  const { sites, store } = context;
  const inMemory = new Map(Array.from(sites.inMemory(), (site) => [site.key, site]));
  const rows: CrawlResult["sites"][number][] = [];
  for (const row of store.sites()) {
    if (rows.length >= SITES_IN_RESULT) break;
    const site = inMemory.get(row.key);
    const kept = site === undefined ? undefined : deadlines.keptBy(site);
    const deadlineMs = kept?.deadlineMs ?? deadlines.deadlineMsOf(row.key);
    rows.push({
      site: row.key,
      pages: row.pages,
      bytes: row.bytes,
      ledger: Books.restore(row).byPurpose(),
      deadlineSeconds: inSeconds(deadlineMs),
      finishedSeconds: inSeconds(kept?.finishedMs),
      met: isMet(deadlineMs, kept?.finishedMs, row.pending),
      promised: promisedResult(kept?.promised),
      ...roundResult(recrawls, row),
    });
  }
  return rows;
}

/** null without a deadline, and when the site was done in an earlier run. */
function promisedResult(
  promised: PromisedView | undefined,
): CrawlResult["sites"][number]["promised"] {
  if (promised === undefined) return null;
  return { finishSeconds: promised.finishMs / 1000, certainty: promised.certainty };
}

function isMet(
  deadlineMs: number | undefined,
  finishedMs: number | undefined,
  pending: number,
): boolean | null {
  if (deadlineMs === undefined || (finishedMs === undefined && pending === 0)) return null;
  return finishedMs !== undefined && finishedMs <= deadlineMs;
}

function inSeconds(durationMs: number | undefined): number | null {
  return durationMs === undefined ? null : durationMs / 1000;
}

/** Sites of a store from before there were rounds are in their first. */
function roundResult(
  recrawls: Recrawls,
  { key, round }: SiteRow,
): Pick<CrawlResult["sites"][number], "round" | "nextRoundInSeconds" | "roundPages"> {
  const nextInMs = recrawls.nextInMs(key, round);
  return {
    round: round?.number ?? 1,
    nextRoundInSeconds: nextInMs === undefined ? null : nextInMs / 1000,
    roundPages: roundPagesOf(round ?? { news: NO_NEWS }),
  };
}

function roundView(recrawls: Recrawls, { key, round }: Site): RoundView {
  const { number, news, startedWallMs } = round;
  const nextInMs = recrawls.nextInMs(key, { startedAtMs: startedWallMs });
  return { number, news: { ...news }, nextInMs };
}

function bandwidthOf({ wired, nowMs, startedAtMs }: Moment): CrawlResult["bandwidth"] {
  const { context, limiter, link } = wired;
  const { begun, overtaken, passedOverMaxMs } = limiter.orderKept;
  return {
    ...measuredRate(context.meter, link.limitBps, nowMs - startedAtMs),
    secondsCpuBound: link.secondsCpuBound,
    rankInversion: begun === 0 ? 0 : overtaken / begun,
    longestWaitMs: passedOverMaxMs,
  };
}

/** The rate against the limit, by the program's own meter. */
export function measuredRate(
  meter: Meter,
  limitBps: number | undefined,
  elapsedMs: number,
): Omit<CrawlResult["bandwidth"], "secondsCpuBound" | "rankInversion" | "longestWaitMs"> {
  const meanBps = elapsedMs > 0 ? (meter.bytes * 1000) / elapsedMs : 0;
  const isHeld = limitBps !== undefined && limitBps > 0;
  return {
    limitBps: limitBps ?? null,
    meanBps,
    utilisation: isHeld ? meanBps / limitBps : null,
    worstSecond: meter.worstShare ?? null,
    secondsOver105: meter.worstShare === undefined ? null : meter.secondsOver,
  };
}

/** Sites with deadlines first, then the busiest. */
function mostTelling({ context, deadlines }: Wired): Site[] {
  const { sites } = context;
  const known = [...sites.inMemory()].filter((site) => site.known > 0);
  if (known.length <= SITES_SHOWN) return known;
  const due = new Set(known.filter(({ key }) => deadlines.deadlineMsOf(key) !== undefined));
  return known
    .sort(
      (a, b) =>
        Number(due.has(b)) - Number(due.has(a)) ||
        Number(b.awake) - Number(a.awake) ||
        b.known - a.known,
    )
    .slice(0, SITES_SHOWN);
}

function siteView(wired: Wired, site: Site, nowMs: number): SiteView {
  const { replanner, deadlines, recrawls } = wired;
  const { politeness, workbench, sites } = wired.context;
  const politeAtMs = site.to === undefined ? nowMs : politeness.readyAtMs(site.to);
  const readyAtMs = Math.max(politeAtMs, sites.outages.get(site.key)?.untilMs ?? -Infinity);
  const held = workbench.has(site.id) ? workbench.held(site.id).size : 0;
  const inFlight = held - (workbench.has(site.id) ? workbench.queued(site.id) : 0);
  return {
    site: site.key,
    known: site.known,
    pages: site.pages,
    bytes: site.books.bytes,
    pending: site.pending,
    inFlight,
    state: stateOf(),
    nextInMs: Number.isFinite(readyAtMs) ? Math.max(0, readyAtMs - nowMs) : 0,
    slowed: slowedView(),
    round: roundView(recrawls, site),
    priority: deadlines.priorityOf(site.key),
    forecast: site.pending > 0 ? shortened(replanner.forecastOf(site)) : undefined,
    ...deadlines.keptBy(site),
  };

  function slowedView(): SiteView["slowed"] {
    const slowed = politeness.slowed(site.id);
    const delayMs = site.to?.delayMs ?? 0;
    // A found rate above what the delay allows slows nothing down.
    if (slowed === undefined || slowed.perSecond * delayMs >= 1000) return undefined;
    return { ...slowed, ofPerSecond: delayMs > 0 ? 1000 / delayMs : undefined };
  }

  function stateOf(): SiteView["state"] {
    if (site.pending === 0 && held === 0) return "idle";
    if (site.pending > 0 && sites.outages.has(site.key)) return "unreachable";
    if (politeness.isResting(nowMs, site.id)) return "back-off";
    const state = SHOWN_STATES[site.state];
    if (state !== "ready") return state;
    if (inFlight > 0) return "fetching";
    return readyAtMs > nowMs ? "polite delay" : "ready";
  }
}

/** Distant segments are merged into their mean. */
function shortened(forecast: Forecast | undefined): Forecast | undefined {
  if (forecast === undefined || forecast.segments.length <= SEGMENTS_SHOWN) return forecast;
  const near = forecast.segments.slice(0, SEGMENTS_SHOWN - 1);
  const far = forecast.segments.slice(SEGMENTS_SHOWN - 1);
  const fromSeconds = far[0]?.fromSeconds ?? 0;
  const toSeconds = far.at(-1)?.toSeconds ?? fromSeconds;
  let bytes = 0;
  for (const part of far) bytes += part.rateBps * (part.toSeconds - part.fromSeconds);
  const rateBps = toSeconds > fromSeconds ? bytes / (toSeconds - fromSeconds) : 0;
  return { ...forecast, segments: [...near, { fromSeconds, toSeconds, rateBps }] };
}
