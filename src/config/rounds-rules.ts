/** What settings about rounds must agree on with the others; each mistake with what to write. */

import { showDuration } from "../base/units.ts";
import type { Schedule } from "../frontier/schedule.ts";
import { siteOf } from "../url/site.ts";
import { type CanonicalUrl, canonicalUrl, isRefused } from "../url/url.ts";
import { isPublic } from "./manners.ts";
import type { Settings } from "./schema.ts";

/** A stranger's site is not to be asked for its pages more often, whatever they say of changes. */
const PUBLIC_EVERY_MS_LEAST = 60_000;

interface Said {
  /** As people would look for it. */
  readonly name: string;
  readonly schedule: Schedule;
  readonly deadlineMs: number | undefined;
  readonly isPublic: boolean;
}

export function roundMistakes(settings: Settings, seeds: readonly CanonicalUrl[]): string[] {
  const said = schedulesIn(settings, seeds);
  const found: string[] = [];
  if (settings.watch) {
    if (said.length === 0)
      found.push(
        "--watch: say when to crawl again, with --schedule 'every 1h' or a schedule: line for a site",
      );
    if (settings.pagesMax !== undefined)
      found.push(
        "--pages and --watch: pages of earlier recrawls count too, so it would stop for good; use --site-budget or --depth",
      );
    if (settings.refresh)
      found.push("--refresh and --watch: rounds begin by themselves; leave --refresh out");
  }
  for (const { name, schedule, isPublic: isStrange } of said)
    if (isStrange && schedule.kind === "every" && schedule.everyMs < PUBLIC_EVERY_MS_LEAST)
      found.push(
        `${name} ${schedule.text}: at least every 1m for a public site; --own-sites if it is yours`,
      );
  return found;
}

/** Odd but harmless. */
export function roundRemarks(settings: Settings, seeds: readonly CanonicalUrl[]): string[] {
  const said = schedulesIn(settings, seeds);
  if (said.length === 0) return [];
  if (!settings.watch)
    return [
      "a schedule says when to crawl again, but without --watch this crawl ends when it is done",
    ];
  const found: string[] = [];
  for (const { name, schedule, deadlineMs } of said) {
    if (schedule.kind !== "every") continue;
    if (deadlineMs !== undefined && deadlineMs > schedule.everyMs)
      found.push(
        `${name} ${schedule.text}: a recrawl may take ${showDuration(deadlineMs)} by its deadline; a late one starts when the previous one is done`,
      );
    if (settings.timeMaxMs !== undefined && settings.timeMaxMs <= schedule.everyMs)
      found.push(
        `${name} ${schedule.text}: --time ends this run after ${showDuration(settings.timeMaxMs)}, before a second round`,
      );
  }
  return found;
}

function schedulesIn(settings: Settings, seeds: readonly CanonicalUrl[]): Said[] {
  const isStrange = (url: CanonicalUrl): boolean => !settings.ownSites && isPublic(url);
  const own = settings.sites.flatMap((site): Said[] => {
    const url = canonicalUrl(site.url);
    if (site.schedule === undefined || isRefused(url)) return [];
    const deadlineMs = site.deadlineMs ?? settings.deadlineMs;
    const name = `schedule of ${siteOf(url)}:`;
    return [{ name, schedule: site.schedule, deadlineMs, isPublic: isStrange(url) }];
  });
  if (settings.schedule === undefined) return own;
  const { schedule, deadlineMs } = settings;
  return [{ name: "--schedule", schedule, deadlineMs, isPublic: seeds.some(isStrange) }, ...own];
}
