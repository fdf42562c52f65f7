/**
 * Turns what was asked and what is known into a task for a planner: U, and for each site D and c.
 *
 * D is the `size` of a site's entry; else what is left of the crawl in the folder; else what a crawl
 * that has ended there brought. c is its `cap`; else what its server gives now, times the requests
 * allowed at a time, and no more than its pages at the agreed delay; and never more than its `limit`. U
 * is the limit, or the calendar's now; without one, the sum of all c.
 *
 * A site of which no size is known, or that could never start, is left out of the plan and told.
 */

import { limitAt, minutesToChange } from "../bandwidth/calendar.ts";
import type { DayMoment } from "../bandwidth/day-kind.ts";
import type { Strayed } from "../bandwidth/scatter.ts";
import { CrawlError } from "../base/errors.ts";
import { showBytes } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import type { Settings } from "../config/schema.ts";
import type { SiteWish } from "../config/site-wishes.ts";
import { CRAWL_DELAY_MAX_MS, PUBLIC_DELAY_MS } from "../crawl/errands.ts";
import { rulesFor } from "../fetch/robots.ts";
import { robotNameOf } from "../page/robots-tags.ts";
import { siteDelay } from "../frontier/politeness.ts";
import { bytesLeft, capBps } from "../plan/estimate.ts";
import type { PlanTask } from "../plan/plan.ts";
import { hostOfSite } from "../url/site.ts";
import type { Earlier, Knowledge } from "./plan-knowledge.ts";

export type SizeSource = "size" | "left" | "earlier";
export type CapSource = "cap" | "limit" | "speeds" | "delay";

export interface PlannedSite {
  readonly wish: SiteWish;
  /** undefined: nobody knows. */
  readonly bytes: number | undefined;
  readonly sizeFrom: SizeSource | undefined;
  /** Infinity: nothing is known that would hold it up. */
  readonly capBps: number;
  readonly capFrom: CapSource | undefined;
  readonly scatter: Strayed | undefined;
  /** Why it is no part of the plan, and what to do about it. */
  readonly leftOut: string | undefined;
}

export interface PlanInput {
  readonly sites: readonly PlannedSite[];
  /** Of those that are not left out, in their order. */
  readonly task: PlanTask;
  readonly rateFrom: "limit" | "calendar" | "caps";
  /** When the calendar will say something else; undefined without one. */
  readonly rateUntilSeconds: number | undefined;
  /** When the crawl would stop by itself; undefined for never. */
  readonly timeMaxSeconds: number | undefined;
}

export function planInput(
  settings: Settings,
  wishes: readonly SiteWish[],
  knowledge: Knowledge,
  moment: DayMoment,
): PlanInput {
  const sites = wishes.map((wish) => plannedSite(wish, settings, knowledge));
  const planned = sites.filter(({ leftOut }) => leftOut === undefined);
  const { timeMaxMs } = settings;
  return {
    sites,
    timeMaxSeconds: timeMaxMs === undefined ? undefined : timeMaxMs / 1000,
    ...rateOf(settings, planned, moment, (rateBps) => ({
      sites: planned.map(({ wish, bytes = 0, capBps: cap }) => ({
        key: wish.site,
        bytes: bytes * wish.efficiency,
        deadlineSeconds: wish.deadlineSeconds,
        capBps: cap,
        weight: wish.weight,
      })),
      rateBps,
      sitesMax: settings.sitesAtOnceMax ?? Infinity,
      rateMinBps: settings.rateMinBps ?? 0,
      startupSeconds: settings.startupMs / 1000,
    })),
  };
}

function rateOf(
  settings: Settings,
  planned: readonly PlannedSite[],
  moment: DayMoment,
  taskAt: (rateBps: number) => PlanTask,
): Omit<PlanInput, "sites" | "timeMaxSeconds"> {
  const { limitAt: calendar, limitBps } = settings;
  const nowBps = calendar === undefined ? limitBps : limitAt(calendar, moment, limitBps);
  const rateUntilSeconds =
    calendar === undefined ? undefined : 60 * minutesToChange(calendar, moment);
  if (nowBps === 0)
    throw new CrawlError(
      "SETTINGS_INVALID",
      "limit: the calendar pauses the crawl now; to plan for another time, give --limit-at none --limit RATE",
    );
  if (nowBps !== undefined) {
    const rateFrom = calendar === undefined ? "limit" : "calendar";
    return { task: taskAt(nowBps), rateFrom, rateUntilSeconds };
  }
  const sumBps = planned.reduce((sum, site) => sum + site.capBps, 0);
  if (sumBps === Infinity) {
    const unknown = planned.find(({ capBps: cap }) => cap === Infinity)?.wish.site ?? "";
    throw new CrawlError(
      "SETTINGS_INVALID",
      `limit: no total rate; set --limit, or a cap for ${visible(unknown, 120)} and every other site`,
    );
  }
  return { task: taskAt(sumBps), rateFrom: "caps", rateUntilSeconds };
}

