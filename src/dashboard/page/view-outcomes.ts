/**
 * The outcomes of URLs: reasons with their meaning, and the URLs of each, with the evidence: the
 * line of robots.txt, the rule of the scope, the network's error.
 */

import { type Reason, type Settlement, settlementOf } from "../../page/outcome.ts";
import type { Look, ReasonsAnswer } from "../shapes.ts";
import { ask } from "./api.ts";
import { fill, h, keyed, say, toggle } from "./dom.ts";
import { UrlList } from "./url-list.ts";
import type { View } from "./view.ts";
import { showCount, showPercent } from "./words.ts";

const KINDS: readonly (readonly [Settlement, string])[] = [
  ["failed", "Failed: requested without success"],
  ["skipped", "Skipped: never requested, because of a rule"],
  ["done", "Done: with a response"],
];

interface ReasonLine {
  readonly element: HTMLElement;
  readonly count: HTMLElement;
  readonly bar: HTMLElement;
  readonly meaning: HTMLElement;
}

export class Outcomes implements View {
  readonly element: HTMLElement;
  readonly #groups = new Map<
    Settlement,
    {
      readonly box: HTMLElement;
      readonly list: HTMLElement;
      readonly kept: Map<string, ReasonLine>;
    }
  >();
  readonly #others = h("div");
  readonly #list = new UrlList();
  readonly #empty = h("p.empty", "No URL is settled yet.");
  #meanings: Readonly<Record<string, string>> = {};
  #reason: string | undefined;

  constructor() {
    const groups = KINDS.map(([kind, words]) => {
      const list = h("ul.reasons");
      const box = h("div", { class: kind }, h("h3", words), list);
      this.#groups.set(kind, { box, list, kept: new Map() });
      return box;
    });
    const left = h("section.card", h("h2", "Reasons"), this.#empty, ...groups, this.#others);
    this.element = h("div.outcomes", left, this.#list.element);
  }

  show(look: Look): void {
    const { totals } = look.snapshot;
    const ends = Object.entries(totals.outcomes).filter(([, count]) => count > 0);
    toggle(this.#empty, ends.length === 0);
    if (ends.some(([reason]) => this.#meanings[reason] === undefined)) void this.#askMeanings(look);
    for (const [kind, { box, list, kept }] of this.#groups) {
      const lines = ends
        .filter(([reason]) => settlementOf(reason as Reason) === kind)
        .toSorted(([, a], [, b]) => b - a);
      toggle(box, lines.length > 0);
      keyed(list, kept, lines, {
        keyOf: ([reason]) => reason,
        make: ([reason]) => makeReason(reason),
        update: (made, [reason, count]) => {
          const share = count / Math.max(1, totals.known);
          say(made.count, `${showCount(count)}  ${showPercent(share)}`);
          made.bar.style.width = `${Math.max(0.5, 100 * share).toFixed(1)}%`;
          say(made.meaning, this.#meanings[reason] ?? "");
          mark(made.element, reason === this.#reason);
        },
      });
    }
    this.#showOthers(look);
    this.#list.show(look);
  }

  route(rest: string): void {
    this.#reason = rest === "" ? undefined : rest;
    for (const { kept } of this.#groups.values())
      for (const [reason, { element }] of kept) mark(element, reason === this.#reason);
    this.#list.open(this.#reason);
  }

  async #askMeanings(look: Look): Promise<void> {
    // Requested once per set of reasons: a reason without a meaning has an empty one.
    this.#meanings = Object.fromEntries(
      Object.keys(look.snapshot.totals.outcomes).map((reason) => [
        reason,
        this.#meanings[reason] ?? "",
      ]),
    );
    this.#meanings = { ...this.#meanings, ...(await ask<ReasonsAnswer>("reasons")).meanings };
    this.show(look);
  }

  #showOthers({ snapshot: { totals } }: Look): void {
    const left = "Links that were not admitted, by the rule that refused them.";
    fill(
      this.#others,
      countList("Links left out", left, totals.refusedLinks),
      countList("Remarks", "Problems of pages that were stored.", totals.remarks),
    );
  }
}

function countList(
  title: string,
  note: string,
  counts: Readonly<Record<string, number>>,
): HTMLElement | undefined {
  const lines = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => h("li", h("bdi.mono", name), h("span.number", showCount(count))));
  if (lines.length === 0) return undefined;
  return h("div", h("h3", title), h("p.soft", note), h("ul.plain", ...lines));
}

function makeReason(reason: string): ReasonLine {
  const count = h("span.number");
  const bar = h("i");
  const meaning = h("span.soft");
  const link = h(
    "a",
    { href: `#outcomes/${encodeURIComponent(reason)}` },
    h("span.mono", reason),
    count,
    h("span.track", { "aria-hidden": "true" }, bar),
    meaning,
  );
  return { element: h("li", link), count, bar, meaning };
}

function mark(element: Element, isChosen: boolean): void {
  if (isChosen) element.firstElementChild?.setAttribute("aria-current", "true");
  else element.firstElementChild?.removeAttribute("aria-current");
}
