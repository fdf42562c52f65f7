/**
 * Reads a bandwidth limit as people write it, and says what to write when they wrote it otherwise.
 *
 * Nothing is guessed: eight times too much, because bits were taken for bytes, is a broken promise
 * to everybody on the line. What is nearly right is refused with the right spelling beside it.
 */

import { readRateBps } from "../../base/units.ts";

/** A request with its answer's headers takes about this much; below it, not one a second fits. */
export const LIMIT_BPS_LEAST = 4_000;
const LIMIT_BPS_MOST = 100e9;

/** `2`, `2 Mbit`, `2mbps`, `2MB per second`, `1,5MB/s`: sign, number, prefix, i, unit, per what. */
const NEARLY =
  /^([+-]?)(\d{1,15}(?:[.,]\d{1,6})?)\s*([kmgt]?)(i?)(bytes?|bits?|b|)\s*(?:(?:\/|per|p)\s*([a-z]*))?$/i;
/** No rate is this long; the bound also keeps the pattern above from backtracking. */
const TEXT_LENGTH_MAX = 64;
/** `Mb/s`: by the rules megabits, from most hands megabytes. */
const AMBIGUOUS = /\d\s*[KMGT]b\/s$/;

/** undefined when it is no rate, or none that a crawl can keep; then `limitMistake` knows why. */
export function readLimitBps(text: string): number | undefined {
  const rateBps = AMBIGUOUS.test(text.trim()) ? undefined : readRateBps(text);
  return rateBps !== undefined && rateBps >= LIMIT_BPS_LEAST && rateBps <= LIMIT_BPS_MOST
    ? rateBps
    : undefined;
}

/** What is wrong with a text that `readLimitBps` refuses, and what to write instead. */
export function limitMistake(text: string): string {
  if (/^(unlimited|no|off|infinity|inf)$/i.test(text.trim())) return "write none for no limit";
  const match = text.length > TEXT_LENGTH_MAX ? null : NEARLY.exec(text.trim());
  if (match === null) return "is no rate; write it as 2MB/s, 500KB/s or 8Mbit/s";
  const [, sign = "", number = "", prefix = "", , unit = "", per] = match;
  const offers = `write ${offersFor(match).join(" or ")}`;
  if (Number(number.replace(",", ".")) === 0)
    return `a quota of 0 allows no request; write none for no limit, or at least ${least()}`;
  if (sign === "-") return `a limit is never negative; ${offers}`;
  if (prefix === "" && unit === "") return `a rate needs a unit; ${offers}`;
  if (per === undefined) return `a rate is per second; ${offers}`;
  if (!/^s(ec(ond)?)?$/i.test(per)) return "a rate is per second, such as 2MB/s";
  const rateBps = readRateBps(text);
  if (rateBps !== undefined && rateBps < LIMIT_BPS_LEAST)
    return `is too little: one request a second takes about ${LIMIT_BPS_LEAST / 1000} KB; write at least ${least()}`;
  if (rateBps !== undefined && rateBps > LIMIT_BPS_MOST)
    return "is more than any line carries; write none for no limit";
  return `is not clear; ${offers}`;
}

function least(): string {
  return `${LIMIT_BPS_LEAST / 1000}KB/s`;
}

/** The spellings it may stand for, likeliest first, only such as would be taken. */
function offersFor(match: RegExpExecArray): string[] {
  const [, , number = "", prefix = "", binary = "", unit = "", per = ""] = match;
  const amount = number.replace(",", ".");
  const factor = prefix.toUpperCase();
  const bytes = `${amount}${factor}${binary === "" ? "" : "i"}B/s`;
  const bits = `${amount}${factor === "K" ? "k" : factor}bit/s`;
  const noUnit = [`${amount}MB/s`, `${amount}KB/s`, `${amount}Mbit/s`];
  let meant = unit === "" ? [bytes, bits] : [bytes];
  if (prefix === "" && unit === "") meant = noUnit;
  else if (/^bit/i.test(unit)) meant = [bits];
  // `Mbps` and `Mb` are the networkers' words for bits, `MBps` and `mb` are not.
  else if (unit === "b" && (per !== "" || /[KMGT]/.test(prefix))) meant = [bits, bytes];
  const usable = meant.filter((offer) => readLimitBps(offer) !== undefined);
  return usable.length === 0 ? [`at least ${least()}`] : usable;
}
