/** Settings for the bandwidth of a crawl: how each is read, and how they must agree with each other. */

import { readCalendar } from "../bandwidth/clock/calendar-text.ts";
import { type Calendar, holesOf } from "../bandwidth/clock/calendar.ts";
import { LIMIT_BPS_LEAST, limitMistake, readLimitBps } from "../bandwidth/clock/limit-text.ts";
import type { Quota } from "../bandwidth/clock/quota.ts";
import { readBytes, showBytes } from "../base/units.ts";
import type { FieldTable, Reader } from "./field.ts";
import { countryMistake, readCountry } from "./holidays.ts";
import { suggestion } from "./nearest.ts";
import * as read from "./readers.ts";
import type { Settings } from "./schema.ts";

/** One page and its connection could use up a smaller quota before the site is known. */
const QUOTA_BYTES_LEAST = 1e6;
const QUOTA_BYTES_MOST = 1e15;

export const limitReader: Reader<number> = {
  placeholder: "RATE",
  expects: "a rate from 4KB/s to 100GB/s, such as 500KB/s, 2MB/s or 8Mbit/s",
  read: readLimitBps,
  explain: (text) => [limitMistake(text)],
};

const calendarReader: Reader<Calendar> = {
  placeholder: "CALENDAR",
  expects:
    "times and their rates, such as 'mon-fri 08:00-18:00=1MB/s,else=8MB/s' or '22:00-06:00=none,else=pause'",
  read: (text) => readCalendar(text).calendar,
  explain: (text) => readCalendar(text).mistakes,
};

const quotaReader: Reader<Quota> = {
  placeholder: "SIZE/day|month",
  expects: "a size per day or month from 1MB up, such as 5GB/day or 200GB/month",
  read: readQuota,
  explain: (text) => [quotaMistake(text)],
};

/** `7%` of the bytes; a bare number could be a share or a percentage. */
const overheadReader: Reader<"auto" | number> = {
  placeholder: "auto|SHARE",
  expects: "auto, or a share from 0% to 50%, such as 4%",
  read(text) {
    if (text === "auto") return "auto";
    const match = /^(\d{1,2}(?:\.\d{1,4})?)\s*%$/.exec(text.trim());
    const share = Number(match?.[1]) / 100;
    return match !== null && share <= 0.5 ? share : undefined;
  },
};

const timeZoneReader: Reader<string> = {
  placeholder: "ZONE",
  expects: "the name of a time zone, such as Europe/Rome or UTC",
  read: (text) => (isTimeZone(text) ? text : undefined),
  explain(text) {
    const meant = suggestion(text, Intl.supportedValuesOf("timeZone"));
    return [`is no time zone that this machine knows${meant || "; write Europe/Rome or UTC"}`];
  },
};

/** ISO 3166: a country, and a part of it where holidays differ. */
const countryReader: Reader<string> = {
  placeholder: "COUNTRY",
  expects: "a country by its two letters, with a part of it where that matters: IT, US-CA, DE-BY",
  read: readCountry,
  explain: (text) => [countryMistake(text)],
};

function readQuota(text: string): Quota | undefined {
  const match = /^(.+)\/(day|month)$/i.exec(text.trim());
  const bytes = Math.round(readBytes(match?.[1] ?? "") ?? Number.NaN);
  const per = match?.[2]?.toLowerCase() === "day" ? "day" : "month";
  return bytes >= QUOTA_BYTES_LEAST && bytes <= QUOTA_BYTES_MOST ? { bytes, per } : undefined;
}

function quotaMistake(text: string): string {
  const [amount = "", per = ""] = text.split(/\/|\bper\b/i, 2).map((part) => part.trim());
  const bytes = readBytes(amount);
  if (amount.startsWith("-"))
    return "a quota is never negative; write it as 5GB/day or 200GB/month";
  if (/^\+?0[.,]?0*\s*[a-z]*$/i.test(amount))
    return "a quota of 0 allows no request; write none for no quota, or at least 1MB/day";
  if (/^\d+([.,]\d+)?$/.test(amount))
    return `a quota needs a unit; write ${amount}GB/${spanOf(per)}`;
  if (bytes === undefined) return "is no quota; write it as 5GB/day or 200GB/month";
  if (bytes < QUOTA_BYTES_LEAST)
    return `is too little: one page may take more; write at least 1MB/${spanOf(per)}`;
  if (bytes > QUOTA_BYTES_MOST) return "is more than any line carries; write none for no quota";
  if (per === "") return `needs a period; write ${amount}/day or ${amount}/month`;
  return `a quota is per day or month; write ${amount}/${spanOf(per)}`;
}

