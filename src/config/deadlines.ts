/**
 * Settings for deadlines: how each is read, and how they must agree with each other.
 *
 * An error of *one site* is a fault: it is reported, the site is crawled as the fault says, and the
 * other sites are crawled as usual. With `strict` a fault is a mistake, and nothing starts (exit
 * code 2). An error that concerns *all sites* is always a mistake. A value of a site's entry that
 * cannot be read (a deadline in the past, a size of 0) is a fault if it only concerns the plan, and
 * its line is ignored; an invalid delay or limit stays a mistake, because politeness is not
 * guessed. A deadline that the rate cannot meet is neither: the plan reports it.
 */

import { readBytes, readDurationMs, showBytes, showDuration } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import { ALGORITHMS, OBJECTIVES } from "../plan/plan.ts";
import type { CanonicalUrl } from "../url/url.ts";
import type { FieldTable, Reader } from "./field.ts";
import * as read from "./readers.ts";
import type { Settings, SiteSettings } from "./schema.ts";
import { type SiteWish, entriesBySite, siteWishes } from "./site-wishes.ts";

const SECOND_MS = 1000;
const DAY_MS = 86_400_000;
const SIZE_BYTES_MOST = 1e15;

const NEGATIVE = /^-/;
const ZERO = /^\+?0+([.,]0*)?\s*([a-z]+(\/s)?)?$/i;
const BARE_NUMBER = /^\d+([.,]\d+)?$/;
const A_DATE = /^\d{4}-\d|^\d{1,2}:\d\d|^(mon|tue|wed|thu|fri|sat|sun)/i;

const deadlineReader: Reader<number> = {
  ...read.duration({ least: SECOND_MS, most: 366 * DAY_MS }),
  explain(text) {
    const written = text.trim();
    const ms = readDurationMs(written);
    if (NEGATIVE.test(written))
      return ["is in the past; a deadline counts from the start, such as 30m or 2h"];
    if (ZERO.test(written))
      return [
        "is over when the crawl starts; write how long it may take, or leave it out for none",
      ];
    if (A_DATE.test(written))
      return ["is a time of the clock; a deadline counts from the start, such as 30m or 2h"];
    if (BARE_NUMBER.test(written))
      return [`needs a unit; write ${written}s, ${written}m or ${written}h`];
    if (ms === undefined) return ["is no duration; write it as 90s, 30m, 2h or 1d"];
    if (ms < SECOND_MS) return ["is too soon to start anything; write at least 1s"];
    return ["is more than a year ahead; leave it out for no deadline"];
  },
};

const sizeReader: Reader<number> = {
  ...read.size({ least: 1, most: SIZE_BYTES_MOST }),
  explain(text) {
    const written = text.trim();
    const bytes = readBytes(written);
    if (NEGATIVE.test(written) || ZERO.test(written))
      return ["is no size to plan for; write what it may bring, or leave it out to be estimated"];
    if (BARE_NUMBER.test(written)) return [`needs a unit; write ${written}KB or ${written}MB`];
    if (bytes === undefined) return ["is no size; write it as 500KB, 120MB or 2GiB"];
    if (bytes > SIZE_BYTES_MOST)
      return ["is too large; at most 1000TB, or leave it out to be estimated"];
    return ["is less than a byte; leave it out to be estimated"];
  },
};

const priorityReader: Reader<number> = {
  ...read.decimal({ least: 0.001, most: 1000 }),
  explain(text) {
    if (NEGATIVE.test(text) || ZERO.test(text.trim()))
      return ["would postpone the site forever; write 0.001 or more, where 1 is usual"];
    return ["expects a number from 0.001 to 1000, where 1 is usual and 2 counts twice"];
  },
};

const capReader: Reader<number> = {
  ...read.rate({ least: 1, most: 1e11 }),
  explain(text) {
    if (NEGATIVE.test(text) || ZERO.test(text.trim()))
      return ["permits nothing; write the highest rate of its servers, or omit it"];
    return [
      "expects a rate from 1 B/s to 100 GB/s, such as 500KB/s; leave it out for the measured rate",
    ];
  },
};

/** A switch that knows a third word. */
const strictness: Reader<boolean | "sure"> = {
  placeholder: "",
  expects: "true, false or sure",
  read: (text) => (text === "sure" ? "sure" : read.onOff.read(text)),
};

const HOUR = 3_600_000;

