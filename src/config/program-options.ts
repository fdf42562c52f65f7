/**
 * Options as a program gives them: by the names in the code, with numbers in the unit of the name.
 *
 * TypeScript refuses a wrong name or type while a program is written. JavaScript does not, so `crawl` checks its
 * options again: a name that does not exist would be ignored, and text such as `2MB/s` is no number.
 */

import { visible } from "../base/visible.ts";
import { expectationOf, type Field, type FieldTable, flagOf, isList, isSwitch } from "./field.ts";
import { suggestion } from "./nearest.ts";
import { SETTINGS, SITE_SETTINGS } from "./schema.ts";

type Given = Readonly<Record<string, unknown>>;

/** Written as numbers in a program. */
const NUMERIC = /^(N|RATE|SIZE|DURATION|(auto\|)?SHARE)$/;
const JSON_CHARACTERS_MAX = 80;

/** The number that a program gives, with its unit; undefined for counts and for all that is no number. */
export function amountOf(name: string, { reader }: Field<unknown>): string | undefined {
  if (name.endsWith("Bps")) return "a number in bytes per second";
  if (name.endsWith("Ms")) return "a number in milliseconds";
  if (name.endsWith("Minutes")) return "a number in minutes";
  if (/Bytes(Max)?$/.test(name)) return "a number in bytes";
  return reader.placeholder.endsWith("SHARE") ? "a number from 0 to 1" : undefined;
}

/** What is wrong with the options of `crawl`, other than their combination; `hooks` are functions. */
export function optionMistakes(given: Given, hooks: readonly string[]): string[] {
  const { urls, sites, ...settings } = given;
  return [
    ...(urls === undefined || isTextList(urls)
      ? []
      : [`urls: expects a list, such as ["https://example.org/"]`]),
    ...mistakesIn(settings, SETTINGS, ["urls", "sites", ...hooks]),
    ...hooks.flatMap((name) => {
      const isWrong = given[name] !== undefined && typeof given[name] !== "function";
      return isWrong ? [`${name}: expects a function`] : [];
    }),
    ...siteMistakes(sites),
  ];
}

function siteMistakes(sites: unknown): string[] {
  const expected = `sites: expects a list, such as [{ url: "https://example.org/", delayMs: 2000 }]`;
  if (sites === undefined) return [];
  if (!Array.isArray(sites)) return [expected];
  return sites.flatMap((site: unknown, index) => {
    if (!isObject(site) || typeof site["url"] !== "string") return [expected];
    return mistakesIn(site, SITE_SETTINGS, []).map((mistake) => `sites[${index}].${mistake}`);
  });
}

function mistakesIn(given: Given, table: FieldTable, others: readonly string[]): string[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const field = Object.hasOwn(table, name) ? table[name] : undefined;
    if (field === undefined) return others.includes(name) ? [] : [unknown(name, table, others)];
    const why = value === undefined ? undefined : whyWrong(name, value, field);
    return why === undefined ? [] : [`${name}: ${why}`];
  });
}

function unknown(name: string, table: FieldTable, others: readonly string[]): string {
  const shown = visible(name, 80);
  const same = Object.keys(table).find((other) => table[other]?.key === name);
  if (same !== undefined)
    return `${shown} is the name in weir.yaml; the option of a program is ${same}`;
  return `${shown} is no option${suggestion(name, [...Object.keys(table), ...others])}`;
}

function whyWrong(name: string, value: unknown, field: Field<unknown>): string | undefined {
  if (value === null) return "null is no value; leave the option out";
  if (isSwitch(field)) {
    const isRight = typeof value === "boolean" || field.reader.read(String(value)) === value;
    return isRight ? undefined : `expects ${field.reader.expects}`;
  }
  if (isList(field)) {
    if (!Array.isArray(value)) return `expects a list; each item is ${expectationOf(field)}`;
    return value.map((item) => whyWrongOne(name, item, field)).find((why) => why !== undefined);
  }
  return whyWrongOne(name, value, field);
}

function whyWrongOne(name: string, value: unknown, field: Field<unknown>): string | undefined {
  const { reader } = field;
  const isNumeric = NUMERIC.test(reader.placeholder);
  const expected = `expects ${amountOf(name, field) ?? expectationOf(field)}`;
  if (typeof value === "string") return whyTextWrong(value, field, expected);
  if (typeof value === "boolean") return expected;
  if (typeof value !== "number") return isNumeric ? expected : undefined;
  if (!isNumeric) return typeof reader.read(String(value)) === "number" ? undefined : expected;
  const isInRange = reader.placeholder.endsWith("SHARE")
    ? value >= 0 && value <= 1
    : reader.read(onCommandLine(name, value, field)) !== undefined;
  return isInRange ? undefined : `${value} is not ${reader.expects}`;
}

/** In the spelling of the command line, so that its ranges hold here too. */
function onCommandLine(name: string, value: number, { reader }: Field<unknown>): string {
  if (reader.placeholder === "RATE") return `${value}B/s`;
  if (reader.placeholder === "SIZE") return `${value}B`;
  if (reader.placeholder !== "DURATION") return String(value);
  return name.endsWith("Minutes") ? `${value}m` : `${value}ms`;
}

/** Text is right where the setting is text, and else the spelling of the command line. */
function whyTextWrong(text: string, field: Field<unknown>, expected: string): string | undefined {
  const value = field.reader.read(text);
  if (typeof value === "string") return undefined;
  const shown = field.secret === true ? "" : `${JSON.stringify(visible(text, 80))} is text; `;
  if (value === undefined) return shown + expected;
  const json = JSON.stringify(value);
  if (json.length > JSON_CHARACTERS_MAX)
    return `${shown}settingsFrom(["${flagOf(field)}", …]) reads it`;
  return `${shown}${typeof value === "number" ? `${expected}: ` : ""}write ${json}`;
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isObject(value: unknown): value is Given {
  return typeof value === "object" && value !== null;
}