function spanOf(per: string): "day" | "month" {
  return /^m(?!in)/i.test(per) ? "month" : "day";
}

function isTimeZone(name: string): boolean {
  // Some engines accept offsets such as +02:00, which have no summer time.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

const HOUR = 3_600_000;

export const BANDWIDTH = {
  limitBps: {
    key: "limit",
    meaning:
      "Most bytes received per second by the whole crawl, with headers, TLS, robots.txt and packet headers. No limit by default.",
    reader: limitReader,
    orNone: true,
  },
  limitAt: {
    key: "limitAt",
    meaning:
      "Limit by time of the week: days (mon-fri, sat, daily, weekend, holiday), times, = and a rate, none or pause. `else` is the rest of the week; by default --limit.",
    reader: calendarReader,
    orNone: true,
  },
  siteLimitBps: {
    key: "siteLimit",
    meaning:
      "Most bytes received per second from one site, packet headers included. No limit by default.",
    reader: limitReader,
    orNone: true,
  },
  quota: {
    key: "quota",
    meaning:
      "Most bytes received per calendar day or month, packet headers included. The crawl stops when it is used up; the same command resumes it in the next period. No quota by default.",
    reader: quotaReader,
    orNone: true,
  },
  control: {
    key: "control",
    meaning:
      "How the limit is enforced: `paced` reserves bandwidth for each response and slows down large ones; `predict` starts only downloads that are expected to fit (Diligenti et al.); `onoff` starts a download below the limit and stops one above it (Shkapenyuk and Suel). The last two are for comparison.",
    fallback: "paced",
    reader: read.oneOf(["paced", "predict", "onoff"]),
  },
  searchDepthMax: {
    key: "maxDepthSearch",
    meaning: "How many queued URLs to try for one that fits under the limit.",
    fallback: "6",
    reader: read.integer({ least: 1, most: 10_000 }),
  },
  waitMaxMs: {
    key: "maxWait",
    meaning: "Longest time that a URL is skipped because it does not fit under the limit.",
    fallback: "30s",
    reader: read.duration({ least: 100, most: HOUR }),
  },
  packetOverhead: {
    key: "packetOverhead",
    meaning:
      "Share that packet headers and acknowledgements add to the received bytes. `auto` computes it from packet sizes.",
    fallback: "auto",
    reader: overheadReader,
  },
  goodNeighbour: {
    key: "goodNeighbour",
    meaning: "Slow down while other programs use the line, detected by longer round-trip times.",
    fallback: "false",
    reader: read.onOff,
  },
  timeZone: {
    key: "timeZone",
    meaning:
      "Time zone of --limit-at, --quota and the speed table. By default that of the machine.",
    reader: timeZoneReader,
  },
  holidays: {
    key: "holidays",
    meaning: "Country whose public holidays count as `holiday`. By default none.",
    reader: countryReader,
    orNone: true,
  },
  speedGain: {
    key: "speedGain",
    meaning: "Weight of a new speed measurement against older ones (k).",
    fallback: "0.3",
    reader: read.decimal({ least: 0.01, most: 1 }),
  },
  speedSpreadMinutes: {
    key: "speedSpread",
    meaning: "How far a speed measurement applies around its time of day (σ of a Gaussian).",
    fallback: "120m",
    reader: read.minutes({ least: 1, most: 1440 }),
  },
  speedsFile: {
    key: "speeds",
    meaning:
      "File for the measured speeds of servers, which several crawls may share. By default in the crawl's folder.",
    reader: read.words("FILE", "the name of a file"),
    orNone: true,
  },
  serversMax: {
    key: "serversMax",
    meaning: "Most servers in the speed table; the least useful ones are removed.",
    fallback: "100000",
    reader: read.integer({ least: 1, most: 10_000_000 }),
  },
} as const satisfies FieldTable;

export function bandwidthMistakes(settings: Settings): string[] {
  return [...tooLittle(settings), ...calendarMistakes(settings)];
}

/** Remarks: odd but harmless settings. */
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

/** Readers check texts; settings from a program are plain numbers. */
function tooLittle(settings: Settings): string[] {
  const { limitBps } = settings;
  const all = limitBps === undefined ? [] : [{ name: "limit", rateBps: limitBps }];
  return [...all, ...siteLimitsOf(settings)]
    .filter(({ rateBps }) => !(rateBps >= LIMIT_BPS_LEAST))
    .map(({ name, rateBps }) => `${name} of ${rateBps} bytes/s: at least ${LIMIT_BPS_LEAST}`);
}

/** Checks a calendar against the limit that applies in its holes. */
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
      `the calendar has no rate for ${holes.join(", ")}; add else=RATE, else=none, or give --limit`,
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
