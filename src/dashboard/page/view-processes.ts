/** The processes of one crawl, and the URLs that they exchanged, as a matrix. */

import type { ParallelView } from "../../control/snapshot.ts";
import type { Look } from "../shapes.ts";
import { fill, h, say } from "./dom.ts";
import type { View } from "./view.ts";
import { plural, showCount, showRate } from "./words.ts";

export class Processes implements View {
  readonly element: HTMLElement;
  readonly #procs = h("div", { class: "wide" });
  readonly #flows = h("div", { class: "wide" });
  readonly #note = h("p", { class: "soft" });

  constructor() {
    this.element = h(
      "div",
      { class: "stack" },
      h("section", { class: "card" }, h("h2", {}, "Processes"), this.#procs),
      h(
        "section",
        { class: "card" },
        h("div", { class: "card-head" }, h("h2", {}, "URLs exchanged"), this.#note),
        this.#flows,
      ),
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
  const head = h(
    "tr",
    {},
    ...names.map((name, index) =>
      h("th", { scope: "col", class: index > 1 ? "number" : "" }, name),
    ),
  );
  const rows = procs.map(({ name, state, pages, pending, rateBps, limitBps }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("bdi", {}, name)),
      h("td", {}, state),
      h("td", { class: "number" }, showCount(pages)),
      h("td", { class: "number" }, showCount(pending)),
      h("td", { class: "number" }, showRate(rateBps)),
      h("td", { class: "number" }, limitBps === undefined ? "" : showRate(limitBps)),
    ),
  );
  return h(
    "table",
    { class: "ledger" },
    h("caption", { class: "unseen" }, plural(procs.length, "process")),
    h("thead", {}, head),
    h("tbody", {}, ...rows),
  );
}

function flowsTable({ procs, flows }: ParallelView): HTMLElement {
  const most = Math.max(1, ...flows.flat());
  const head = h(
    "tr",
    {},
    h("th", { scope: "col" }, "from \\ to"),
    ...procs.map(({ name }) => h("th", { scope: "col", class: "number" }, h("bdi", {}, name))),
  );
  const rows = procs.map(({ name }, from) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("bdi", {}, name)),
      ...procs.map((_, to) => flowCell(flows[from]?.[to] ?? 0, most, from === to)),
    ),
  );
  return h(
    "table",
    { class: "heat flows" },
    h("caption", { class: "unseen" }, "URLs sent between processes"),
    h("thead", {}, head),
    h("tbody", {}, ...rows),
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
