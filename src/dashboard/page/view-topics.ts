/**
 * Topics of pages: for each topic those of its own process, those received from others, and how
 * often links stay within a topic.
 */

import type { Look } from "../shapes.ts";
import { card, fill, h, ledgerTable, say } from "./dom.ts";
import { meter, setMeter } from "./meter.ts";
import type { View } from "./view.ts";
import { showCount, showPercent } from "./words.ts";

export class Topics implements View {
  readonly element: HTMLElement;
  readonly #note = h("p.soft");
  readonly #locality = meter("Locality");
  readonly #localityWords = h("p.soft");
  readonly #table = h("div.topics");

  constructor() {
    const parts = [this.#locality, this.#localityWords, topicLegend(), this.#table];
    this.element = card("Topics", this.#note, ...parts);
  }

  show({ snapshot: { topics } }: Look): void {
    if (topics === undefined) return;
    say(this.#note, `by ${topics.model}`);
    setMeter(this.#locality, topics.locality);
    say(
      this.#localityWords,
      `Locality: ${showPercent(topics.locality)} of the links stay within their topic.`,
    );
    const lines = Object.entries(topics.byTopic).toSorted(
      ([, a], [, b]) => b.own + b.imported - a.own - a.imported,
    );
    const most = Math.max(1, ...lines.map(([, { own, imported }]) => own + imported));
    const rows = lines.map(([topic, { own, imported }]) =>
      h(
        "tr",
        h("th", { scope: "row" }, h("bdi", topic)),
        h(
          "td.bar",
          h(
            "div.pair",
            { "aria-hidden": "true" },
            part("own", own / most),
            part("imported", imported / most),
          ),
        ),
        h("td.number", showCount(own)),
        h("td.number", showCount(imported)),
      ),
    );
    const columns = ["Topic", "Pages", "Own", "Imported"];
    fill(this.#table, ledgerTable("Pages by topic", columns, 2, rows));
  }
}

function part(kind: "own" | "imported", share: number): HTMLElement {
  const bar = h(`i.${kind}`);
  bar.style.width = `${(100 * share).toFixed(1)}%`;
  return bar;
}

function topicLegend(): HTMLElement {
  return h(
    "ul.legend.dots",
    h("li", h("i.done", { "aria-hidden": "true" }), "own"),
    h("li", h("i.skipped", { "aria-hidden": "true" }), "imported"),
  );
}
