/** Details of one site: its progress, its bytes by purpose, its robots.txt as received. */

import { PURPOSES } from "../../bandwidth/history/ledger.ts";
import type { Look, SiteAnswer } from "../shapes.ts";
import { ask } from "./api.ts";
import { fill, h, outwards, say } from "./dom.ts";
import { changeAloud } from "./toast.ts";
import {
  promiseOf,
  showBytes,
  showCount,
  showDuration,
  showMoment,
  showPercent,
  showRate,
  shareDone,
  stateOf,
  withoutScheme,
} from "./words.ts";

const LINES_MAX = 2000;

export class SiteDialog {
  readonly element: HTMLDialogElement;
  readonly #title = h("h2", { id: "site-title" });
  readonly #body = h("div.details");
  readonly #form: HTMLElement;
  readonly #deadline = h("input", {
    type: "text",
    id: "site-deadline",
    placeholder: "45m or none",
    size: 12,
    autocomplete: "off",
  });
  readonly #priority = h("input", {
    type: "text",
    id: "site-priority",
    placeholder: "2",
    size: 6,
    autocomplete: "off",
  });
  #site = "";

  constructor() {
    this.#form = h(
      "div.promise-form",
      h("label", { for: "site-deadline" }, "Deadline, from the start"),
      this.#deadline,
      h("button", { click: () => void this.#send("deadline", this.#deadline) }, "Set"),
      h("label", { for: "site-priority" }, "Priority"),
      this.#priority,
      h("button", { click: () => void this.#send("priority", this.#priority) }, "Set"),
    );
    this.element = h(
      "dialog.drawer",
      { "aria-labelledby": "site-title" },
      h(
        "div.card-head",
        this.#title,
        h("button.quiet", { click: () => this.element.close() }, "Close"),
      ),
      this.#form,
      this.#body,
    );
  }

  async open(site: string): Promise<void> {
    this.#site = site;
    say(this.#title, withoutScheme(site));
    fill(this.#body, h("p.empty", "…"));
    this.element.showModal();
    fill(this.#body, ...detailsOf(await ask<SiteAnswer>("site", { site })));
  }

  show({ isRunning }: Look): void {
    this.#form.hidden = !isRunning;
  }

  async #send(key: "deadline" | "priority", input: HTMLInputElement): Promise<void> {
    const { ok } = await changeAloud(key, `${this.#site}=${input.value.trim()}`);
    if (ok) input.value = "";
  }
}

function detailsOf({ line, ledger, robots }: SiteAnswer): HTMLElement[] {
  const { live } = line;
  const facts: [name: string, value: string | HTMLElement][] = [
    ["Address", outwards(line.site)],
    ["State", stateOf(line).words],
    [
      "Done",
      `${showCount(line.known - line.pending)} of ${showCount(line.known)} URLs, ${showPercent(shareDone(line))}`,
    ],
    ["Pages kept", showCount(line.pages)],
    ["Received", showBytes(line.bytes)],
  ];
  if (line.rateBps > 0) facts.push(["Rate now", showRate(line.rateBps)]);
  if (live?.deadlineMs !== undefined)
    facts.push([
      "Deadline",
      `${showDuration(live.deadlineMs)} after the start; ${promiseOf(live).words}`,
    ]);
  if (live?.forecast !== undefined) {
    facts.push([
      "Forecast",
      `done in ${showDuration(live.forecast.finishInMs)}, ${showBytes(live.forecast.leftBytes)} left`,
    ]);
    facts.push(["Planned rate now", showRate(live.forecast.rateBps)]);
  }
  if (live !== undefined) facts.push(["Priority", String(live.priority)]);
  if (live !== undefined && live.round.number > 1) facts.push(["Round", String(live.round.number)]);
  for (const purpose of PURPOSES)
    if (ledger[purpose] > 0) facts.push([`Bytes for ${purpose}`, showBytes(ledger[purpose])]);
  return [factList(facts), ...robotsPart(robots)];
}

export function factList(
  facts: readonly (readonly [name: string, value: string | HTMLElement])[],
): HTMLElement {
  return h(
    "dl.facts",
    ...facts.map(([name, value]) =>
      h("div", h("dt", name), h("dd", typeof value === "string" ? h("bdi", value) : value)),
    ),
  );
}

function robotsPart(robots: SiteAnswer["robots"]): HTMLElement[] {
  if (robots === undefined) return [h("p.soft", "Its robots.txt has not been fetched.")];
  const head = h(
    "h3",
    `robots.txt, answered with ${robots.status}, ${showMoment(robots.fetchedAtMs)}`,
  );
  if (robots.text.trim() === "")
    return [head, h("p.soft", "It is empty: everything may be fetched.")];
  const lines = robots.text.split(/\r\n|\r|\n/).slice(0, LINES_MAX);
  return [
    head,
    h(
      "ol.source.mono",
      { tabindex: 0, "aria-label": "robots.txt" },
      ...lines.map((text) => h("li", h("bdi", text))),
    ),
  ];
}
