/** Draws one bar per site for the time it took, with a mark at its deadline. */

import { deadlineMark } from "./plan-plot.ts";
import { shown, scaleFor } from "./scale.ts";
import { element, hint, label, picture, short, widthOf } from "./svg.ts";

interface DeadlineRow {
  readonly name: string;
  readonly deadlineSeconds: number;
  /** undefined while the site is not done. */
  readonly finishedSeconds: number | undefined;
}

interface DeadlinePlot {
  readonly title: string;
  readonly rows: readonly DeadlineRow[];
  /** Age of the crawl; the bars of sites that are not done end here. */
  readonly nowSeconds: number;
  readonly width?: number;
}

const FONT_PIXELS = 12;
const ROW_PIXELS = 24;
const TOP_PIXELS = 40;
const AXIS_PIXELS = 40;
const NAME_PIXELS_MAX = 260;
const ROWS_MAX = 40;

export function deadlinePlot({ title, rows, nowSeconds, width = 760 }: DeadlinePlot): string {
  const drawn = rows.slice(0, ROWS_MAX);
  const names = drawn.map(({ name }) => name);
  const nameWidth = Math.max(40, ...names.map((name) => widthOf(name, FONT_PIXELS)));
  const [left, right] = [14 + Math.min(NAME_PIXELS_MAX, nameWidth) + 8, width - 22];
  const ends = drawn.flatMap((row) => [row.deadlineSeconds, row.finishedSeconds ?? nowSeconds]);
  const scale = scaleFor(0, Math.max(1, ...ends) * 1.04, "s", { ticksMax: 8, tight: true });
  const xOf = (seconds: number): number =>
    left + ((seconds - scale.low) / (scale.high - scale.low)) * (right - left);
  const bottom = TOP_PIXELS + drawn.length * ROW_PIXELS;
  const grid = scale.ticks.flatMap(({ at, label: text }) => [
    element("path", { class: "grid", d: `M${short(xOf(at))} ${TOP_PIXELS - 4}V${short(bottom)}` }),
    label(text, { class: "soft middle", x: xOf(at), y: bottom + 16 }),
  ]);
  const bars = drawn.flatMap((row, index) => barMarks(row, TOP_PIXELS + index * ROW_PIXELS));
  const axis = label(`Time from the start (${scale.unit})`, {
    class: "soft middle",
    x: (left + right) / 2,
    y: bottom + 33,
  });
  return picture({ title, width, height: bottom + AXIS_PIXELS }, [...grid, ...bars, axis]);

  function barMarks({ name, deadlineSeconds, finishedSeconds }: DeadlineRow, y: number): string[] {
    const end = finishedSeconds ?? nowSeconds;
    const isLate = end > deadlineSeconds;
    const outcome = finishedSeconds === undefined ? "not done" : shown(finishedSeconds, "s");
    const tooltip = hint(`${name}: due after ${shown(deadlineSeconds, "s")}, ${outcome}`);
    const length = Math.max(1, xOf(end) - left);
    return [
      label(name, { class: "end", x: left - 8, y: y + 13 }),
      element(
        "rect",
        { class: isLate ? "f1" : "f2", x: left, y: y + 2, width: length, height: 14, rx: 2 },
        tooltip,
      ),
      deadlineMark(xOf(deadlineSeconds), y, false),
    ];
  }
}
