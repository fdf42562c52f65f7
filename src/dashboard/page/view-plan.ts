/**
 * The plan as a Gantt chart, drawn for every new plan: the rate of each site from now on, darker
 * where it is higher; its past; its deadline; and the current time.
 */

import { highestBps, spanSeconds } from "../../report/plan-rows.ts";
import { scaleFor } from "../../report/scale.ts";
import type { Look } from "../shapes.ts";
import { card, fill, h, say, svg, toggle } from "./dom.ts";
import { type GanttRow, ganttRows } from "./gantt-rows.ts";
import { legend } from "./legend.ts";
import type { View } from "./view.ts";
import { plural, showDuration, showPercent, showRate, withoutScheme } from "./words.ts";

const ROW_PIXELS = 30;
const BAR_PIXELS = 14;
const SMALL_PIXELS = 620;
const ROW_PIXELS_SMALL = 44;
const TOP_PIXELS = 26;
const SHADE_MIN = 0.25;
/** Width of a finish time, with its mark. */
const WORD_PIXELS = 60;

interface Layout {
  readonly width: number;
  readonly isSmall: boolean;
  readonly left: number;
  readonly right: number;
  readonly rowPixels: number;
  readonly x: (seconds: number) => number;
}

export class PlanChart implements View {
  readonly element: HTMLElement;
  readonly #note = h("p.soft", { role: "status" });
  readonly #drawing = svg("svg", { class: "chart gantt", role: "img" });
  readonly #box: HTMLElement;
  readonly #empty = h(
    "p.empty",
    "There is no plan, because no site has a deadline or a priority. Set one in the table of sites to start planning.",
  );
  #look: Look | undefined;

  constructor() {
    this.#box = h("div.chart-box", this.#drawing);
    this.element = card(
      "Rate of each site over time",
      this.#note,
      ganttLegend(),
      this.#box,
      this.#empty,
    );
    new ResizeObserver(() => this.#draw()).observe(this.#box);
  }

  show(look: Look): void {
    this.#look = look;
    this.#draw();
  }

  #draw(): void {
    const look = this.#look;
    const width = this.#box.clientWidth;
    if (look === undefined) return;
    const rows = ganttRows(look);
    const hasRows =
      rows.length > 0 &&
      (look.snapshot.plan !== undefined ||
        rows.some(({ deadlineSeconds }) => deadlineSeconds !== undefined));
    toggle(this.#empty, !hasRows);
    toggle(this.#box, hasRows);
    say(this.#note, noteOf(look, rows));
    if (!hasRows || width === 0) return;
    const layout = layoutFor(rows, look.snapshot.elapsedMs / 1000, width);
    const height = TOP_PIXELS + rows.length * layout.rowPixels + 8;
    this.#drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.#drawing.setAttribute("height", String(height));
    this.#drawing.setAttribute("aria-label", summaryOf(rows));
    const highest = Math.max(highestBps(rows), ...rows.map(({ pastBps }) => pastBps));
    const nowX = layout.x(look.snapshot.elapsedMs / 1000);
    fill(
      this.#drawing,
      ...timeAxis(rows, look.snapshot.elapsedMs / 1000, layout, height),
      ...rows.flatMap((row, index) => rowMarks({ row, index, highest, nowX }, layout)),
      ...(look.isRunning
        ? [
            svg("line", { class: "now", x1: nowX, x2: nowX, y1: TOP_PIXELS - 8, y2: height - 4 }),
            svg("text", { class: "tick middle now-word", x: nowX, y: TOP_PIXELS - 12 }, "now"),
          ]
        : []),
    );
  }
}

function noteOf({ snapshot: { plan }, isRunning }: Look, rows: readonly GanttRow[]): string {
  if (!isRunning) return rows.length === 0 ? "" : "as it went";
  if (plan === undefined) return "";
  return `plan ${plan.number}, made ${showDuration(plan.madeAgoMs)} ago`;
}

function summaryOf(rows: readonly GanttRow[]): string {
  const late = rows.filter(({ isLate }) => isLate).map(({ name }) => withoutScheme(name));
  const words = late.length === 0 ? "all in time" : `late: ${late.join(", ")}`;
  return `Plan of ${plural(rows.length, "site")}; ${words}`;
}

function layoutFor(rows: readonly GanttRow[], nowSeconds: number, width: number): Layout {
  const isSmall = width < SMALL_PIXELS;
  const longest = Math.max(8, ...rows.map(({ name }) => Math.min(30, withoutScheme(name).length)));
  const left = isSmall ? 4 : 16 + longest * 7;
  const right = isSmall ? width - 8 : width - 96;
  const span = Math.max(spanSeconds(rows), nowSeconds * 1.02);
  return {
    width,
    isSmall,
    left,
    right,
    rowPixels: isSmall ? ROW_PIXELS_SMALL : ROW_PIXELS,
    x: (seconds) => left + (Math.max(0, seconds) / span) * (right - left),
  };
}

function timeAxis(
  rows: readonly GanttRow[],
  nowSeconds: number,
  layout: Layout,
  height: number,
): SVGElement[] {
  const span = Math.max(spanSeconds(rows), nowSeconds * 1.02);
  const scale = scaleFor(0, span, "s", {
    ticksMax: (layout.right - layout.left) / 90,
    tight: true,
  });
  return scale.ticks.flatMap(({ at, label }) => {
    const x = layout.x(at);
    return [
      svg("line", { class: "grid faint", x1: x, x2: x, y1: TOP_PIXELS - 4, y2: height - 4 }),
      svg(
        "text",
        { class: "tick middle", x: Math.max(12, x), y: TOP_PIXELS - 12 },
        `${label} ${scale.unit}`,
      ),
    ];
  });
}

interface Drawn {
  readonly row: GanttRow;
  readonly index: number;
  readonly highest: number;
  readonly nowX: number;
}

function rowMarks({ row, index, highest, nowX }: Drawn, layout: Layout): SVGElement[] {
  const { x, left, isSmall, rowPixels } = layout;
  const top = TOP_PIXELS + index * rowPixels;
  const y = isSmall ? top + 20 : top + (rowPixels - BAR_PIXELS) / 2;
  const pastEnd = row.doneSeconds === undefined ? nowX : x(row.doneSeconds);
  const marks: SVGElement[] = [
    svg("line", {
      class: "lane",
      x1: left,
      x2: layout.right,
      y1: y + BAR_PIXELS / 2,
      y2: y + BAR_PIXELS / 2,
    }),
    nameMark(row, isSmall ? left : left - 10, isSmall ? top + 14 : y + 11, isSmall),
    svg(
      "rect",
      {
        class: row.isLate ? "past late" : "past",
        "fill-opacity": pastShade(row.pastBps / highest).toFixed(2),
        x: left,
        y,
        width: Math.max(0, pastEnd - left),
        height: BAR_PIXELS,
        rx: 3,
      },
      svg(
        "title",
        {},
        `${row.name}: ${showPercent(row.shareDone)} done, ${showRate(row.pastBps)} on average`,
      ),
    ),
  ];
  for (const { fromSeconds, toSeconds, rateBps } of row.doneSeconds === undefined
    ? row.segments
    : []) {
    const from = Math.max(nowX, x(fromSeconds));
    const width = x(toSeconds) - from;
    if (width <= 0) continue;
    const told = `${row.name}: ${showRate(rateBps)} until ${showDuration(toSeconds * 1000)}`;
    const shade = SHADE_MIN + (1 - SHADE_MIN) * Math.min(1, rateBps / highest);
    marks.push(
      svg(
        "rect",
        {
          class: row.isLate ? "segment late" : "segment",
          x: from,
          y,
          width,
          height: BAR_PIXELS,
          rx: 1.5,
          "fill-opacity": shade.toFixed(2),
        },
        svg("title", {}, told),
      ),
    );
  }
  marks.push(...endMarks(row, y, layout));
  return marks;
}

/** Paler than the plan, but always visible. */
function pastShade(share: number): number {
  return share < 0.005 ? 0.08 : 0.14 + 0.36 * Math.min(1, share);
}

function nameMark({ name, isLate }: GanttRow, x: number, y: number, isSmall: boolean): SVGElement {
  const words = withoutScheme(name);
  const cut = words.length > 30 ? `${words.slice(0, 29)}…` : words;
  return svg(
    "text",
    { class: `name ${isSmall ? "" : "end"} ${isLate ? "late" : ""}`, x, y },
    cut,
    svg("title", {}, name),
  );
}

function endMarks(row: GanttRow, y: number, { x, right, isSmall }: Layout): SVGElement[] {
  const marks: SVGElement[] = [];
  const { deadlineSeconds, finishSeconds, doneSeconds, isLate } = row;
  const end = showDuration(finishSeconds * 1000);
  let words = doneSeconds === undefined ? end : `${isLate ? "✗" : "✓"} ${end}`;
  if (deadlineSeconds !== undefined) {
    const due = showDuration(deadlineSeconds * 1000);
    const at = x(deadlineSeconds);
    const told = svg("title", {}, `${row.name}: due after ${due}, done after ${end}`);
    const d = `M${at.toFixed(1)} ${y - 4}v${BAR_PIXELS + 8}`;
    if (at > right) words += `, due ${due}`;
    else marks.push(svg("path", { class: isLate ? "deadline late" : "deadline", d }, told));
  }
  const place = isSmall ? { x: right, y: y - 6 } : { x: wordX(row, x), y: y + 11 };
  const kind = `tick end-word ${isSmall ? "end" : ""} ${isLate ? "late" : ""}`;
  return [...marks, svg("text", { class: kind, ...place }, words)];
}

/** Right of the bar, and right of a deadline that would cross the word. */
function wordX({ deadlineSeconds, finishSeconds }: GanttRow, x: Layout["x"]): number {
  const barEnd = x(finishSeconds);
  const deadline = deadlineSeconds === undefined ? 0 : x(deadlineSeconds);
  return (deadline > barEnd && deadline < barEnd + WORD_PIXELS ? deadline : barEnd) + 9;
}

function ganttLegend(): HTMLElement {
  const bar = { y: 1, width: 22, height: 10, rx: 2 };
  return legend("chart gantt", [
    { mark: svg("rect", { class: "past", ...bar, "fill-opacity": 0.3 }), words: "past" },
    {
      mark: svg("rect", { class: "segment", ...bar, "fill-opacity": 0.4 }),
      words: "lower rate",
    },
    { mark: svg("rect", { class: "segment", ...bar }), words: "higher rate" },
    { mark: svg("path", { class: "deadline", d: "M11 0v12" }), words: "deadline" },
    { mark: svg("path", { class: "deadline late", d: "M11 0v12" }), words: "deadline missed" },
  ]);
}
