/** Bytes by purpose. */

import { type Purpose, PURPOSES } from "../../bandwidth/history/ledger.ts";
import type { Look } from "../shapes.ts";
import { card, h, keyed, say, toggle } from "./dom.ts";
import { meter, setMeter } from "./meter.ts";
import type { View } from "./view.ts";
import { showBytes, showPercent } from "./words.ts";

const MEANINGS: Readonly<Record<Purpose | "under way", string>> = {
  page: "stored pages",
  robots: "robots.txt of the sites",
  sitemap: "sitemaps of the sites",
  redirect: "redirect responses",
  error: "error responses, and requests that failed for good",
  duplicate: "copies of other pages, and unchanged pages",
  retry: "failed requests that were retried",
  exchange: "between the processes of this crawl",
  "under way": "open requests",
};

interface Line {
  readonly name: Purpose | "under way";
  readonly bytes: number;
}

interface Made {
  readonly element: HTMLElement;
  readonly bytes: HTMLElement;
  readonly share: HTMLElement;
  readonly bar: HTMLElement;
}

export class LedgerBook implements View {
  readonly element: HTMLElement;
  readonly #body = h("tbody");
  readonly #kept = new Map<string, Made>();
  readonly #total = h("p.soft");
  readonly #empty = h("p.empty", "Nothing received yet.");

  constructor() {
    const head = h(
      "tr",
      ...["For", "", "Bytes", "Share"].map((name, index) =>
        h(
          name === "" ? "td" : "th",
          name === "" ? {} : { scope: "col", class: index > 1 ? "number" : "" },
          name,
        ),
      ),
    );
    const table = h(
      "table.ledger",
      h("caption.unseen", "Bytes by purpose"),
      h("thead", head),
      this.#body,
    );
    this.element = card("Bytes by purpose", this.#total, table, this.#empty);
  }

  show({ snapshot: { ledger, totals } }: Look): void {
    const booked = PURPOSES.map((name): Line => ({ name, bytes: ledger[name] }));
    const open = totals.bytes - booked.reduce((sum, { bytes }) => sum + bytes, 0);
    const lines = [...booked, { name: "under way" as const, bytes: Math.max(0, open) }]
      .filter(({ bytes }) => bytes > 0)
      .toSorted((a, b) => b.bytes - a.bytes);
    toggle(this.#empty, lines.length === 0);
    say(this.#total, `${showBytes(totals.bytes)} in total, packet headers included`);
    keyed(this.#body, this.#kept, lines, {
      keyOf: ({ name }) => name,
      make: ({ name }) => makeLine(name),
      update: (made, { bytes }) => {
        const share = bytes / Math.max(1, totals.bytes);
        say(made.bytes, showBytes(bytes));
        say(made.share, showPercent(share));
        setMeter(made.bar, share);
      },
    });
  }
}

function makeLine(name: Line["name"]): Made {
  const bytes = h("td.number");
  const share = h("td.number");
  const bar = meter(`Share of ${name}`);
  const element = h(
    "tr",
    h("th", { scope: "row" }, name, h("span.soft", MEANINGS[name])),
    h("td.bar", bar),
    bytes,
    share,
  );
  return { element, bytes, share, bar };
}
