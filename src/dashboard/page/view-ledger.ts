/** Bytes by purpose. */

import { type Purpose, PURPOSES } from "../../bandwidth/history/ledger.ts";
import type { Look } from "../shapes.ts";
import { card, fill, h, ledgerTable, say, toggle } from "./dom.ts";
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

export class LedgerBook implements View {
  readonly element: HTMLElement;
  readonly #table = h("div");
  readonly #total = h("p.soft");
  readonly #empty = h("p.empty", "Nothing received yet.");

  constructor() {
    this.element = card("Bytes by purpose", this.#total, this.#table, this.#empty);
  }

  show({ snapshot: { ledger, totals } }: Look): void {
    const booked = PURPOSES.map((name): Line => ({ name, bytes: ledger[name] }));
    const open = totals.bytes - booked.reduce((sum, { bytes }) => sum + bytes, 0);
    const lines = [...booked, { name: "under way" as const, bytes: Math.max(0, open) }]
      .filter(({ bytes }) => bytes > 0)
      .toSorted((a, b) => b.bytes - a.bytes);
    toggle(this.#empty, lines.length === 0);
    say(this.#total, `${showBytes(totals.bytes)} in total, packet headers included`);
    const rows = lines.map((line) => rowOf(line, line.bytes / Math.max(1, totals.bytes)));
    fill(this.#table, ledgerTable("Bytes by purpose", ["For", "", "Bytes", "Share"], 2, rows));
  }
}

function rowOf({ name, bytes }: Line, share: number): HTMLElement {
  const bar = meter(`Share of ${name}`);
  setMeter(bar, share);
  return h(
    "tr",
    h("th", { scope: "row" }, name, h("span.soft", MEANINGS[name])),
    h("td.bar", bar),
    h("td.number", showBytes(bytes)),
    h("td.number", showPercent(share)),
  );
}
