/**
 * The public holidays of a country, and of a part of it where they differ: `IT`, `US-CA`, `DE-BY`.
 *
 * The dates are from `date-holidays`, which knows about two hundred countries, movable feasts and
 * days in lieu. It is larger than the rest of Weir, so it is loaded only when a country is set, and
 * users of the package install it themselves (docs/decisions/008-holidays.md).
 */

import { createRequire } from "node:module";
import { assert } from "../base/assert.ts";
import { nearest } from "./nearest.ts";

/** The part of the library that Weir uses. */
interface Library {
  getCountries(): Readonly<Record<string, string>>;
  getStates(country: string): Readonly<Record<string, string>> | undefined;
  getRegions(country: string, state: string): Readonly<Record<string, string>> | undefined;
  getHolidays(year: number): readonly Holiday[];
}

interface Holiday {
  /** Start in local time: 2026-12-25 00:00:00, or 2026-05-27 00:00:00 -0600. */
  readonly date: string;
  readonly start: Date;
  readonly end: Date;
  readonly type: string;
}

type MakeLibrary = new (country?: string, state?: string, region?: string) => Library;

const PACKAGE = "date-holidays";
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Common codes and those of ISO 3166. */
const ALIASES: ReadonlyMap<string, string> = new Map([["UK", "GB"]]);
const PARTS_SHOWN = 20;

/** The place as the library spells it; undefined if it is unknown or the library is missing. */
export function readCountry(text: string): string | undefined {
  const code = text.trim().toUpperCase();
  return loadLibrary() !== undefined && partsMistake(code) === undefined ? code : undefined;
}

/** Why `readCountry` refuses a text, and what to write instead. */
export function countryMistake(text: string): string {
  if (loadLibrary() === undefined)
    return `needs the package ${PACKAGE}; install it beside weir: npm install ${PACKAGE}`;
  const code = text.trim().toUpperCase();
  return partsMistake(code) ?? "is a country";
}

/** Whether a date such as 2026-03-29 is a public holiday in a place that `readCountry` accepted. */
export function publicHolidaysOf(country: string): (date: string) => boolean {
  const Holidays = loadLibrary();
  assert(Holidays !== undefined, "a country was read, so its holidays are at hand");
  const [code = "", state, region] = country.split("-");
  const library = new Holidays(code, state, region);
  const daysOf = new Map<number, ReadonlySet<string>>();
  return (date) => {
    const year = Number(date.slice(0, 4));
    // A holiday may extend over New Year's Eve, and a day in lieu may be in the previous year.
    for (const near of [year - 1, year, year + 1]) {
      const days = daysOf.get(near) ?? daysIn(library, near);
      daysOf.set(near, days);
      if (days.has(date)) return true;
    }
    return false;
  };
}

function daysIn(library: Library, year: number): ReadonlySet<string> {
  const days = new Set<string>();
  for (const { date, start, end, type } of library.getHolidays(year)) {
    if (type !== "public") continue;
    // Some start at sunset or last for days: a day counts if noon is within the holiday.
    const startMs = localStartMs(date);
    const endMs = startMs + (end.getTime() - start.getTime());
    const firstNoonMs = Math.ceil(startMs / DAY_MS - 0.5) * DAY_MS + 12 * HOUR_MS;
    for (let noonMs = firstNoonMs; noonMs < endMs; noonMs += DAY_MS)
      days.add(new Date(noonMs).toISOString().slice(0, 10));
  }
  return days;
}

/** Local time, counted as if it were UTC; `-0600` is a start six hours earlier. */
function localStartMs(date: string): number {
  const match = /^(\S+) (\S+)(?: ([+-])(\d\d)(\d\d))?$/.exec(date);
  assert(match !== null, `a holiday begins at ${date}`);
  const [, day, time, sign, hours = "0", minutes = "0"] = match;
  const shiftMs = (Number(hours) + Number(minutes) / 60) * HOUR_MS;
  return Date.parse(`${day}T${time}Z`) + (sign === "-" ? -shiftMs : shiftMs);
}

function partsMistake(code: string): string | undefined {
  const Holidays = loadLibrary();
  assert(Holidays !== undefined, "asked only when there is something to ask");
  const library = new Holidays();
  const [country = "", state, region, ...rest] = code.split("-");
  const countries = library.getCountries();
  if (!Object.hasOwn(countries, country)) return countryUnknown(code, countries);
  if (state === undefined) return undefined;
  const states = library.getStates(country) ?? {};
  if (!Object.hasOwn(states, state)) return partUnknown(country, state, states);
  if (region === undefined) return undefined;
  const regions = library.getRegions(country, state) ?? {};
  if (!Object.hasOwn(regions, region) || rest.length > 0)
    return partUnknown(`${country}-${state}`, [region, ...rest].join("-"), regions);
  return undefined;
}

function countryUnknown(code: string, countries: Readonly<Record<string, string>>): string {
  const english = new Intl.DisplayNames("en", { type: "region" });
  const codeOf = new Map<string, string>();
  for (const [country, native] of Object.entries(countries))
    codeOf.set(native, country).set(english.of(country) ?? country, country);
  // Two letters are similar to many codes; a name is similar to one.
  const name = code.length > 3 ? nearest(code, [...codeOf.keys()]) : undefined;
  const meant = ALIASES.get(code) ?? codeOf.get(name ?? "");
  const instead =
    meant === undefined
      ? "write its two letters, such as IT, US-CA or DE-BY"
      : `did you mean ${meant}?`;
  return `is no country whose holidays are known; ${instead}`;
}

function partUnknown(place: string, part: string, parts: Readonly<Record<string, string>>): string {
  const codes = Object.keys(parts);
  if (codes.length === 0) return `has no parts with holidays of their own; write ${place}`;
  const shown = codes.slice(0, PARTS_SHOWN).map((code) => `${place}-${code}`);
  const more = codes.length > PARTS_SHOWN ? " and others" : "";
  return `${place} has no part ${part}; it has ${shown.join(", ")}${more}`;
}

let library: { readonly make: MakeLibrary | undefined } | undefined;

/** Loaded once, with require: readers of settings are synchronous. */
function loadLibrary(): MakeLibrary | undefined {
  if (library === undefined) {
    try {
      library = { make: createRequire(import.meta.url)(PACKAGE) as MakeLibrary };
    } catch (error) {
      const isMissing = error instanceof Error && "code" in error;
      if (!isMissing || error.code !== "MODULE_NOT_FOUND") throw error;
      library = { make: undefined };
    }
  }
  return library.make;
}
