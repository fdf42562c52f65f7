/**
 * Draws curves over a common axis, such as a rate over time with its limit and its prediction.
 *
 * Every curve is thinned to the resolution of the picture and keeps its extremes (`thin.ts`). The
 * vertical axis starts at 0 unless values are negative, so that variations are not exaggerated.
 */

import { scaleFor, type Scale } from "./scale.ts";
import { COLOURS, element, hint, label, picture, short, widthOf } from "./svg.ts";
import { thinned, type Point } from "./thin.ts";

interface AxisText {
  readonly label: string;
  /** Units with a special format are listed in `scale.ts`. */
  readonly unit: string;
  /** Labels for x = 1, 2, 3 … on an axis of categories. */
  readonly names?: readonly string[] | undefined;
}

export interface Line {
  readonly name: string;
  /** Sorted by x; a y of NaN is a gap. */
  readonly points: readonly Point[];
  readonly kind: "solid" | "dotted" | "limit";
}

interface LinePlot {
  readonly title: string;
  readonly x: AxisText;
  readonly y: AxisText;
  readonly lines: readonly Line[];
  readonly width?: number;
  readonly height?: number;
}

const POINTS_MAX = 2000;
const FONT_PIXELS = 12;
const ROW_PIXELS = 18;
const MARGIN = { left: 58, right: 18, top: 34, bottom: 42 };
/** Width of a legend entry's sample line. */
const SAMPLE_PIXELS = 26;
const BETWEEN_PIXELS = 16;

/** The drawing area in pixels, and the scales that map values to it. */
interface Field {
  readonly x: Scale;
  readonly y: Scale;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export function linePlot(plot: LinePlot): string {
  const { title, width = 760, height = 320 } = plot;
  const lines = plot.lines.map((line) => ({ ...line, points: thinned(line.points, POINTS_MAX) }));
  const legend = legendOf(lines, width);
  const field = fieldFor(plot, lines, legend.rows * ROW_PIXELS);
  return picture({ title, width, height }, [
    ...legend.marks,
    ...axes(field, plot),
    ...lines.map((line, index) => curve(line, index, field)),
  ]);
}

function fieldFor(plot: LinePlot, lines: readonly Line[], legendPixels: number): Field {
  const { width = 760, height = 320 } = plot;
  const left = MARGIN.left;
  const right = width - MARGIN.right;
  const top = MARGIN.top + legendPixels + 6;
  const bottom = height - MARGIN.bottom;
  const points = lines.flatMap((line) => line.points);
  const [xLow, xHigh] = rangeOf(points, 0);
  const [yLow, yHigh] = rangeOf(points, 1);
  return {
    x:
      plot.x.names === undefined
        ? scaleFor(xLow, xHigh, plot.x.unit, { ticksMax: (right - left) / 80, tight: true })
        : namedScale(plot.x.names),
    y: scaleFor(Math.min(0, yLow), yHigh, plot.y.unit, { ticksMax: (bottom - top) / 40 }),
    left,
    right,
    top,
    bottom,
  };
}

function namedScale(names: readonly string[]): Scale {
  const ticks = names.map((name, index) => ({ at: index + 1, label: name }));
  return { low: 0.5, high: names.length + 0.5, ticks, unit: "" };
}

/** Range of the values, never of length 0, because a scale needs a length. */
function rangeOf(points: readonly Point[], place: 0 | 1): [low: number, high: number] {
  let low = Infinity;
  let high = -Infinity;
  for (const point of points) {
    const value = point[place];
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return [0, 1];
  return low === high && (place === 0 || high <= 0) ? [low, low + 1] : [low, high];
}

function legendOf(
  lines: readonly Line[],
  width: number,
): { readonly marks: readonly string[]; readonly rows: number } {
  const marks: string[] = [];
  let x = 14;
  let row = 0;
  for (const [index, line] of lines.entries()) {
    const needed = SAMPLE_PIXELS + widthOf(line.name, FONT_PIXELS);
    if (x > 14 && x + needed > width - 14) {
      x = 14;
      row += 1;
    }
    const y = MARGIN.top + row * ROW_PIXELS + 10;
    const sample = { class: classOf(line, index), x1: x, x2: x + 20, y1: y - 4, y2: y - 4 };
    marks.push(element("line", sample), label(line.name, { x: x + SAMPLE_PIXELS, y }));
    x += needed + BETWEEN_PIXELS;
  }
  return { marks, rows: lines.length === 0 ? 0 : row + 1 };
}

function classOf({ kind }: Line, index: number): string {
  if (kind === "limit") return "line limit";
  const dots = kind === "dotted" || index >= COLOURS ? " dotted" : "";
  return `line s${index % COLOURS}${dots}`;
}

function axes(field: Field, plot: LinePlot): string[] {
  const { left, right, top, bottom, x, y } = field;
  const marks: string[] = [];
  for (const { at, label: words } of y.ticks) {
    const height = placeY(field, at);
    marks.push(element("line", { class: "grid", x1: left, x2: right, y1: height, y2: height }));
    marks.push(label(words, { class: "soft end", x: left - 6, y: height + 4 }));
  }
  for (const { at, label: words } of x.ticks) {
    const across = placeX(field, at);
    marks.push(element("line", { class: "grid", x1: across, x2: across, y1: top, y2: bottom }));
    // The last label must not be cut off at the right edge.
    const inside = Math.min(across, right + MARGIN.right - widthOf(words, FONT_PIXELS) / 2);
    marks.push(label(words, { class: "soft middle", x: inside, y: bottom + 16 }));
  }
  const middle = (left + right) / 2;
  marks.push(label(axisName(plot.x, x), { class: "soft middle", x: middle, y: bottom + 33 }));
  const turned = `translate(13 ${short((top + bottom) / 2)}) rotate(-90)`;
  marks.push(label(axisName(plot.y, y), { class: "soft middle", transform: turned }));
  return marks;
}

function axisName({ label: words }: AxisText, { unit }: Scale): string {
  return unit === "" ? words : `${words} (${unit})`;
}

function curve(line: Line, index: number, field: Field): string {
  let path = "";
  let isDrawing = false;
  let isLone = false;
  for (const [x, y] of line.points) {
    if (!Number.isFinite(y)) {
      // A single point between two gaps is drawn as a dot.
      if (isLone) path += "h.1";
      isDrawing = false;
      isLone = false;
      continue;
    }
    isLone = !isDrawing;
    path += `${isDrawing ? "L" : "M"}${short(placeX(field, x))} ${short(placeY(field, y))}`;
    isDrawing = true;
  }
  if (isLone) path += "h.1";
  return element("path", { class: classOf(line, index), d: path }, hint(line.name));
}

function placeX({ x, left, right }: Field, at: number): number {
  return left + ((at - x.low) / (x.high - x.low)) * (right - left);
}

function placeY({ y, top, bottom }: Field, at: number): number {
  return bottom - ((at - y.low) / (y.high - y.low)) * (bottom - top);
}
