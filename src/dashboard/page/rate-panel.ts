/**
 * The rate chart in two lengths: the last two minutes, second by second, and the whole crawl from
 * the rate log.
 */

import type { RateSpan } from "../../control/rate-log.ts";
import type { Look, RatesAnswer } from "../shapes.ts";
import { ask } from "./api.ts";
import { h } from "./dom.ts";
import { RateChart } from "./rate-chart.ts";

const LIVE_SECONDS = 120;
const LEAST_SECONDS = 30;
const WHOLE_EVERY_MS = 5000;

export class RatePanel {
  readonly element: HTMLElement;
  readonly #chart = new RateChart();
  readonly #buttons: Readonly<Record<"live" | "whole", HTMLButtonElement>>;
  #length: "live" | "whole" = "live";
  #live: RateSpan[] = [];
  #whole: readonly RateSpan[] = [];
  #wholeAtMs = -Infinity;
  #hasAsked = false;
  #look: Look | undefined;

  constructor() {
    const button = (length: "live" | "whole", words: string): HTMLButtonElement =>
      h("button", { click: () => this.#choose(length) }, words);
    this.#buttons = { live: button("live", "Last 2 min"), whole: button("whole", "Whole crawl") };
    const choice = h(
      "div.segmented",
      { role: "group", "aria-label": "How much time" },
      this.#buttons.live,
      this.#buttons.whole,
    );
    const head = h("div.card-head", h("h2", "Rate against the limit"), choice);
    this.element = h("section.card", head, this.#chart.element);
    this.#mark();
  }

  show(look: Look): void {
    // For a finished crawl the whole is shown first.
    if (this.#look === undefined && !look.isRunning) this.#length = "whole";
    this.#look = look;
    this.#mark();
    this.#note(look);
    if (!this.#hasAsked) void this.#askEarlier();
    if (this.#length === "whole") void this.#askWhole();
    this.#draw();
  }

  #choose(length: "live" | "whole"): void {
    this.#length = length;
    this.#mark();
    if (length === "whole") void this.#askWhole();
    this.#draw();
  }

  #mark(): void {
    for (const [length, button] of Object.entries(this.#buttons))
      button.setAttribute("aria-pressed", String(length === this.#length));
  }

  /** Adds the last full second, if it is a new one. */
  #note({ snapshot, isRunning, atMs }: Look): void {
    if (!isRunning) return;
    const secondMs = Math.floor(atMs / 1000) * 1000 - 1000;
    const lastMs = this.#live.at(-1)?.atMs ?? -Infinity;
    if (secondMs <= lastMs) return;
    const { rateBps, predictedBps, limitBps } = snapshot;
    const rates = { leastBps: rateBps, meanBps: rateBps, mostBps: rateBps, predictedBps, limitBps };
    this.#live.push({ atMs: secondMs, lengthMs: 1000, ...rates });
    this.#live = this.#live.filter((span) => span.atMs > secondMs - (LIVE_SECONDS + 5) * 1000);
  }

  /** Requests the seconds before this page was opened. */
  async #askEarlier(): Promise<void> {
    this.#hasAsked = true;
    const { spans } = await ask<RatesAnswer>("rates", { last: LIVE_SECONDS });
    const firstMs = this.#live[0]?.atMs ?? Infinity;
    this.#live = [...spans.filter(({ atMs }) => atMs < firstMs - 500), ...this.#live];
    this.#draw();
  }

  async #askWhole(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#wholeAtMs < (this.#look?.isRunning === true ? WHOLE_EVERY_MS : Infinity))
      return;
    this.#wholeAtMs = nowMs;
    this.#whole = (await ask<RatesAnswer>("rates")).spans;
    this.#draw();
  }

  #draw(): void {
    if (this.#length === "live") {
      const last = this.#live.at(-1);
      const nowMs = last === undefined ? Date.now() : last.atMs + last.lengthMs;
      // The chart of a new crawl fills from the left.
      const firstMs = Math.max(this.#live[0]?.atMs ?? nowMs, nowMs - LIVE_SECONDS * 1000);
      const untilMs = Math.max(nowMs, firstMs + LEAST_SECONDS * 1000);
      this.#chart.draw(this.#live, [firstMs, untilMs]);
      return;
    }
    const first = this.#whole[0];
    const last = this.#whole.at(-1);
    const range: [number, number] =
      first === undefined || last === undefined
        ? [Date.now() - 60_000, Date.now()]
        : [first.atMs, last.atMs + last.lengthMs];
    this.#chart.draw(this.#whole, range);
  }
}
