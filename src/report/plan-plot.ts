/**
 * Draws a plan: one row per site with its bars (darker = higher rate), its deadline and the range of
 * its finish time; below, the sum of all rates against the total rate.
 *
 * Rows are sorted by finish time. Names are foreign text, so all text is escaped.
 */

import { byFinish, highestBps, type PlanRow, spanSeconds, sumOfRates } from "./plan-rows.ts";
import { type Scale, scaleFor, shown } from "./scale.ts";
import { element, escaped, hint, label, picture, short, widthOf } from "./svg.ts";
import { thinned, type Point } from "./thin.ts";

interface PlanPlot {
  readonly title: string;
  readonly rateBps: number;
  readonly rows: readonly PlanRow[];
  readonly width?: number;
}

const FONT_PIXELS = 12;
const ROW_PIXELS = 22;
const BAR_PIXELS = 14;
const TOP_PIXELS = 58;
const NAME_CHARACTERS_MAX = 34;
const ROWS_MAX = 120;
const SUM_PIXELS = 90;
const AXIS_PIXELS = 46;
const POINTS_MAX = 2000;
/** Opacity of the palest bar, so that it stays visible. */
const SHADE_MIN = 0.18;

interface Field {
  readonly x: Scale;
  readonly left: number;
  readonly right: number;
  /** Rate of the darkest bar. */
  readonly highestBps: number;
}

export function planPlot({ title, rateBps, rows, width = 860 }: PlanPlot): string {
  const sorted = byFinish(rows);
  const drawn = sorted.slice(0, ROWS_MAX);
  const names = drawn.map(({ name }) => cut(name));
  const nameWidth = Math.max(40, ...names.map((name) => widthOf(name, FONT_PIXELS)));
  const [left, right] = [14 + nameWidth + 8, width - 22];
  const x = scaleFor(0, spanSeconds(drawn), "s", { ticksMax: (right - left) / 80, tight: true });
  const field: Field = { x, left, right, highestBps: highestBps(drawn) };
  const hidden = sorted.length - drawn.length;
  const bottom = TOP_PIXELS + drawn.length * ROW_PIXELS + (hidden > 0 ? ROW_PIXELS : 4);
  const sumTop = bottom + AXIS_PIXELS;
  const height = sumTop + SUM_PIXELS + 14;
  const marks = [
    ...legend(
      left,
      drawn.some(({ band }) => band !== undefined),
    ),
    ...timeAxis(field, bottom),
    ...drawn.flatMap((row, index) => rowMarks(row, names[index] ?? "", index, field)),
    ...(hidden > 0
      ? [label(`and ${hidden} more sites`, { class: "soft", x: left, y: bottom - 7 })]
      : []),
    ...sumMarks(sorted, rateBps, field, sumTop),
  ];
  return picture({ title, width, height }, marks);
}

function cut(name: string): string {
  return name.length <= NAME_CHARACTERS_MAX ? name : `${name.slice(0, NAME_CHARACTERS_MAX - 1)}…`;
}

function legend(left: number, hasBands: boolean): string[] {
  const y = 44;
  const shades = [0.1, 0.4, 0.7, 1].map((share, step) =>
    bar({ x: left + step * 12, y: y - 11, width: 12, share }),
  );
  let x = left + 54;
  const marks = [...shades, label("low to high rate", { class: "soft", x, y })];
  x += widthOf("low to high rate", FONT_PIXELS) + 14;
  marks.push(deadlineMark(x, y - 13, false), label("deadline", { class: "soft", x: x + 7, y }));
  x += widthOf("deadline", FONT_PIXELS) + 20;
  marks.push(deadlineMark(x, y - 13, true), label("missed", { class: "soft", x: x + 7, y }));
  x += widthOf("missed", FONT_PIXELS) + 22;
  if (hasBands) {
    marks.push(whiskerMark(x, x + 24, y - 4));
    marks.push(label("5–95 % of all ends", { class: "soft", x: x + 31, y }));
  }
  return marks;
}

function timeAxis({ x, left, right }: Field, bottom: number): string[] {
  const marks: string[] = [];
  for (const { at, label: text } of x.ticks) {
    const across = place({ x, left, right }, at);
    const line = { x1: across, x2: across, y1: TOP_PIXELS, y2: bottom };
    marks.push(element("line", { class: "grid", ...line }));
    marks.push(label(text, { class: "soft middle", x: across, y: bottom + 15 }));
  }
  const middle = (left + right) / 2;
  marks.push(
    label(`time from now (${x.unit})`, { class: "soft middle", x: middle, y: bottom + 31 }),
  );
  return marks;
}

