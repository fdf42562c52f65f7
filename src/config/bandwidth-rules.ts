/** What settings about the line must agree on among themselves; each mistake with what to write. */

import { holesOf } from "../bandwidth/clock/calendar.ts";
import { LIMIT_BPS_LEAST } from "../bandwidth/clock/limit-text.ts";
import { showBytes } from "../base/units.ts";
import type { Settings } from "./schema.ts";

export function bandwidthMistakes(settings: Settings): string[] {
  return [...tooLittle(settings), ...calendarMistakes(settings)];
}

/** Odd but harmless. */
export function bandwidthRemarks(settings: Settings): string[] {
  const { limitBps, quota, bodyBytesMax } = settings;
  const found: string[] = [];
  for (const { name, rateBps } of siteLimitsOf(settings))
    if (limitBps !== undefined && rateBps > limitBps)
      found.push(
        `${name} of ${showBytes(rateBps)}/s changes nothing: the limit for all sites is ${showBytes(limitBps)}/s`,
      );
  if (quota !== undefined && quota.bytes < bodyBytesMax)
    found.push(
      `a quota of ${showBytes(quota.bytes)} is less than one page may have (--body-max, ${showBytes(bodyBytesMax)})`,
    );
  return found;
}

/** Texts are held to this by their reader; a program gives plain numbers. */
function tooLittle(settings: Settings): string[] {
  const { limitBps } = settings;
  const all = limitBps === undefined ? [] : [{ name: "limit", rateBps: limitBps }];
  return [...all, ...siteLimitsOf(settings)]
    .filter(({ rateBps }) => !(rateBps >= LIMIT_BPS_LEAST))
    .map(({ name, rateBps }) => `${name} of ${rateBps} bytes/s: at least ${LIMIT_BPS_LEAST}`);
}

/** What a calendar lacks, or has too much of, beside the limit that fills its holes. */
export function calendarMistakes({
  limitAt,
  limitBps,
  holidays,
}: Pick<Settings, "limitAt" | "limitBps" | "holidays">): string[] {
  if (limitAt === undefined) return [];
  const found: string[] = [];
  const holes = holesOf(limitAt);
  const remedy = limitAt.otherwise === undefined ? "omit one of the two" : "leave its else out";
  if (holes.length > 0 && limitBps === undefined)
    found.push(
      `the calendar says nothing for ${holes.join(", ")}; add else=RATE, else=none, or give --limit`,
    );
  if (holes.length === 0 && limitBps !== undefined)
    found.push(
      `--limit ${showBytes(limitBps)}/s: the calendar leaves no time for it; ${remedy}, or write --limit none`,
    );
  if (limitAt.holiday !== undefined && holidays === undefined)
    found.push("the calendar contains holidays; set the country, such as --holidays IT");
  return found;
}

function siteLimitsOf({ siteLimitBps, sites }: Settings): { name: string; rateBps: number }[] {
  const found = sites.flatMap(({ url, limitBps }) =>
    limitBps === undefined ? [] : [{ name: `the limit for ${url}`, rateBps: limitBps }],
  );
  return siteLimitBps === undefined
    ? found
    : [{ name: "the site limit", rateBps: siteLimitBps }, ...found];
}
