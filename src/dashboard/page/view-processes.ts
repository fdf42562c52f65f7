/** The processes of one crawl, and the URLs that they exchanged, as a matrix. */

import type { ParallelView } from "../../control/snapshot.ts";
import type { Look } from "../shapes.ts";
import { card, fill, h, ledgerTable, say } from "./dom.ts";
import type { View } from "./view.ts";
import { plural, showCount, showRate } from "./words.ts";

export class Processes implements View {
  readonly element: HTMLElement;
  readonly #procs = h("div.wide");
  readonly #flows = h("div.wide");
  readonly #note = h("p.soft");

  constructor() {
    this.element = h(
      "div.stack",
      h("section.card", h("h2", "Processes"), this.#procs),
      card("URLs exchanged", this.#note, this.#flows),
    );
  }

  show({ snapshot: { parallel } }: Look): void {
    if (parallel === undefined) return;
    fill(this.#procs, procsTable(parallel));
    const sent = parallel.flows.flat();
    const sum = sent.reduce((total, count) => total + count, 0);
    say(
      this.#note,
      sent.length === 0
        ? "reported only while they run"
        : `${showCount(sum)} in all, from the row to the column`,
    );
    fill(this.#flows, sent.length === 0 ? undefined : flowsTable(parallel));
  }
}

function procsTable({ procs }: ParallelView): HTMLElement {
  const names = ["Process", "State", "Pages", "Waiting", "Rate", "Share of the limit"];
  const rows = procs.map(({ name, state, pages, pending, rateBps, limitBps }) =>
    h(
      "tr",
      h("th", { scope: "row" }, h("bdi", name)),
      h("td", state),
      h("td.number", showCount(pages)),
      h("td.number", showCount(pending)),
      h("td.number", showRate(rateBps)),
      h("td.number", limitBps === undefined ? "" : showRate(limitBps)),
    ),
  );
  return ledgerTable(plural(procs.length, "process"), names, 2, rows);
}

function flowsTable({ procs, flows }: ParallelView): HTMLElement {
  const most = Math.max(1, ...flows.flat());
  const head = h(
    "tr",
    h("th", { scope: "col" }, "from \\ to"),
    ...procs.map(({ name }) => h("th.number", { scope: "col" }, h("bdi", name))),
  );
  const rows = procs.map(({ name }, from) =>
    h(
      "tr",
      h("th", { scope: "row" }, h("bdi", name)),
      ...procs.map((_, to) => flowCell(flows[from]?.[to] ?? 0, most, from === to)),
    ),
  );
  return h(
    "table.heat.flows",
    h("caption.unseen", "URLs sent between processes"),
    h("thead", head),
    h("tbody", ...rows),
  );
}

function flowCell(count: number, most: number, isSelf: boolean): HTMLElement {
  const cell = h(
    "td",
    { class: isSelf ? "self number" : "number" },
    isSelf ? "–" : showCount(count),
  );
  if (!isSelf && count > 0)
    cell.style.setProperty("--depth", (0.08 + 0.42 * (count / most)).toFixed(3));
  return cell;
}
