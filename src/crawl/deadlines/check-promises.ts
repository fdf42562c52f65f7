/**
 * Plans a crawl as a whole before it begins, where its processes cannot do so once they have begun.
 *
 * One of several processes knows only its sites and its part of the limit, so none can tell whether the deadlines of
 * all can be kept. And a recrawl of all sites (`--refresh`) begins one site after the other. This is the plan with
 * which a single process begins (`replanner.ts`): with the whole limit, all seeds, and what is left of an earlier run
 * or is to be fetched again. Deadlines that will be missed are reported here, once.
 *
 * Promise: `strict` refuses with several processes what it refuses with one, with the same message, and a recrawl
 * before it has begun.
 */

import { Almanac } from "../../bandwidth/clock/day-kind.ts";
import type { SpeedTable } from "../../bandwidth/history/speed-table.ts";
import { TimeZone } from "../../bandwidth/clock/local-time.ts";
import { overheadFor, windowFor } from "../../bandwidth/window.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Settings } from "../../config/schema.ts";
import { Politeness } from "../../frontier/politeness.ts";
import { Traps } from "../../frontier/traps.ts";
import { Shares } from "../../plan/promise/fair-queue.ts";
import { NO_NEWS, type ReadableStore, type SiteRow } from "../../store/store.ts";
import { fingerprintOf } from "../../url/fingerprint.ts";
import { Scope } from "../../url/scope.ts";
import { siteOf } from "../../url/site.ts";
import type { CanonicalUrl } from "../../url/url.ts";
import { entriesIn, politenessLimits, SITES, trapLimits } from "../allotments.ts";
import { type LinkAhead, Estimates } from "./estimate-sites.ts";
import { Deadlines } from "./deadlines.ts";
import { isPlanned, Replanner } from "./replan.ts";
import { hasEnded } from "../../results/last-run.ts";
import { bytesBeforeRound } from "../site.ts";
import { Sites } from "../sites.ts";

interface PromiseCheck {
  readonly settings: Settings;
  readonly seeds: readonly CanonicalUrl[];
  /** What earlier runs stored, of all processes together; it is only read. */
  readonly store: Pick<ReadableStore, "sites" | "siteByKey" | "lookup" | "recall" | "totals">;
  readonly clock: Clock;
  readonly log: Log;
  /** What earlier crawls measured of servers. */
  readonly speeds: SpeedTable;
  /** The whole limit at present. */
  readonly limitBps: number | undefined;
}

/** Reports deadlines that will be missed; throws DEADLINES_OUT_OF_REACH when the settings are strict. */
export function checkPromises({
  settings,
  seeds,
  store,
  clock,
  log,
  speeds,
  limitBps,
}: PromiseCheck): void {
  if (!isPlanned(settings)) return;
  const sites = sitesOf({ settings, store, clock });
  awaitSeeds({ settings, seeds, store, sites });
  const almanac = new Almanac(new TimeZone(settings.timeZone));
  const hooks = {};
  const context = { clock, log, settings, hooks, seeds, sites, line: { speeds, almanac } };
  const emit = (): void => undefined;
  const deadlines = new Deadlines({
    ...context,
    store: { recall: (key) => store.recall(key), remember: emit },
  });
  const estimates = new Estimates(context, deadlines, linkAtStart(settings, limitBps));
  const limiter = { isWarm: false, share: emit };
  const shares = new Shares();
  const parts = { deadlines, estimates, shares, limiter };
  const replanner = new Replanner({ ...context, emit }, parts);
  try {
    replanner.start();
  } finally {
    replanner.stop();
  }
}

/** With the sites that have something left to do; with --refresh, as their recrawls will begin. */
function sitesOf({
  settings,
  store,
  clock,
}: Pick<PromiseCheck, "settings" | "store" | "clock">): Sites {
  const rows = [...store.sites()];
  const nextSiteId = rows.reduce((next, { id }) => Math.max(next, id + 1), 1);
  const sites = new Sites({
    store: {
      siteByKey: (key) => store.siteByKey(key),
      nextSiteId,
      sites: () => rows,
      sitesWithWork: () => [],
    },
    traps: new Traps(trapLimits(settings)),
    politeness: new Politeness(politenessLimits(settings)),
    clock,
    sitesMax: entriesIn(settings, SITES),
    emit: () => undefined,
  });
  const isRefresh = settings.refresh && hasEnded(store);
  for (const row of rows) {
    const begun = isRefresh ? recrawled(row, clock.wallMs()) : row;
    if (begun.pending > 0) sites.adopt(begun);
  }
  return sites;
}

/** A site at the start of its recrawl, which is expected to bring as much as the last crawl of it. */
function recrawled(row: SiteRow, wallMs: number): SiteRow {
  const { round, bytes } = row;
  return {
    ...row,
    pending: row.known - row.pending,
    round: {
      number: (round?.number ?? 1) + 1,
      startedAtMs: wallMs,
      bytesBefore: bytes,
      expectedBytes: bytes - bytesBeforeRound(row),
      surplus: 1,
      openedTo: undefined,
      sitemapsAtMs: wallMs,
      news: NO_NEWS,
    },
  };
}

/** A line that nothing has come by yet: packets are expected to add what they usually do. */
function linkAtStart(
  { siteLimitBps, packetOverhead, control }: Settings,
  limitBps: number | undefined,
): LinkAhead {
  const windowBytes = limitBps && control === "paced" ? windowFor(limitBps) : undefined;
  const overhead = packetOverhead === "auto" ? overheadFor(windowBytes) : packetOverhead;
  return {
    limitBps,
    payloadBps: limitBps ? limitBps / (1 + overhead) : undefined,
    expectedBps: (rateBps) => rateBps,
    siteLimitBps,
    sitePayloadBps: (siteBps) => (siteBps === undefined ? undefined : siteBps / (1 + overhead)),
  };
}

/** Counts the seeds that no earlier run knows as waiting at their sites. */
function awaitSeeds({
  settings,
  seeds,
  store,
  sites,
}: Pick<PromiseCheck, "settings" | "seeds" | "store"> & { readonly sites: Sites }): void {
  const { scope: kind, include, exclude } = settings;
  const scope = new Scope({ kind, seeds, include, exclude });
  for (const url of new Set(seeds)) {
    const { high, low } = fingerprintOf(url);
    const fingerprint = { high: Uint32Array.of(high), low: Uint32Array.of(low), count: 1 };
    if (store.lookup(fingerprint)[0] !== 0 || !scope.decide(url).accepted) continue;
    sites.of(siteOf(url)).found(true);
  }
}
