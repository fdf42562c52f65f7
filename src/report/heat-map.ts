/**
 * Draws a table of values as colours, one row per server, one column per hour.
 *
 * A wide range of values uses a logarithmic scale, so that one fast server does not make all others
 * look alike. The palette is viridis (Smith and van der Walt): lightness grows evenly with the value,
 * in light and dark mode alike, so the map is readable without colour. A cell without a value (NaN)
 * is empty; a cell with an expected instead of a measured value is dashed.
 */

import { shown } from "./scale.ts";
import { element, escaped, hint, label, picture, widthOf } from "./svg.ts";

interface HeatMap {
  readonly title: string;
  readonly rows: readonly HeatRow[];
  readonly columns: readonly string[];
  readonly unit: string;
  readonly width?: number;
}

interface HeatRow {
  readonly name: string;
  readonly cells: readonly number[];
  /** Indexes of the columns whose value is expected, not measured. */
  readonly unmeasured?: ReadonlySet<number>;
}

const FONT_PIXELS = 12;
const ROW_PIXELS = 18;
const TOP_PIXELS = 62;
const NAME_CHARACTERS_MAX = 32;
/** Above this ratio of the highest to the lowest value, the colour scale is logarithmic. */
const LINEAR_RATIO_MAX = 20;
const LEGEND_STEPS = 24;
const LEGEND_PIXELS = 120;

/** Nine colours of viridis, from low to high, as red, green and blue. */
const VIRIDIS: readonly (readonly [number, number, number])[] = [
  [68, 1, 84],
  [71, 44, 122],
  [59, 81, 139],
  [44, 113, 142],
  [33, 144, 141],
  [39, 173, 129],
  [92, 200, 99],
  [170, 220, 50],
  [253, 231, 37],
];

export function heatMap(map: HeatMap): string {
  const { title, rows, columns, unit, width = 760 } = map;
  const names = rows.map((row) => cut(row.name));
  const left = 14 + Math.max(40, ...names.map((name) => widthOf(name, FONT_PIXELS))) + 8;
  const cellWidth = (width - left - 14) / Math.max(1, columns.length);
  const [low, high] = rangeOf(rows.flatMap((row) => row.cells));
  const marks: string[] = legend(low, high, unit, width);
  // Only every n-th column has a label, so that the labels do not overlap.
  const every = Math.ceil(
    (2 + Math.max(1, ...columns.map((name) => name.length))) / (cellWidth / 7),
  );
  for (const [column, name] of columns.entries()) {
    if (column % every !== 0) continue;
    marks.push(label(name, { class: "soft", x: left + column * cellWidth, y: TOP_PIXELS - 6 }));
  }
  for (const [index, { name, cells, unmeasured }] of rows.entries()) {
    const y = TOP_PIXELS + index * ROW_PIXELS;
    marks.push(label(names[index] ?? "", { class: "end", x: left - 8, y: y + 13 }));
    for (const [column, columnName] of columns.entries()) {
      const value = cells[column] ?? NaN;
      const place = {
        x: left + column * cellWidth,
        y,
        width: cellWidth - 1,
        height: ROW_PIXELS - 1,
      };
      const isMeasured = unmeasured?.has(column) !== true;
      const amount = shown(value, unit) || "not known";
      const valueText = isMeasured ? amount : `not measured, assumed ${amount}`;
      const colour = isMeasured ? colourOf(value, low, high) : { class: "unmeasured" };
      marks.push(
        element("rect", { ...place, ...colour }, hint(`${name}, ${columnName}: ${valueText}`)),
      );
    }
  }
  const height = TOP_PIXELS + rows.length * ROW_PIXELS + 14;
  return picture({ title, width, height }, marks);
}

function cut(name: string): string {
  return name.length <= NAME_CHARACTERS_MAX ? name : `${name.slice(0, NAME_CHARACTERS_MAX - 1)}…`;
}

function rangeOf(values: readonly number[]): [low: number, high: number] {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low > high ? [0, 1] : [low, high];
}

function colourOf(value: number, low: number, high: number): { class: string } | { fill: string } {
  if (!Number.isFinite(value)) return { class: "empty" };
  const share = shareOf(value, low, high);
  const at = share * (VIRIDIS.length - 1);
  const below = VIRIDIS[Math.floor(at)] ?? [0, 0, 0];
  const above = VIRIDIS[Math.ceil(at)] ?? below;
  const part = at - Math.floor(at);
  const mixed = below.map((part0, index) => part0 + ((above[index] ?? 0) - part0) * part);
  return { fill: `rgb(${mixed.map((part0) => Math.round(part0)).join(" ")})` };
}

/** Position of a value between the lowest and the highest, from 0 to 1. */
function shareOf(value: number, low: number, high: number): number {
  if (high === low) return 0.5;
  if (isWide(low, high)) return Math.log(value / low) / Math.log(high / low);
  return (value - low) / (high - low);
}

function isWide(low: number, high: number): boolean {
  return low > 0 && high / low > LINEAR_RATIO_MAX;
}

function legend(low: number, high: number, unit: string, width: number): string[] {
  const right = width - 14;
  const from = right - LEGEND_PIXELS - widthOf(shown(high, unit), FONT_PIXELS) - 6;
  const step = LEGEND_PIXELS / LEGEND_STEPS;
  const marks = Array.from({ length: LEGEND_STEPS }, (_, index) => {
    const share = (index + 0.5) / LEGEND_STEPS;
    const value = isWide(low, high) ? low * (high / low) ** share : low + (high - low) * share;
    const place = { x: from + index * step, y: 12, width: step + 0.3, height: 12 };
    return element("rect", { ...place, ...colourOf(value, low, high) });
  });
  marks.push(element("text", { class: "soft end", x: from - 6, y: 22 }, escaped(shown(low, unit))));
  marks.push(element("text", { class: "soft end", x: right, y: 22 }, escaped(shown(high, unit))));
  return marks;
}
