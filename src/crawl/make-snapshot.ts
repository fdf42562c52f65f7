/** Makes what the outside sees of a crawl from what the loops know. */

import { capsOf } from "../control/caps.ts";
import { Books } from "../bandwidth/history/ledger.ts";
import type { Meter } from "../bandwidth/history/meter.ts";
import { NO_NEWS, type SiteRow, type Store } from "../store/store.ts";
import type { Loops } from "./loops.ts";
import type { Site } from "./sites.ts";
import { type Forecast, roundPagesOf } from "../control/snapshot.ts";
import { topicFigures } from "./topics/figures.ts";
import type {
  CrawlResult,
  CrawlState,
  RoundView,
  SiteView,
  Snapshot,
} from "../control/snapshot.ts";

const SITES_SHOWN = 100;
/** Of a plan; what follows is told as one. */
const SEGMENTS_SHOWN = 12;
const SITES_IN_RESULT = 10_000;
/** Seconds over which the pace is judged when telling how long the rest will take. */
const PACE_SECONDS = 10;

export interface Moment {
  readonly loops: Loops;
  readonly meter: Meter;
  readonly nowMs: number;
  readonly startedAtMs: number;
  readonly resumed: boolean;
}

export function snapshotOf(
  moment: Moment & { readonly state: CrawlState; readonly because: string },
): Snapshot {
  const { loops, meter, nowMs, startedAtMs, state, because, resumed } = moment;
  const { tally, fetchLoop, roster, settler, pace, replan } = loops;
  const recentBps = meter.recentBps(nowMs);
  const pagesPerSecond = pace.perSecond(nowMs, PACE_SECONDS);
  return {
    state,
    because,
    processId: process.pid,
    elapsedMs: nowMs - startedAtMs,
    resumed,
    totals: tally.totals(nowMs - startedAtMs),
    pending: tally.pending,
    unreachable: loops.unreachable.size,
    rateBps: recentBps.at(-1) ?? 0,
    limitBps: loops.line.limitBps,
    predictedBps: loops.controller.predictedBps,
    waitingReaders: loops.controller.waiting,
    ledger: tally.ledger.byPurpose(),
    pagesPerSecond,
    recentBps,
    remainingMs: pagesPerSecond > 0 ? (tally.pending / pagesPerSecond) * 1000 : undefined,
    connectionsOpen: fetchLoop.requests,
    connectionsMax: fetchLoop.connectionsMax,
    plan: replan.made(nowMs),
    siteCount: roster.count,
    sites: mostTelling(loops).map((site) => siteView(loops, site, nowMs)),
    troubles: settler.troubles,
    ...(loops.topicWatch === undefined ? {} : { topics: loops.topicWatch.view() }),
  };
}

export function resultOf(
  moment: Moment & {
    readonly store: Store;
    readonly stoppedBy: string;
    /** undefined where nobody asked what pages are about. */
    readonly modelDigest: string | undefined;
  },
): CrawlResult {
  const { loops, store, nowMs, startedAtMs, resumed, stoppedBy, modelDigest } = moment;
  const elapsedMs = nowMs - startedAtMs;
  const totals = loops.tally.totals(elapsedMs);
  const pending = loops.tally.pending;
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
    refusedSeeds: loops.settler.refusedSeeds,
    unreachable: loops.unreachable.sites(),
    bandwidth: bandwidthOf(moment),
    ledger: {
      byPurpose: loops.tally.ledger.byPurpose(),
      byProcess: { 0: loops.tally.ledger.bytes },
    },
    sites: siteResults(moment),
    parallel: null,
    topics: modelDigest === undefined ? null : topicFigures([store], modelDigest),
    duplicates: { exact: totals.duplicatesExact, near: totals.duplicatesNear },
    resumed,
    complete: pending === 0 && stoppedBy === "",
    stoppedBy,
  };

  function siteResults({ loops: { roster, promised } }: Moment): CrawlResult["sites"] {
    const inMemory = new Map(Array.from(roster.inMemory(), (site) => [site.key, site]));
    const rows: CrawlResult["sites"][number][] = [];
    for (const row of store.sites()) {
      if (rows.length >= SITES_IN_RESULT) break;
      const site = inMemory.get(row.key);
      const kept = site === undefined ? undefined : promised.keptBy(site);
      const deadlineMs = kept?.deadlineMs ?? promised.deadlineMsOf(row.key);
      rows.push({
        site: row.key,
        pages: row.pages,
        bytes: row.bytes,
        ledger: Books.restore(row).byPurpose(),
        deadlineSeconds: inSeconds(deadlineMs),
        finishedSeconds: inSeconds(kept?.finishedMs),
        met: isMet(deadlineMs, kept?.finishedMs, row.pending),
        ...roundResult(loops, row),
      });
    }
    return rows;
  }
}