export const PLANNING = {
  deadlineMs: {
    key: "deadline",
    meaning:
      "Time after the start by which each seed's site must be done, unless it has its own deadline. No deadline by default.",
    reader: deadlineReader,
    orNone: true,
  },
  objective: {
    key: "objective",
    meaning:
      "Goal besides deadlines: `min-sum` minimises the sum of finish times, weighted by priority; `min-max` minimises the last finish time. By default min-sum if there is a deadline or a priority, otherwise all sites are equal.",
    reader: read.oneOf(OBJECTIVES),
  },
  algorithm: {
    key: "algorithm",
    meaning:
      "Planner: `optimal`, or `m-maxt`, `m-sumt`, `cpq`, `mip` of Zhu et al. for comparison.",
    fallback: "optimal",
    reader: read.oneOf(ALGORITHMS),
  },
  sitesAtOnceMax: {
    key: "maxSites",
    meaning: "Most sites crawled at the same time (m). No limit by default.",
    reader: read.integer({ least: 1, most: 1_000_000 }),
    orNone: true,
  },
  rateMinBps: {
    key: "minRate",
    meaning: "Least rate of a site that is being crawled (v*). None by default.",
    reader: read.rate({ least: 1, most: 1e11 }),
    orNone: true,
  },
  startupMs: {
    key: "startup",
    meaning: "Time from the start of a site to its first page (t), for plans.",
    fallback: "0",
    reader: read.duration({ least: 0, most: HOUR }),
  },
  strict: {
    key: "strict",
    meaning:
      "Do not start if a deadline cannot be met (exit code 1) or an entry of `sites:` is invalid (exit code 2). With `sure`, neither if a deadline depends on an estimate. By default the other sites are crawled.",
    fallback: "false",
    reader: strictness,
  },
} as const satisfies FieldTable;

/** Planning keys of one entry of `sites:`. */
export const SITE_PLANNING = {
  deadlineMs: {
    key: "deadline",
    meaning: "Deadline of this site.",
    reader: deadlineReader,
  },
  sizeBytes: {
    key: "size",
    meaning: "Expected bytes of the site. By default estimated.",
    reader: sizeReader,
  },
  pagesExpected: {
    key: "pages",
    meaning:
      "Expected number of pages, for plans: with a delay it determines the finish time. It is no limit. By default estimated from the size.",
    reader: read.integer({ least: 1, most: 1_000_000_000 }),
  },
  priority: {
    key: "priority",
    meaning: "Weight of this site's finish time.",
    fallback: "1",
    reader: priorityReader,
  },
  capBps: {
    key: "cap",
    meaning:
      "Highest rate that its servers can deliver. By default the measured rate times the allowed concurrent requests.",
    reader: capReader,
  },
  efficiency: {
    key: "efficiency",
    meaning: "Actual crawl time divided by bytes / rate (ξ).",
    fallback: "1",
    reader: read.decimal({ least: 0.01, most: 1000 }),
  },
} as const satisfies FieldTable;

const YEAR_SECONDS = 366 * 86_400;
/** Faults listed; a thousand sites usually have the same one. */
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

/** Errors that concern single sites. */
export function planFaults(settings: Settings, seeds: readonly CanonicalUrl[]): string[] {
  const wishes = siteWishes(settings, seeds);
  return [
    ...entriesBySite(settings).flatMap(([site, entries]) => contradictions(site, entries)),
    ...wishes.flatMap((wish) => deadlineFaults(wish, settings)),
    ...wishes.flatMap((wish) => rateFaults(wish, settings)),
    ...crowding(wishes, settings),
  ];
}

/** The first faults, and the number of the others. */
export function faultsInShort(faults: readonly string[]): string[] {
  const hidden = faults.length - FAULTS_SHOWN;
  return hidden <= 0 ? [...faults] : [...faults.slice(0, FAULTS_SHOWN), `and ${hidden} more such`];
}

/** The remark for a fault whose line is ignored. */
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
      const values = entries.map((entry) => {
        const value = valueOf(entry);
        return value === undefined ? "none" : show(value);
      });
      return `${shown(site)} has ${entries.length} entries with different ${key} lines (${values.join(", ")}), of which the last one counts; put them together`;
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
  const subject = `the deadline of ${shown(site)}, ${seconds(deadlineSeconds)},`;
  if (timeMaxMs !== undefined && deadlineSeconds * 1000 > timeMaxMs)
    found.push(
      `${subject} is later than the crawl's own end after ${showDuration(timeMaxMs)} (--time); shorten it or give more time`,
    );
  if (startupMs > 0 && deadlineSeconds * 1000 <= startupMs)
    found.push(
      `${subject} is over before the site has started, which takes ${showDuration(startupMs)} (startup); lengthen it or shorten startup`,
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

/** Reports deadlines of more sites than can start in time: each start takes a place. */
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
