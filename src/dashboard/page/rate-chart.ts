/**
 * The rate with its limit and its prediction, as wide as the page.
 *
 * The received rate is a line over a filled area; where a span stands for many seconds, a band
 * shows its lowest and highest. The prediction is dotted, the limit a dashed step. Times without a
 * crawl are gaps. A pointer shows the values of one moment; those of the last moment are also a
 * text.
 */

import { scaleFor, type Scale } from "../../report/scale.ts";
import type { RateSpan } from "../../control/rate-log.ts";
import { fill, h, say, svg } from "./dom.ts";
import { legend } from "./legend.ts";
import { showClock, showRate } from "./words.ts";

const HEIGHT = 260;
const HEIGHT_SMALL = 190;
const SMALL_PIXELS = 560;
const MARGIN = { left: 52, right: 12, top: 12, bottom: 26 };
/** A span this many lengths after the previous one starts a new line. */
const GAP_LENGTHS = 2.5;

interface Field {
  readonly width: number;
  readonly height: number;
  readonly x: (atMs: number) => number;
  readonly y: (bps: number) => number;
  readonly xScale: Scale;
  readonly yScale: Scale;
}

export class RateChart {
  readonly element: HTMLElement;
  readonly #drawing = svg("svg", { class: "chart", role: "img", "aria-label": "Rate" });
  readonly #readout = h("p.readout.soft", { "aria-live": "off" });
  #spans: readonly RateSpan[] = [];
  #range: readonly [fromMs: number, toMs: number] = [0, 1];
  #field: Field | undefined;
  #at: number | undefined;

