/**
 * How every address ended: reasons with their meaning, and behind each the addresses themselves, down to
 * why: the line of robots.txt, the rule of the scope, what the network said.
 */

import { type Reason, type Settlement, settlementOf } from "../../page/outcome.ts";
import type { Look, ReasonsAnswer, UrlAnswer, UrlLine, UrlsAnswer } from "../shapes.ts";
import { ask } from "./api.ts";
import { fill, h, keyed, outwards, say, toggle } from "./dom.ts";
import { factList } from "./site-dialog.ts";
import type { View } from "./view.ts";
import { plural, showBytes, showCount, showDuration, showMoment, showPercent } from "./words.ts";

const KINDS: readonly (readonly [Settlement, string])[] = [
  ["failed", "Failed: asked for, and did not come"],
  ["skipped", "Skipped: never asked for, by our own decision"],
  ["done", "Done: answered"],
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
  readonly #others = h("div", {});
  readonly #list = new UrlList();
  readonly #empty = h("p", { class: "empty" }, "No address has ended yet.");
  #meanings: Readonly<Record<string, string>> = {};
  #reason: string | undefined;

  constructor() {
    const groups = KINDS.map(([kind, words]) => {
      const list = h("ul", { class: "reasons" });
      const box = h("div", { class: kind }, h("h3", {}, words), list);
      this.#groups.set(kind, { box, list, kept: new Map() });
      return box;
    });
    const left = h(
      "section",
      { class: "card" },
      h("h2", {}, "Reasons"),
      this.#empty,
      ...groups,
      this.#others,
    );
    this.element = h("div", { class: "outcomes" }, left, this.#list.element);
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
      const all = lines.reduce((sum, [, count]) => sum + count, 0);
      keyed(list, kept, lines, {
        keyOf: ([reason]) => reason,
        make: ([reason]) => makeReason(reason),
        update: (made, [reason, count]) => {
          say(made.count, `${showCount(count)}  ${showPercent(count / Math.max(1, totals.known))}`);
          made.bar.style.width = `${Math.max(1, (100 * count) / all).toFixed(1)}%`;
          say(made.meaning, this.#meanings[reason] ?? "");
          mark(made.element, reason === this.#reason);
        },
      });
    }
    this.#showOthers(look);
  }

  route(rest: string): void {
    this.#reason = rest === "" ? undefined : rest;
    for (const { kept } of this.#groups.values())
      for (const [reason, { element }] of kept) mark(element, reason === this.#reason);
    void this.#list.open(this.#reason);
  }

  async #askMeanings(look: Look): Promise<void> {
    // Asked once for each set of reasons: what has no meaning keeps an empty one.
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
    const left = "They never became addresses of this crawl; by the rule that refused them.";
    fill(
      this.#others,
      countList("Links left out", left, totals.refusedLinks),
      countList("Remarks", "Noticed about pages that were kept.", totals.remarks),
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
    .map(([name, count]) =>
      h(
        "li",
        {},
        h("bdi", { class: "mono" }, name),
        h("span", { class: "number" }, showCount(count)),
      ),
    );
  if (lines.length === 0) return undefined;
  return h(
    "div",
    {},
    h("h3", {}, title),
    h("p", { class: "soft" }, note),
    h("ul", { class: "plain" }, ...lines),
  );
}

function makeReason(reason: string): ReasonLine {
  const count = h("span", { class: "number" });
  const bar = h("i", {});
  const meaning = h("span", { class: "soft" });
  const link = h(
    "a",
    { href: `#outcomes/${encodeURIComponent(reason)}` },
    h("span", { class: "mono" }, reason),
    count,
    h("span", { class: "track", "aria-hidden": "true" }, bar),
    meaning,
  );
  return { element: h("li", {}, link), count, bar, meaning };
}

function mark(element: Element, isChosen: boolean): void {
  if (isChosen) element.firstElementChild?.setAttribute("aria-current", "true");
  else element.firstElementChild?.removeAttribute("aria-current");
}

/** The addresses of one reason, a page at a time. */
class UrlList {
  readonly element: HTMLElement;
  readonly #title = h("h2", {}, "Addresses");
  readonly #meaning = h("p", { class: "soft" }, "Choose a reason to see its addresses.");
  readonly #list = h("ol", { class: "urls" });
  readonly #more = h(
    "button",
    { type: "button", hidden: true, click: () => void this.#askMore() },
    "More",
  );
  #reason = "";
  #after = 0;

  constructor() {
    this.element = h(
      "section",
      { class: "card", "aria-live": "polite" },
      this.#title,
      this.#meaning,
      this.#list,
      this.#more,
    );
  }

  async open(reason: string | undefined): Promise<void> {
    this.#reason = reason ?? "";
    this.#after = 0;
    fill(this.#list);
    toggle(this.#more, false);
    say(this.#title, reason ?? "Addresses");
    if (reason === undefined) say(this.#meaning, "Choose a reason to see its addresses.");
    else await this.#askMore();
  }

  async #askMore(): Promise<void> {
    const reason = this.#reason;
    this.#more.disabled = true;
    const answer = await ask<UrlsAnswer>("outcomes", { reason, after: this.#after, count: 50 });
    this.#more.disabled = false;
    if (reason !== this.#reason) return;
    say(this.#meaning, answer.meaning);
    this.#list.append(...answer.lines.map(urlItem));
    this.#after = answer.nextAfterId ?? 0;
    toggle(this.#more, answer.nextAfterId !== undefined);
    if (this.#list.childElementCount === 0 && answer.nextAfterId === undefined)
      say(this.#meaning, `${answer.meaning} None has been stored yet.`);
  }
}

function urlItem(line: UrlLine): HTMLElement {
  const inside = h("div", { class: "inside" });
  const details = h(
    "details",
    { toggle: () => void open() },
    h(
      "summary",
      {},
      h("bdi", { class: "mono clip", title: line.url }, line.url),
      h(
        "span",
        { class: "soft why clip" },
        line.why === ""
          ? `${placeOf(line)}${line.attempts > 1 ? `, tried ${line.attempts} times` : ""}`
          : h("bdi", {}, line.why),
      ),
    ),
    inside,
  );
  let isAsked = false;
  async function open(): Promise<void> {
    if (!details.open || isAsked) return;
    isAsked = true;
    fill(inside, ...urlDetails(await ask<UrlAnswer>("url", { id: line.id })));
  }
  return h("li", {}, details);
}

function placeOf({ depth }: UrlLine): string {
  return depth === 0 ? "a seed" : `${plural(depth, "link")} from a seed`;
}

function urlDetails({
  line,
  reason,
  meaning,
  evidence,
  redirectedFrom,
  page,
}: UrlAnswer): HTMLElement[] {
  const facts: [string, string | HTMLElement][] = [
    ["Address", outwards(line.url)],
    ["Ended", `${reason ?? "not yet"}. ${meaning}`],
    ...evidence.map(({ what, text }): [string, HTMLElement] => [
      what,
      h("bdi", { class: "mono evidence" }, text),
    ]),
    [
      "Found",
      `${placeOf(line)}${line.attempts > 0 ? `; tried ${plural(line.attempts, "time")}` : ""}`,
    ],
  ];
  if (redirectedFrom !== undefined) facts.push(["Redirected from", outwards(redirectedFrom)]);
  if (page !== undefined) {
    facts.push(
      ["Title", page.title === "" ? "none" : page.title],
      [
        "Answer",
        `${page.status}, ${page.contentType}, ${showBytes(page.wireBytes)} in ${showDuration(page.durationMs)}`,
      ],
      ["Fetched", showMoment(page.fetchedAtMs)],
    );
    if (page.remarks.length > 0) facts.push(["Remarks", page.remarks.join(", ")]);
    if (page.copyOf !== undefined)
      facts.push([
        page.copyOf.kind === "near" ? "Nearly the same as" : "The same as",
        outwards(page.copyOf.url),
      ]);
    if (page.archive !== undefined) facts.push(["Kept in", page.archive]);
  }
  return [factList(facts)];
}
