/**
 * The measured rates of servers by hour of the day, as a table with darker cells for higher rates.
 */

import type { Look, ServerLine, ServersAnswer } from "../shapes.ts";
import { ask } from "./api.ts";
import { card, fill, h, say, toggle } from "./dom.ts";
import type { View } from "./view.ts";
import { plural, showCount, showRate, withoutScheme } from "./words.ts";

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const EVERY_MS = 20_000;

export class Servers implements View {
  readonly element: HTMLElement;
  readonly #note = h("p.soft");
  readonly #maps = h("div");
  readonly #empty = h(
    "p.empty",
    "No server has been measured yet; speeds are stored once a minute and at the end of the crawl.",
  );
  #askedAtMs = -Infinity;

  constructor() {
    this.element = card("Speed of servers by hour", this.#note, this.#maps, this.#empty);
  }

  show(_look: Look): void {
    if (performance.now() - this.#askedAtMs < EVERY_MS) return;
    this.#askedAtMs = performance.now();
    void this.#ask();
  }

  async #ask(): Promise<void> {
    const { total, hour, lines } = await ask<ServersAnswer>("servers");
    toggle(this.#empty, lines.length === 0);
    say(
      this.#note,
      total === 0
        ? ""
        : total > lines.length
          ? `the ${showCount(lines.length)} measured most of ${plural(total, "server")}`
          : plural(total, "server"),
    );
    const [low, high] = rangeOf(lines);
    const maps = [
      heatTable({ ...WORKING, hour }, lines, [low, high]),
      heatTable({ ...HOLIDAYS, hour }, lines, [low, high]),
    ];
    fill(this.#maps, ...maps, lines.length === 0 ? undefined : scaleLegend(low, high));
  }
}

/** The 24 hours of one kind of day; empty when none was measured. */
interface Day {
  readonly bps: readonly (number | null)[];
  readonly measured: readonly number[];
}

interface Kind {
  readonly title: string;
  readonly dayOf: (line: ServerLine) => Day;
  /** The current hour. */
  readonly hour: number;
}

const WORKING: Omit<Kind, "hour"> = {
  title: "Working days",
  dayOf: ({ workingBps, workingHours }) => ({ bps: workingBps, measured: workingHours }),
};
const HOLIDAYS: Omit<Kind, "hour"> = {
  title: "Weekends and holidays",
  dayOf: ({ holidayBps, holidayHours }) => ({ bps: holidayBps, measured: holidayHours }),
};

function heatTable(
  { title, dayOf, hour: now }: Kind,
  lines: readonly ServerLine[],
  range: readonly [number, number],
): HTMLElement | undefined {
  const rows = lines.filter((line) => dayOf(line).bps.length > 0);
  if (rows.length === 0) return undefined;
  const head = h(
    "tr",
    h("th", { scope: "col" }, "Server"),
    ...HOURS.map((hour) =>
      h(
        "th",
        {
          scope: "col",
          class: `${hour % 3 === 0 ? "" : "minor"} ${hour === now ? "this-hour" : ""}`,
        },
        String(hour).padStart(2, "0"),
      ),
    ),
  );
  const body = rows.map((line) =>
    h(
      "tr",
      h(
        "th",
        { scope: "row" },
        h(
          "bdi.clip",
          {
            title: `${line.sites.join(", ")} ${line.address}, measured ${plural(line.measured, "time")}`,
          },
          nameOf(line),
        ),
      ),
      ...HOURS.map((hour) => heatCell(line, dayOf(line), hour, range)),
    ),
  );
  const table = h("table.heat", h("caption", title), h("thead", head), h("tbody", ...body));
  return h("div.wide", { tabindex: 0, role: "group", "aria-label": title }, table);
}

function heatCell(
  line: ServerLine,
  day: Day,
  hour: number,
  [low, high]: readonly [number, number],
): HTMLElement {
  const bps = day.bps[hour] ?? null;
  if (bps === null) return h("td.unknown", h("span.unseen", "not known"));
  const isMeasured = day.measured.includes(hour);
  const words = isMeasured ? showRate(bps) : `not measured, assumed ${showRate(bps)}`;
  const cell = h(
    "td",
    {
      class: isMeasured ? "" : "unmeasured",
      title: `${nameOf(line)}, ${String(hour).padStart(2, "0")} h: ${words}`,
    },
    h("span.unseen", words),
  );
  const share = high > low ? Math.log(bps / low) / Math.log(high / low) : 0.6;
  cell.style.setProperty("--depth", (0.1 + 0.9 * Math.min(1, Math.max(0, share))).toFixed(3));
  return cell;
}

function scaleLegend(low: number, high: number): HTMLElement {
  const steps = [0.1, 0.3, 0.5, 0.7, 0.9, 1].map((depth) => {
    const step = h("i");
    step.style.setProperty("--depth", String(depth));
    return step;
  });
  return h(
    "p.heat-scale.soft",
    showRate(low),
    h("span", { "aria-hidden": "true" }, ...steps),
    showRate(high),
    h("i.unmeasured", { "aria-hidden": "true" }),
    "not measured: the mean of the measured hours is assumed",
  );
}

function nameOf({ address, sites: [site] }: ServerLine): string {
  return site === undefined ? address : withoutScheme(site);
}

function rangeOf(lines: readonly ServerLine[]): [low: number, high: number] {
  let [low, high] = [Infinity, 0];
  for (const { workingBps, holidayBps } of lines)
    for (const bps of [...workingBps, ...holidayBps]) {
      if (bps === null || bps <= 0) continue;
      low = Math.min(low, bps);
      high = Math.max(high, bps);
    }
  return low > high ? [1, 1] : [low, high];
}