/** null without a deadline, and when the site was done in an earlier run. */
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

/** For programs; sites of a store from before there were rounds are in their first. */
function roundResult(
  { rounds }: Loops,
  { key, round }: SiteRow,
): Pick<CrawlResult["sites"][number], "round" | "nextRoundInSeconds" | "roundPages"> {
  const nextInMs = rounds.nextInMs(key, round);
  return {
    round: round?.number ?? 1,
    nextRoundInSeconds: nextInMs === undefined ? null : nextInMs / 1000,
    roundPages: roundPagesOf(round ?? { news: NO_NEWS }),
  };
}

function roundView(rounds: Loops["rounds"], { key, round }: Site): RoundView {
  const { number, news, startedWallMs } = round;
  const nextInMs = rounds.nextInMs(key, { startedAtMs: startedWallMs });
  return { number, news: { ...news }, nextInMs };
}

function bandwidthOf({ loops, meter, nowMs, startedAtMs }: Moment): CrawlResult["bandwidth"] {
  const { begun, overtaken, passedOverMaxMs } = loops.sluice.orderKept;
  return {
    ...measuredRate(meter, loops.line.limitBps, nowMs - startedAtMs),
    secondsCpuBound: loops.line.secondsCpuBound,
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

/** Promised sites first, then the busiest. */
function mostTelling({ roster, promised }: Loops): Site[] {
  const known = [...roster.inMemory()].filter((site) => site.known > 0);
  if (known.length <= SITES_SHOWN) return known;
  const due = new Set(known.filter(({ key }) => promised.deadlineMsOf(key) !== undefined));
  return known
    .sort(
      (a, b) =>
        Number(due.has(b)) - Number(due.has(a)) ||
        Number(b.awake) - Number(a.awake) ||
        b.known - a.known,
    )
    .slice(0, SITES_SHOWN);
}

function siteView(loops: Loops, site: Site, nowMs: number): SiteView {
  const { courtesy, workbench, replan, promised, rounds, unreachable } = loops;
  const politeAtMs = site.to === undefined ? nowMs : courtesy.readyAtMs(site.to);
  const readyAtMs = Math.max(politeAtMs, unreachable.untilMs(site.key) ?? -Infinity);
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
    round: roundView(rounds, site),
    priority: promised.priorityOf(site.key),
    forecast: site.pending > 0 ? shortened(replan.forecastOf(site)) : undefined,
    ...promised.keptBy(site),
  };

  function stateOf(): SiteView["state"] {
    if (site.pending === 0 && held === 0) return "idle";
    if (site.pending > 0 && unreachable.has(site.key)) return "unreachable";
    if (courtesy.isResting(nowMs, site.id)) return "back-off";
    if (site.awake && site.rules === undefined) return "robots";
    if (inFlight > 0) return "fetching";
    return readyAtMs > nowMs ? "polite delay" : "ready";
  }
}

/** Far ahead a plan is a guess, and many guesses are told as their mean. */
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
