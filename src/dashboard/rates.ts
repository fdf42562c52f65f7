/**
 * The rate of a whole crawl, short enough for a chart: neighbouring seconds and minutes become
 * spans with their lowest and highest second, so that a second above the limit is visible in a
 * crawl of any length. Times without a crawl stay gaps. O(n) in the logged rows.
 */

import { type RateHistory, type RateSpan, rateSpans } from "../control/rate-log.ts";

const SECOND_MS = 1000;
/** A row this many lengths after the previous span starts a new one. */
const GAP_LENGTHS = 2.5;

export function spansOf(history: RateHistory, countMax: number): RateSpan[] {
  const all = rateSpans(history);
  const lengthMs = (all.at(-1)?.atMs ?? 0) + SECOND_MS - (all[0]?.atMs ?? 0);
  const spanMs = lengthMs / countMax;
  const spans: RateSpan[] = [];
  for (const next of all) {
    const last = spans.at(-1);
    if (last !== undefined && joins(last, next, spanMs))
      spans[spans.length - 1] = joined(last, next);
    else spans.push(next);
  }
  return spans;
}

function joins(last: RateSpan, next: RateSpan, spanMs: number): boolean {
  const gapMs = next.atMs - last.atMs - last.lengthMs;
  return next.atMs + next.lengthMs - last.atMs <= spanMs && gapMs < GAP_LENGTHS * next.lengthMs;
}

function joined(a: RateSpan, b: RateSpan): RateSpan {
  const lengthMs = b.atMs + b.lengthMs - a.atMs;
  const mean = (of: (span: RateSpan) => number): number =>
    (of(a) * a.lengthMs + of(b) * b.lengthMs) / (a.lengthMs + b.lengthMs);
  return {
    atMs: a.atMs,
    lengthMs,
    leastBps: Math.min(a.leastBps, b.leastBps),
    meanBps: mean(({ meanBps }) => meanBps),
    mostBps: Math.max(a.mostBps, b.mostBps),
    predictedBps: mean(({ predictedBps }) => predictedBps),
    limitBps: b.limitBps ?? a.limitBps,
  };
}
