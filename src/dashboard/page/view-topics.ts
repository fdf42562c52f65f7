/**
 * Topics of pages: for each topic those of its own process, those received from others, and how
 * often links stay within a topic.
 */

import type { Look } from "../shapes.ts";
import { card, h, keyed, say } from "./dom.ts";
import { meter, setMeter } from "./meter.ts";
import type { View } from "./view.ts";
import { showCount, showPercent } from "./words.ts";

interface Made {
  readonly element: HTMLElement;
  readonly own: HTMLElement;
  readonly imported: HTMLElement;
  readonly ownBar: HTMLElement;
  readonly importedBar: HTMLElement;
}

export class Topics implements View {
  readonly element: HTMLElement;
  readonly #note = h("p.soft");
  readonly #locality = meter("Locality");
  readonly #localityWords = h("p.soft");
  readonly #body = h("tbody");
  readonly #kept = new Map<string, Made>();

  constructor() {
    const head = h(
      "tr",
      h("th", { scope: "col" }, "Topic"),
      h("th", { scope: "col" }, "Pages"),
      h("th.number", { scope: "col" }, "Own"),
      h("th.number", { scope: "col" }, "Imported"),
    );
    const table = h(
      "table.ledger.topics",
      h("caption.unseen", "Pages by topic"),
      h("thead", head),
      this.#body,
    );
    this.element = card(
      "Topics",
      this.#note,
      this.#locality,
      this.#localityWords,
      topicLegend(),
      table,
    );
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
    keyed(this.#body, this.#kept, lines, {
      keyOf: ([topic]) => topic,
      make: ([topic]) => makeLine(topic),
      update: (made, [, { own, imported }]) => {
        say(made.own, showCount(own));
        say(made.imported, showCount(imported));
        made.ownBar.style.width = `${((100 * own) / most).toFixed(1)}%`;
        made.importedBar.style.width = `${((100 * imported) / most).toFixed(1)}%`;
      },
    });
  }
}

function topicLegend(): HTMLElement {
  return h(
    "ul.legend.dots",
    h("li", h("i.done", { "aria-hidden": "true" }), "own"),
    h("li", h("i.skipped", { "aria-hidden": "true" }), "imported"),
  );
}

function makeLine(topic: string): Made {
  const own = h("td.number");
  const imported = h("td.number");
  const ownBar = h("i.own");
  const importedBar = h("i.imported");
  const element = h(
    "tr",
    h("th", { scope: "row" }, h("bdi", topic)),
    h("td.bar", h("div.pair", { "aria-hidden": "true" }, ownBar, importedBar)),
    own,
    imported,
  );
  return { element, own, imported, ownBar, importedBar };
}
