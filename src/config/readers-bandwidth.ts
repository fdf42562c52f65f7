/** The ways to read what a crawl may take of the line: limits, quotas, shares, places and times. */

import { readCalendar } from "../bandwidth/clock/calendar-text.ts";
import type { Calendar } from "../bandwidth/clock/calendar.ts";
import { limitMistake, readLimitBps } from "../bandwidth/clock/limit-text.ts";
import type { Quota } from "../bandwidth/clock/quota.ts";
import { readBytes, readDurationMs } from "../base/units.ts";
import type { Reader } from "./field.ts";
import { countryMistake, readCountry } from "./holidays.ts";
import { suggestion } from "./nearest.ts";
import type { Range } from "./readers.ts";

/** Less would be gone with one page, and its connection, before anything is known about the site. */
const QUOTA_BYTES_LEAST = 1e6;
const QUOTA_BYTES_MOST = 1e15;
const MINUTE_MS = 60_000;

export const limit: Reader<number> = {
  placeholder: "RATE",
  expects: "a rate from 4KB/s to 100GB/s, such as 500KB/s, 2MB/s or 8Mbit/s",
  read: readLimitBps,
  explain: (text) => [limitMistake(text)],
};

export const calendar: Reader<Calendar> = {
  placeholder: "CALENDAR",
  expects:
    "times and their rates, such as 'mon-fri 08:00-18:00=1MB/s,else=8MB/s' or '22:00-06:00=none,else=pause'",
  read: (text) => readCalendar(text).calendar,
  explain: (text) => readCalendar(text).mistakes,
};

export const quota: Reader<Quota> = {
  placeholder: "SIZE/day|month",
  expects: "a size per day or month from 1MB up, such as 5GB/day or 200GB/month",
  read: readQuota,
  explain: (text) => [quotaMistake(text)],
};

/** `7%` of what was asked for; a bare number could be a share or a percentage. */
export const autoOrShare: Reader<"auto" | number> = {
  placeholder: "auto|SHARE",
  expects: "auto, or a share from 0% to 50%, such as 4%",
  read(text) {
    if (text === "auto") return "auto";
    const match = /^(\d{1,2}(?:\.\d{1,4})?)\s*%$/.exec(text.trim());
    const share = Number(match?.[1]) / 100;
    return match !== null && share <= 0.5 ? share : undefined;
  },
};

export function decimal(range: Range): Reader<number> {
  return {
    placeholder: "N",
    expects: `a number from ${range.least} to ${range.most}`,
    read(text) {
      const value = /^\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
      return value >= range.least && value <= range.most ? value : undefined;
    },
  };
}

export function minutes(range: Range): Reader<number> {
  return {
    placeholder: "DURATION",
    expects: `a duration from ${range.least}m to ${range.most}m, such as 90m or 2h`,
    read(text) {
      const value = (readDurationMs(text) ?? Number.NaN) / MINUTE_MS;
      return value >= range.least && value <= range.most ? value : undefined;
    },
  };
}

export const timeZone: Reader<string> = {
  placeholder: "ZONE",
  expects: "the name of a time zone, such as Europe/Rome or UTC",
  read: (text) => (isTimeZone(text) ? text : undefined),
  explain(text) {
    const meant = suggestion(text, Intl.supportedValuesOf("timeZone"));
    return [`is no time zone that this machine knows${meant || "; write Europe/Rome or UTC"}`];
  },
};

/** ISO 3166: a country, and a part of it where holidays differ. */
export const country: Reader<string> = {
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
    return "with 0 nothing is ever fetched; write none for no quota, or at least 1MB/day";
  if (/^\d+([.,]\d+)?$/.test(amount))
    return `a quota needs a unit; write ${amount}GB/${spanOf(per)}`;
  if (bytes === undefined) return "is no quota; write it as 5GB/day or 200GB/month";
  if (bytes < QUOTA_BYTES_LEAST)
    return `is too little: one page may take more; write at least 1MB/${spanOf(per)}`;
  if (bytes > QUOTA_BYTES_MOST) return "is more than any line carries; write none for no quota";
  if (per === "") return `say per what; write ${amount}/day or ${amount}/month`;
  return `a quota is per day or month; write ${amount}/${spanOf(per)}`;
}

function spanOf(per: string): "day" | "month" {
  return /^m(?!in)/i.test(per) ? "month" : "day";
}

function isTimeZone(name: string): boolean {
  // Offsets such as +02:00 are accepted by some engines; they know nothing of summer time.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