function plannedSite(wish: SiteWish, settings: Settings, knowledge: Knowledge): PlannedSite {
  const size = sizeOf(wish, settings, knowledge);
  const cap = capOf(wish, settings, knowledge);
  const scatter = knowledge.speeds.get(wish.site)?.scatter;
  const facts = { wish, bytes: size?.bytes, sizeFrom: size?.from, scatter };
  return {
    ...facts,
    capBps: cap?.bps ?? Infinity,
    capFrom: cap?.from,
    leftOut: reasonAgainst(size?.bytes, cap?.bps ?? Infinity, settings.rateMinBps ?? 0),
  };
}

function reasonAgainst(
  bytes: number | undefined,
  mostBps: number,
  leastBps: number,
): string | undefined {
  if (bytes === undefined)
    return "its size is unknown; set its `size`, or crawl it once into the same folder";
  if (mostBps < leastBps)
    return `it can use ${showBytes(mostBps)}/s at most, less than minRate of ${showBytes(leastBps)}/s; lower minRate`;
  return undefined;
}

function sizeOf(
  { site, sizeBytes }: SiteWish,
  { fresh, refresh }: Settings,
  { earlier, usualBytes }: Knowledge,
): { readonly bytes: number; readonly from: SizeSource } | undefined {
  if (sizeBytes !== undefined) return { bytes: sizeBytes, from: "size" };
  const before = earlier.get(site);
  if (before === undefined || before.settled + before.pending === 0) return undefined;
  const { pending, settled, bytes: receivedBytes } = before;
  const facts = { pending, settled, receivedBytes, usualBytes };
  const left = bytesLeft({ ...facts, newPerSettled: 0, expectedBytes: undefined });
  if (pending > 0 && !fresh && !refresh) return { bytes: left, from: "left" };
  return { bytes: Math.max(1, receivedBytes + left), from: "earlier" };
}

function capOf(
  wish: SiteWish,
  settings: Settings,
  { earlier, speeds, usualBytes }: Knowledge,
): { readonly bps: number; readonly from: CapSource } | undefined {
  const before = earlier.get(wish.site);
  const means = {
    concurrency: wish.concurrency,
    delayMs: delayMsOf(wish, settings, before),
    meanBytes: before === undefined ? usualBytes : before.bytes / Math.max(1, before.settled),
    downloadBps: speeds.get(wish.site)?.downloadBps,
    saidBps: undefined,
  };
  const isMet = before !== undefined && before.settled > 0 && before.bytes > 0;
  const candidates: readonly (readonly [CapSource, number])[] = [
    ...(wish.capBps === undefined
      ? ([
          ["speeds", capBps({ ...means, delayMs: 0 })],
          ["delay", isMet ? capBps({ ...means, downloadBps: undefined }) : Infinity],
        ] as const)
      : ([["cap", wish.capBps]] as const)),
    ["limit", wish.limitBps ?? Infinity],
  ];
  const [from, bps] = candidates.reduce((least, one) => (one[1] < least[1] ? one : least));
  return bps === Infinity ? undefined : { bps, from };
}

/** As the crawl agrees it: the operator's, or the longer one that robots.txt asked for. */
function delayMsOf(wish: SiteWish, settings: Settings, before: Earlier | undefined): number {
  const usualMs = isLoopback(hostOfSite(wish.site)) ? 0 : PUBLIC_DELAY_MS;
  const robots = before?.robots;
  const productToken = robotNameOf(settings.userAgent);
  const asked =
    robots === undefined || settings.ignoreRobots
      ? undefined
      : rulesFor(robots.status, Buffer.from(robots.text, "latin1"), productToken).crawlDelayMs;
  return siteDelay(wish.delayMs ?? usualMs, asked, CRAWL_DELAY_MAX_MS).delayMs;
}

function isLoopback(host: string): boolean {
  return /^127\.|^\[::1\]$|(^|\.)localhost$/.test(host);
}