function rowMarks(row: PlanRow, name: string, index: number, field: Field): string[] {
  const y = TOP_PIXELS + index * ROW_PIXELS + 4;
  const { deadlineSeconds, band, isLate, finishSeconds } = row;
  const marks = [
    element(
      "text",
      {
        class: "end",
        x: field.left - 8,
        y: y + 12,
        ...(isLate ? { style: "fill:var(--limit)" } : {}),
      },
      escaped(name) + hint(row.name),
    ),
    ...row.segments.map(({ fromSeconds, toSeconds, rateBps }) => {
      const from = place(field, fromSeconds);
      const tooltip = `${row.name}: ${shown(rateBps, "B/s")} from ${short(fromSeconds)} s to ${short(toSeconds)} s`;
      return bar({
        x: from,
        y,
        width: Math.max(0.5, place(field, toSeconds) - from),
        share: rateBps / field.highestBps,
        tooltip,
      });
    }),
  ];
  if (band !== undefined && band.p95Seconds > band.p5Seconds)
    marks.push(
      whiskerMark(place(field, band.p5Seconds), place(field, band.p95Seconds), y + BAR_PIXELS / 2),
    );
  if (deadlineSeconds !== undefined) {
    const isFar = deadlineSeconds > field.x.high;
    const at = isFar ? field.right + 12 : place(field, deadlineSeconds);
    const tooltip = hint(
      `${row.name}: deadline ${short(deadlineSeconds)} s, done after ${short(finishSeconds)} s`,
    );
    if (isFar) marks.push(label("→", { class: "soft middle", x: at, y: y + 12 }));
    else marks.push(deadlineMark(at, y - 2, isLate, tooltip));
  }
  return marks;
}

interface Bar {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  /** Share of the highest rate. */
  readonly share: number;
  readonly tooltip?: string;
}

function bar({ x, y, width, share, tooltip }: Bar): string {
  const shade = SHADE_MIN + (1 - SHADE_MIN) * Math.min(1, share);
  return element(
    "rect",
    { class: "f0", x, y, width, height: BAR_PIXELS, "fill-opacity": shade.toFixed(2) },
    tooltip === undefined ? "" : hint(tooltip),
  );
}

/** A vertical stroke at a deadline. */
export function deadlineMark(x: number, y: number, isLate: boolean, tooltip = ""): string {
  const style = `stroke-width:2.5px;stroke:var(--${isLate ? "limit" : "ink"})`;
  const line = { x1: x, x2: x, y1: y, y2: y + BAR_PIXELS + 4, style };
  return element("line", line, tooltip);
}

function whiskerMark(from: number, to: number, y: number): string {
  const path = `M${short(from)} ${short(y)}H${short(to)}M${short(from)} ${short(y - 4)}v8M${short(to)} ${short(y - 4)}v8`;
  return element("path", { class: "line s1", d: path });
}

function sumMarks(rows: readonly PlanRow[], rateBps: number, field: Field, top: number): string[] {
  const { left, right } = field;
  const bottom = top + SUM_PIXELS;
  const steps = sumOfRates(rows);
  const most = steps.reduce((high, [, bps]) => Math.max(high, bps), rateBps) || 1;
  const y = scaleFor(0, most, "B/s", { ticksMax: 3 });
  const placeY = (bps: number): number => bottom - (bps / y.high) * SUM_PIXELS;
  const marks: string[] = [];
  for (const { at, label: text } of y.ticks) {
    const line = { x1: left, x2: right, y1: placeY(at), y2: placeY(at) };
    marks.push(element("line", { class: "grid", ...line }));
    marks.push(label(text, { class: "soft end", x: left - 6, y: placeY(at) + 4 }));
  }
  marks.push(label(`all sites (${y.unit})`, { class: "soft", x: 14, y: top - 10 }));
  marks.push(sumPath(steps, field, placeY, bottom));
  const limit = { x1: left, x2: right, y1: placeY(rateBps), y2: placeY(rateBps) };
  marks.push(element("line", { class: "line limit", ...limit }, hint("total rate")));
  return marks;
}

function sumPath(
  steps: readonly Point[],
  field: Field,
  placeY: (bps: number) => number,
  bottom: number,
): string {
  let path = `M${short(field.left)} ${short(bottom)}`;
  for (const [at, bps] of thinned(steps, POINTS_MAX))
    path += `H${short(place(field, at))}V${short(placeY(bps))}`;
  return element("path", { class: "f0", "fill-opacity": "0.35", d: `${path}V${short(bottom)}Z` });
}

function place({ x, left, right }: Pick<Field, "x" | "left" | "right">, at: number): number {
  return left + ((at - x.low) / (x.high - x.low)) * (right - left);
}
