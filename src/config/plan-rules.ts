/**
 * What settings about deadlines must agree on among themselves, each with what to write.
 *
 * Decided here for all of Weir: what is wrong with *one site* is a fault. It is told, the site goes on
 * as the fault says, and the others are not held up; with `strict` a fault is a mistake, and nothing
 * starts (exit code 2). What is wrong for *all sites* is a mistake always. A value of a site's entry
 * that cannot be read (a deadline in the past, a size of 0) is a fault when it only concerns the plan,
 * and its line is left out; a pace that cannot be read stays a mistake, because manners are not
 * guessed. That a deadline cannot be met for want of rate is neither: the plan says it.
 */

import { showBytes, showDuration } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import type { CanonicalUrl } from "../url/url.ts";
import type { Settings, SiteSettings } from "./schema.ts";
import { entriesBySite, type SiteWish, siteWishes } from "./site-wishes.ts";

const YEAR_SECONDS = 366 * 86_400;
/** A thousand sites with the same fault are one story. */
const FAULTS_SHOWN = 10;

export function planMistakes({ limitBps, rateMinBps, startupMs, timeMaxMs }: Settings): string[] {
  const found: string[] = [];
  if (limitBps !== undefined && rateMinBps !== undefined && rateMinBps > limitBps)
    found.push(
      `minRate of ${rate(rateMinBps)} is more than the limit of ${rate(limitBps)}, so no site could ever start; lower minRate or raise the limit`,
    );
  if (timeMaxMs !== undefined && startupMs >= timeMaxMs)
    found.push(
      `startup of ${showDuration(startupMs)} is not shorter than the crawl's own time of ${showDuration(timeMaxMs)}, so no page would be fetched; shorten startup or give more --time`,
    );
  return found;
}

/** What is wrong with single sites. */
export function planFaults(settings: Settings, seeds: readonly CanonicalUrl[]): string[] {
  const wishes = siteWishes(settings, seeds);
  return [
    ...entriesBySite(settings).flatMap(([site, entries]) => contradictions(site, entries)),
    ...wishes.flatMap((wish) => deadlineFaults(wish, settings)),
    ...wishes.flatMap((wish) => rateFaults(wish, settings)),
    ...crowding(wishes, settings),
  ];
}

/** The same in few lines. */
export function faultsInShort(faults: readonly string[]): string[] {
  const hidden = faults.length - FAULTS_SHOWN;
  return hidden <= 0 ? [...faults] : [...faults.slice(0, FAULTS_SHOWN), `and ${hidden} more such`];
}

/** As a remark, when the rest goes on without the line that cannot be read. */
export function withoutLine(fault: string): string {
  return `${fault}; until then that line is ignored`;
}

function contradictions(site: string, entries: readonly SiteSettings[]): string[] {
  const last = entries.at(-1);
  if (last === undefined || entries.length === 1) return [];
  return (
    [
      ["deadline", (entry) => entry.deadlineMs, showDuration],
      ["size", (entry) => entry.sizeBytes, showBytes],
      ["pages", (entry) => entry.pagesExpected, String],
      ["priority", (entry) => entry.priority, String],
      ["cap", (entry) => entry.capBps, rate],
    ] as const satisfies readonly Comparison[]
  )
    .filter(([, valueOf]) => entries.some((entry) => valueOf(entry) !== valueOf(last)))
    .map(([key, valueOf, show]) => {
      const said = entries.map((entry) => {
        const value = valueOf(entry);
        return value === undefined ? "none" : show(value);
      });
      return `${shown(site)} has ${entries.length} entries with different ${key} lines (${said.join(", ")}), of which the last one counts; put them together`;
    });
}

type Comparison = readonly [
  key: string,
  valueOf: (entry: SiteSettings) => number | undefined,
  show: (value: number) => string,
];

function deadlineFaults(wish: SiteWish, { startupMs, timeMaxMs }: Settings): string[] {
  const { site, deadlineSeconds } = wish;
  if (deadlineSeconds === undefined) return [];
  const found: string[] = [];
  const told = `the deadline of ${shown(site)}, ${seconds(deadlineSeconds)},`;
  if (timeMaxMs !== undefined && deadlineSeconds * 1000 > timeMaxMs)
    found.push(
      `${told} is later than the crawl's own end after ${showDuration(timeMaxMs)} (--time); shorten it or give more time`,
    );
  if (startupMs > 0 && deadlineSeconds * 1000 <= startupMs)
    found.push(
      `${told} is over before the site has started, which takes ${showDuration(startupMs)} (startup); lengthen it or shorten startup`,
    );
  return found;
}

function rateFaults(wish: SiteWish, { limitBps, rateMinBps }: Settings): string[] {
  const { site, capBps = Infinity, limitBps: ownBps = Infinity, sizeBytes } = wish;
  const found: string[] = [];
  const most = Math.min(capBps, ownBps);
  if (rateMinBps !== undefined && most < rateMinBps)
    found.push(
      `${shown(site)} can take ${rate(most)} at most (${capBps <= ownBps ? "cap" : "limit"}), less than minRate of ${rate(rateMinBps)}, so it could never start and is not planned; lower minRate or leave it out`,
    );
  const usableBps = Math.min(most, limitBps ?? Infinity);
  if (sizeBytes !== undefined && sizeBytes / usableBps > YEAR_SECONDS)
    found.push(
      `${showBytes(sizeBytes)} of ${shown(site)} would take ${years(sizeBytes / usableBps)} at ${rate(usableBps)}; check its size`,
    );
  return found;
}

/** More sites than can begin in time: each takes a place for its start. */
function crowding(wishes: readonly SiteWish[], settings: Settings): string[] {
  const { limitBps, rateMinBps, sitesAtOnceMax, startupMs } = settings;
  const byRate =
    limitBps === undefined || rateMinBps === undefined
      ? Infinity
      : Math.floor(limitBps / rateMinBps);
  const places = Math.min(byRate, sitesAtOnceMax ?? Infinity);
  const deadlines = wishes.flatMap(({ deadlineSeconds }) => deadlineSeconds ?? []);
  const latest = deadlines.reduce((most, deadline) => Math.max(most, deadline), 0);
  if (startupMs === 0 || places === 0 || places === Infinity || deadlines.length === 0) return [];
  const canStart = places * Math.floor((latest * 1000) / startupMs);
  if (deadlines.length <= canStart) return [];
  return [
    `${deadlines.length} sites have deadlines, but only ${canStart} can start before the last of them (${places} at a time, ${showDuration(startupMs)} each); raise ${byRate < (sitesAtOnceMax ?? Infinity) ? "the limit or lower minRate" : "maxSites"}, or shorten startup`,
  ];
}

function shown(site: string): string {
  return visible(site, 120);
}

function rate(bps: number): string {
  return `${showBytes(bps)}/s`;
}

function seconds(value: number): string {
  return showDuration(value * 1000);
}

function years(value: number): string {
  return `${Math.round(value / YEAR_SECONDS)} years`;
}