  constructor() {
    this.element = h("div.chart-box", rateLegend(), this.#drawing, this.#readout);
    new ResizeObserver(() => this.#draw()).observe(this.element);
    this.#drawing.addEventListener("pointermove", (event) => this.#point(event));
    this.#drawing.addEventListener("pointerleave", () => this.#pick(undefined));
  }

  draw(spans: readonly RateSpan[], range: readonly [fromMs: number, toMs: number]): void {
    this.#spans = spans;
    this.#range = range;
    this.#draw();
  }

  #draw(): void {
    const width = this.element.clientWidth;
    if (width === 0) return;
    const field = fieldFor(this.#spans, this.#range, width);
    this.#field = field;
    this.#drawing.setAttribute("viewBox", `0 0 ${width} ${field.height}`);
    this.#drawing.setAttribute("height", String(field.height));
    fill(
      this.#drawing,
      ...axes(field),
      svg("path", { class: "band", d: bandPath(this.#spans, field) }),
      svg("path", { class: "under", d: areaPath(this.#spans, field) }),
      svg("path", { class: "predicted", d: path(this.#spans, field, (span) => span.predictedBps) }),
      svg("path", { class: "measured", d: path(this.#spans, field, (span) => span.meanBps) }),
      svg("path", { class: "limit", d: limitPath(this.#spans, field) }),
      svg("line", { class: "cursor", y1: MARGIN.top, y2: field.height - MARGIN.bottom }),
    );
    this.#drawing.setAttribute("aria-label", this.#summary());
    this.#pick(this.#at);
  }

  #summary(): string {
    const last = this.#spans.at(-1);
    if (last === undefined) return "Rate over time; nothing received yet";
    const limit = last.limitBps === undefined ? "no limit" : `limit ${showRate(last.limitBps)}`;
    return `Rate over time: now ${showRate(last.meanBps)}, ${limit}, predicted ${showRate(last.predictedBps)}`;
  }

  #point(event: PointerEvent): void {
    const field = this.#field;
    if (field === undefined) return;
    const across = event.clientX - this.#drawing.getBoundingClientRect().left;
    const share = (across - MARGIN.left) / (field.width - MARGIN.left - MARGIN.right);
    const [fromMs, toMs] = this.#range;
    this.#pick(fromMs + share * (toMs - fromMs));
  }

  /** Shows the moment nearest to a time. */
  #pick(atMs: number | undefined): void {
    this.#at = atMs;
    const cursor = this.#drawing.querySelector(".cursor");
    const span = atMs === undefined ? undefined : nearest(this.#spans, atMs);
    if (span === undefined || this.#field === undefined || cursor === null) {
      cursor?.setAttribute("visibility", "hidden");
      say(this.#readout, "\u00a0");
      return;
    }
    const x = this.#field.x(span.atMs + span.lengthMs / 2);
    cursor.setAttribute("visibility", "visible");
    cursor.setAttribute("x1", String(x));
    cursor.setAttribute("x2", String(x));
    say(this.#readout, readoutOf(span));
  }
}

function readoutOf(span: RateSpan): string {
  const { leastBps, meanBps, mostBps, predictedBps, limitBps } = span;
  const range =
    mostBps > leastBps ? ` (${showRate(leastBps)} to ${showRate(mostBps)} in a second)` : "";
  const limit = limitBps === undefined ? "no limit" : `limit ${showRate(limitBps)}`;
  return `${showClock(span.atMs)}  ${showRate(meanBps)}${range}, predicted ${showRate(predictedBps)}, ${limit}`;
}

function nearest(spans: readonly RateSpan[], atMs: number): RateSpan | undefined {
  let best: RateSpan | undefined;
  let bestMs = Infinity;
  for (const span of spans) {
    const awayMs = Math.abs(span.atMs + span.lengthMs / 2 - atMs);
    if (awayMs < bestMs) [best, bestMs] = [span, awayMs];
  }
  return best;
}

function rateLegend(): HTMLElement {
  const line = { x1: 0, x2: 22, y1: 6, y2: 6 };
  return legend("chart", [
    { mark: svg("line", { class: "measured", ...line }), words: "received" },
    { mark: svg("line", { class: "predicted", ...line }), words: "predicted" },
    { mark: svg("line", { class: "limit", ...line }), words: "limit" },
  ]);
}

function fieldFor(
  spans: readonly RateSpan[],
  [fromMs, toMs]: readonly [number, number],
  width: number,
): Field {
  const height = width < SMALL_PIXELS ? HEIGHT_SMALL : HEIGHT;
  let most = 1000;
  for (const { mostBps, limitBps = 0, predictedBps } of spans)
    most = Math.max(most, mostBps, limitBps, Math.min(predictedBps, 2 * mostBps + limitBps));
  const inner = {
    width: width - MARGIN.left - MARGIN.right,
    height: height - MARGIN.top - MARGIN.bottom,
  };
  const yScale = scaleFor(0, most * 1.05, "B/s", { ticksMax: inner.height / 42 });
  const offsetMs = new Date(toMs).getTimezoneOffset() * 60_000;
  const xScale = scaleFor(fromMs - offsetMs, Math.max(toMs, fromMs + 1000) - offsetMs, "clock", {
    ticksMax: inner.width / 84,
    tight: true,
  });
  return {
    width,
    height,
    xScale,
    yScale,
    x: (atMs) =>
      MARGIN.left + ((atMs - offsetMs - xScale.low) / (xScale.high - xScale.low)) * inner.width,
    y: (bps) => MARGIN.top + inner.height * (1 - Math.min(1, Math.max(0, bps / yScale.high))),
  };
}

function axes({ width, height, xScale, yScale, y }: Field): SVGElement[] {
  const [left, right, bottom] = [MARGIN.left, width - MARGIN.right, height - MARGIN.bottom];
  const marks: SVGElement[] = [];
  for (const [index, { at, label }] of yScale.ticks.entries()) {
    const isLast = index === yScale.ticks.length - 1;
    marks.push(
      svg("line", { class: "grid", x1: left, x2: right, y1: y(at), y2: y(at) }),
      svg("text", { class: "tick end", x: left - 8, y: y(at) + 4 }, isLast ? yScale.unit : label),
    );
  }
  const span = xScale.high - xScale.low;
  for (const { at, label } of xScale.ticks) {
    const across = left + ((at - xScale.low) / span) * (right - left);
    if (across < left + 18 || across > right - 18) continue;
    marks.push(
      svg("line", { class: "grid faint", x1: across, x2: across, y1: MARGIN.top, y2: bottom }),
      svg("text", { class: "tick middle", x: across, y: height - 8 }, label),
    );
  }
  return marks;
}

/** Runs of spans without a gap between them. */
function runs(spans: readonly RateSpan[]): RateSpan[][] {
  const all: RateSpan[][] = [];
  let before: RateSpan | undefined;
  for (const span of spans) {
    const isGap =
      before === undefined ||
      span.atMs - before.atMs - before.lengthMs > GAP_LENGTHS * Math.max(1000, span.lengthMs);
    if (isGap) all.push([]);
    all.at(-1)?.push(span);
    before = span;
  }
  return all;
}

function path(
  spans: readonly RateSpan[],
  field: Field,
  valueOf: (span: RateSpan) => number,
): string {
  return runs(spans)
    .map((run) => run.map((span) => place(field, span, valueOf(span))).join("L"))
    .map((points) => (points.includes("L") ? `M${points}` : `M${points}h.1`))
    .join("");
}

function areaPath(spans: readonly RateSpan[], field: Field): string {
  return runs(spans)
    .map((run) => {
      const first = run[0] as RateSpan;
      const last = run.at(-1) as RateSpan;
      const top = run.map((span) => place(field, span, span.meanBps)).join("L");
      return `M${place(field, first, 0)}L${top}L${place(field, last, 0)}Z`;
    })
    .join("");
}

function bandPath(spans: readonly RateSpan[], field: Field): string {
  return runs(spans)
    .map((run) => {
      const up = run.map((span) => place(field, span, span.mostBps));
      const down = run.toReversed().map((span) => place(field, span, span.leastBps));
      return `M${[...up, ...down].join("L")}Z`;
    })
    .join("");
}

/** Constant from the start of a span to its end; without a limit nothing is drawn. */
function limitPath(spans: readonly RateSpan[], field: Field): string {
  let d = "";
  let before: RateSpan | undefined;
  for (const span of runs(spans).flat()) {
    const { limitBps, atMs, lengthMs } = span;
    if (limitBps !== undefined) {
      const y = round(field.y(limitBps));
      const joins = before?.limitBps !== undefined && atMs - before.atMs <= 3 * before.lengthMs;
      d += joins ? `L${round(field.x(atMs))} ${y}` : `M${round(field.x(atMs))} ${y}`;
      d += `H${round(field.x(atMs + lengthMs))}`;
    }
    before = span;
  }
  return d;
}

function place(field: Field, { atMs, lengthMs }: RateSpan, bps: number): string {
  return `${round(field.x(atMs + lengthMs / 2))} ${round(field.y(bps))}`;
}

function round(pixels: number): string {
  return String(Math.round(pixels * 10) / 10);
}
