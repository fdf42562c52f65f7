/**
 * The URLs with one outcome, a page at a time, each with its evidence. While the first page has
 * room, new ones are added to it.
 */

import type { Look, UrlAnswer, UrlLine, UrlsAnswer } from "../shapes.ts";
import { ask } from "./api.ts";
import { fill, h, keyed, outwards, say, toggle } from "./dom.ts";
import { factList } from "./site-dialog.ts";
import { plural, showBytes, showDuration, showMoment } from "./words.ts";

const PAGE_LINES = 50;
const REFRESH_MS = 2000;
const CHOOSE = "Choose a reason to see its URLs.";

export class UrlList {
  readonly element: HTMLElement;
  readonly #title = h("h2", "URLs");
  readonly #meaning = h("p.soft", { role: "status" }, CHOOSE);
  readonly #list = h("ol.urls");
  readonly #kept = new Map<string, { readonly element: HTMLElement }>();
  readonly #more = h("button", { hidden: true, click: () => void this.#ask(this.#after) }, "More");
  #lines: readonly UrlLine[] = [];
  #reason: string | undefined;
  #after = 0;
  #askedAtMs = -Infinity;

  constructor() {
    const parts = [this.#title, this.#meaning, this.#list, this.#more];
    this.element = h("section.card", ...parts);
  }

  open(reason: string | undefined): void {
    this.#reason = reason;
    this.#lines = [];
    this.#show();
    toggle(this.#more, false);
    say(this.#title, reason ?? "URLs");
    if (reason === undefined) say(this.#meaning, CHOOSE);
    else void this.#ask(0);
  }

  /** Requests again while all URLs fit on the first page. */
  show({ isRunning }: Look): void {
    const isDue = performance.now() - this.#askedAtMs >= REFRESH_MS;
    if (isRunning && isDue && this.#reason !== undefined && this.#lines.length < PAGE_LINES)
      void this.#ask(0);
  }

  async #ask(after: number): Promise<void> {
    const reason = this.#reason ?? "";
    this.#askedAtMs = performance.now();
    this.#more.disabled = true;
    const answer = await ask<UrlsAnswer>("outcomes", { reason, after, count: PAGE_LINES });
    this.#more.disabled = false;
    if (reason !== this.#reason) return;
    this.#lines = after === 0 ? answer.lines : [...this.#lines, ...answer.lines];
    this.#after = answer.nextAfterId ?? 0;
    toggle(this.#more, answer.nextAfterId !== undefined);
    const isNone = this.#lines.length === 0 && answer.nextAfterId === undefined;
    say(this.#meaning, isNone ? `${answer.meaning} None has been stored yet.` : answer.meaning);
    this.#show();
  }

  #show(): void {
    keyed(this.#list, this.#kept, this.#lines, {
      keyOf: ({ id }) => String(id),
      make: (line) => ({ element: urlItem(line) }),
      update: () => undefined,
    });
  }
}

function urlItem(line: UrlLine): HTMLElement {
  const inside = h("div.inside");
  const details = h(
    "details",
    { toggle: () => void open() },
    h(
      "summary",
      h("bdi.mono.clip", { title: line.url }, line.url),
      h(
        "span.soft.why.clip",
        line.why === ""
          ? `${placeOf(line)}${line.attempts > 1 ? `, tried ${line.attempts} times` : ""}`
          : h("bdi", line.why),
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
  return h("li", details);
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
      h("bdi.mono.evidence", text),
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
    if (page.archive !== undefined) facts.push(["Stored in", page.archive]);
  }
  return [factList(facts)];
}
