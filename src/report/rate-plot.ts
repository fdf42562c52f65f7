/**
 * Draws the rate of a crawl with its limit and its prediction.
 *
 * A minute is drawn with its lowest and highest second, so that peaks stay visible. Pauses are gaps;
 * when they add up to more than the crawled time, they are left out and the axis is the time crawled.
 */

import { type RateHistory, type RateSpan, rateSpans } from "../control/rate-log.ts";
import { linePlot, type Line } from "./line-plot.ts";
import type { Point } from "./thin.ts";

const SECOND_MS = 1000;
/** A row that starts later than this many row lengths after the previous one starts a new curve. */
const GAP_LENGTHS = 2.5;

export function ratePlot(history: RateHistory, width: number): string {
  const spans = rateSpans(history);
  const hasLimit = spans.some(({ limitBps }) => limitBps !== undefined);
  const axis = axisFor(spans);
  const lines: Line[] = [
    {
      name: "measured",
      kind: "solid",
      points: curve(spans, axis.xOf, ({ leastBps, mostBps }) => [leastBps, mostBps]),
    },
    {
      name: "predicted",
      kind: "dotted",
      points: curve(spans, axis.xOf, ({ predictedBps }) => [predictedBps]),
    },
  ];
  const limit: Line = {
    name: "limit",
    kind: "limit",
    points: curve(spans, axis.xOf, ({ limitBps }) => [limitBps ?? NaN]),
  };
  return linePlot({
    title: "Rate, limit and prediction",
    x: axis.text,
    y: { label: "Received", unit: "B/s" },
    lines: hasLimit ? [...lines, limit] : lines,
    width,
    height: 340,
  });
}

interface Axis {
  readonly text: { readonly label: string; readonly unit: string };
  /** x coordinate of the span with this index. */
  readonly xOf: (index: number) => number;
}

function axisFor(spans: readonly RateSpan[]): Axis {
  const first = spans[0]?.atMs ?? 0;
  const last = spans.at(-1);
  const wholeMs = last === undefined ? 0 : last.atMs + last.lengthMs - first;
  const crawledMs = spans.reduce((sum, { lengthMs }) => sum + lengthMs, 0);
  if (crawledMs * 2 >= wholeMs)
    return {
      text: { label: "Time", unit: "clock" },
      xOf: (index) => spans[index]?.atMs ?? NaN,
    };
  const startsS: number[] = [];
  let atS = 0;
  for (const { lengthMs } of spans) {
    startsS.push(atS);
    atS += lengthMs / SECOND_MS;
  }
  return {
    text: { label: "Time crawled, pauses left out", unit: "s" },
    xOf: (index) => startsS[index] ?? NaN,
  };
}

function curve(
  spans: readonly RateSpan[],
  xOf: (index: number) => number,
  valuesOf: (span: RateSpan) => readonly number[],
): Point[] {
  const points: Point[] = [];
  let before: RateSpan | undefined;
  for (const [index, span] of spans.entries()) {
    const isGap =
      before !== undefined &&
      span.atMs - before.atMs > GAP_LENGTHS * Math.max(before.lengthMs, span.lengthMs);
    if (isGap) points.push([xOf(index), NaN]);
    for (const value of valuesOf(span)) points.push([xOf(index), value]);
    before = span;
  }
  return points;
}
