/** Settings for recrawls: when, and which pages. */

import { showDuration } from "../base/units.ts";
import { type Schedule, readSchedule } from "../frontier/schedule.ts";
import { siteOf } from "../url/site.ts";
import { type CanonicalUrl, canonicalUrl, isRefused } from "../url/url.ts";
import type { FieldTable, Reader } from "./field.ts";
import { isPublic } from "./politeness.ts";
import * as read from "./readers.ts";
import type { Settings } from "./schema.ts";

const scheduleReader: Reader<Schedule> = {
  placeholder: "WHEN",
  expects: "a schedule, such as 'every 1h', 'daily 06:30' or 'mon-fri 06:30'",
  read: (text) => readSchedule(text).schedule,
  explain: (text) => [readSchedule(text).mistake],
};

const DAY = 86_400_000;

export const REPEATING = {
  watch: {
    key: "watch",
    meaning:
      "Keep running and recrawl each site by its `schedule`. Ctrl-C stops; the same command resumes.",
    fallback: "false",
    reader: read.onOff,
  },
  schedule: {
    key: "schedule",
    meaning:
      "With --watch: `every 1h` from the start of one recrawl to the next, `daily 06:30` or `mon-fri 06:30`. Once by default.",
    reader: scheduleReader,
    orNone: true,
  },
  revisitChance: {
    key: "revisitChance",
    meaning:
      "Skip a page in a recrawl if it is less likely than this to have changed; 0% fetches every page each time.",
    fallback: "10%",
    reader: read.share,
  },
  revisitMaxMs: {
    key: "revisitMax",
    meaning: "Fetch a page again after this time at the latest, even if it seldom changes.",
    fallback: "7d",
    reader: read.duration({ least: 0, most: 3650 * DAY }),
  },
} as const satisfies FieldTable;

/** Recrawl keys of one entry of `sites:`. */
export const SITE_REPEATING = {
  schedule: {
    key: "schedule",
    meaning: "Schedule of this site and of the others on its registrable domain.",
    reader: scheduleReader,
  },
} as const satisfies FieldTable;

/** Least interval between recrawls of a public site that the operator does not own. */
const PUBLIC_EVERY_MS_LEAST = 60_000;

interface Scheduled {
  /** As users know it. */
  readonly name: string;
  readonly schedule: Schedule;
  readonly deadlineMs: number | undefined;
  readonly isPublic: boolean;
}

export function recrawlMistakes(settings: Settings, seeds: readonly CanonicalUrl[]): string[] {
  const schedules = schedulesIn(settings, seeds);
  const found: string[] = [];
  if (settings.watch) {
    if (schedules.length === 0)
      found.push("--watch needs a schedule: --schedule 'every 1h', or a schedule: line for a site");
    if (settings.pagesMax !== undefined)
      found.push(
        "--pages and --watch: pages of earlier recrawls count too, so it would stop for good; use --site-budget or --depth",
      );
    if (settings.refresh)
      found.push("--refresh and --watch: recrawls start by their schedule; leave --refresh out");
  }
  for (const { name, schedule, isPublic: isForeign } of schedules)
    if (isForeign && schedule.kind === "every" && schedule.everyMs < PUBLIC_EVERY_MS_LEAST)
      found.push(
        `${name} ${schedule.text}: at least every 1m for a public site; --own-sites if it is yours`,
      );
  return found;
}

/** Remarks: odd but harmless settings. */
export function recrawlRemarks(settings: Settings, seeds: readonly CanonicalUrl[]): string[] {
  const schedules = schedulesIn(settings, seeds);
  if (schedules.length === 0) return [];
  if (!settings.watch)
    return ["a schedule has no effect without --watch: this crawl ends when it is done"];
  const found: string[] = [];
  for (const { name, schedule, deadlineMs } of schedules) {
    if (schedule.kind !== "every") continue;
    if (deadlineMs !== undefined && deadlineMs > schedule.everyMs)
      found.push(
        `${name} ${schedule.text}: a recrawl may take ${showDuration(deadlineMs)} by its deadline; a late one starts when the previous one is done`,
      );
    if (settings.timeMaxMs !== undefined && settings.timeMaxMs <= schedule.everyMs)
      found.push(
        `${name} ${schedule.text}: --time ends this run after ${showDuration(settings.timeMaxMs)}, before a second recrawl`,
      );
  }
  return found;
}

function schedulesIn(settings: Settings, seeds: readonly CanonicalUrl[]): Scheduled[] {
  const isForeign = (url: CanonicalUrl): boolean => !settings.ownSites && isPublic(url);
  const own = settings.sites.flatMap((site): Scheduled[] => {
    const url = canonicalUrl(site.url);
    if (site.schedule === undefined || isRefused(url)) return [];
    const deadlineMs = site.deadlineMs ?? settings.deadlineMs;
    const name = `schedule of ${siteOf(url)}:`;
    return [{ name, schedule: site.schedule, deadlineMs, isPublic: isForeign(url) }];
  });
  if (settings.schedule === undefined) return own;
  const { schedule, deadlineMs } = settings;
  return [{ name: "--schedule", schedule, deadlineMs, isPublic: seeds.some(isForeign) }, ...own];
}
