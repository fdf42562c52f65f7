/** Numbers as people read them in a terminal. */

import { PURPOSES, type BytesByPurpose } from "../bandwidth/history/ledger.ts";
import { showBytes, showCount, showDuration } from "../base/units.ts";

export { plural, showCount, showPace } from "../base/units.ts";

/** A rate and its share of the limit: "1.96 MB/s of 2.00 (98 %)". */
export function showRate(rateBps: number, limitBps: number | undefined): string {
  const rate = showBytes(rateBps);
  if (limitBps === undefined) return `${rate}/s`;
  if (limitBps === 0) return `${rate}/s, paused by the calendar`;
  const limit = showBytes(limitBps);
  const [number, unit] = limit.split(" ");
  const shown = unit === rate.split(" ")[1] ? number : `${limit}/s`;
  return `${rate}/s of ${shown} (${Math.round((100 * rateBps) / limitBps)} %)`;
}

/** Bytes by purpose, the largest first, as "name amount" words. */
export function showLedger(ledger: BytesByPurpose): string[] {
  return PURPOSES.filter((purpose) => ledger[purpose] > 0)
    .toSorted((a, b) => ledger[b] - ledger[a])
    .map((purpose) => `${purpose} ${showBytes(ledger[purpose])}`);
}

/** Estimates are rounded; the seconds of an hour would be false precision. */
export function showRemaining(remainingMs: number | undefined): string {
  if (remainingMs === undefined) return "";
  if (remainingMs < 1000) return "nearly done";
  if (remainingMs > 30 * 86_400_000) return "more than a month left";
  return `about ${showDuration(remainingMs)} left`;
}

/** Reasons and how often, the most frequent first. */
export function showReasons(
  outcomes: Readonly<Record<string, number>>,
  countMax: number,
): string[] {
  const sorted = Object.entries(outcomes)
    .filter(([, count]) => count > 0)
    .toSorted(([, a], [, b]) => b - a);
  const shown = sorted.slice(0, countMax).map(([reason, count]) => `${reason} ${showCount(count)}`);
  const rest = sorted.slice(countMax).reduce((sum, [, count]) => sum + count, 0);
  return rest > 0 ? [...shown, `others ${showCount(rest)}`] : shown;
}
