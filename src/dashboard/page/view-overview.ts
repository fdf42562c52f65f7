/** The overview: figures, the rate, sites with deadlines, outcomes, and recent problems. */

import { type Reason, settlementOf } from "../../page/outcome.ts";
import type { SiteView } from "../../control/snapshot.ts";
import type { Look } from "../shapes.ts";
import { card, fill, h, keyed, say, toggle } from "./dom.ts";
import { Figures } from "./figures.ts";
import { meter, setMeter } from "./meter.ts";
import { RatePanel } from "./rate-panel.ts";
import type { View } from "./view.ts";
import {
  promiseOf,
  shareDone,
  showBytes,
  showCount,
  showDuration,
  showRate,
  withoutScheme,
} from "./words.ts";

const SITES_MAX = 12;
const TROUBLES_MAX = 8;
const REASONS_MAX = 8;

interface Racer {
  readonly element: HTMLElement;
  readonly name: HTMLElement;
  readonly bar: HTMLElement;
  readonly counts: HTMLElement;
  readonly promise: HTMLElement;
}

export class Overview implements View {
  readonly element: HTMLElement;
  readonly #figures = new Figures();
  readonly #rate = new RatePanel();
  readonly #racers = h("ul.racers");
  readonly #racing = new Map<string, Racer>();
  readonly #racersEmpty = h("p.empty", "No site is known yet.");
  readonly #racersTitle = h("h2");
  readonly #ends = h("div");
  readonly #troubles = h("ul.troubles");
  readonly #troublesEmpty = h("p.empty", "No problems.");

  constructor() {
    const racers = card(
      this.#racersTitle,
      h("a", { href: "#sites" }, "All sites"),
      this.#racers,
      this.#racersEmpty,
    );
    const ends = card("Outcomes of URLs", h("a", { href: "#outcomes" }, "All reasons"), this.#ends);
    const troubles = card("Last troubles", undefined, this.#troubles, this.#troublesEmpty);
    this.element = h(
      "div.overview",
      this.#figures.element,
      this.#rate.element,
      h("div.columns", racers, h("div.stack", ends, troubles)),
    );
  }

  show(look: Look): void {
    this.#figures.show(look);
    this.#rate.show(look);
    this.#showRacers(look);
    this.#showEnds(look);
    const troubles = look.snapshot.troubles.slice(-TROUBLES_MAX).toReversed();
    toggle(this.#troublesEmpty, troubles.length === 0);
    fill(
      this.#troubles,
      ...troubles.map(({ url, reason, detail }) =>
        h(
          "li",
          h("span.tag", reason),
          h("bdi.mono.clip", { title: url }, url),
          h("bdi.soft.clip", detail),
        ),
      ),
    );
  }

  #showRacers({ snapshot, siteRatesBps, isRunning }: Look): void {
    const hasPromises = snapshot.sites.some(({ deadlineMs }) => deadlineMs !== undefined);
    const promised = isRunning ? "Racing their deadlines" : "Deadlines";
    say(this.#racersTitle, hasPromises ? promised : isRunning ? "Busiest sites" : "Largest sites");
    const sites = snapshot.sites
      .toSorted(
        (a, b) =>
          rankOf(a) - rankOf(b) ||
          (siteRatesBps[b.site] ?? 0) - (siteRatesBps[a.site] ?? 0) ||
          b.pages - a.pages,
      )
      .slice(0, SITES_MAX);
    toggle(this.#racersEmpty, sites.length === 0);
    keyed(this.#racers, this.#racing, sites, {
      keyOf: ({ site }) => site,
      make: () => makeRacer(),
      update: (racer, site) => updateRacer(racer, site, siteRatesBps[site.site] ?? 0),
    });
  }

  #showEnds({ snapshot: { totals, pending } }: Look): void {
    const parts = [
      { name: "done", count: totals.done },
      { name: "failed", count: totals.failed },
      { name: "skipped", count: totals.skipped },
      { name: "waiting", count: pending },
    ];
    const known = Math.max(1, totals.known);
    const bar = h("div.stacked", { "aria-hidden": "true" });
    for (const { name, count } of parts) {
      const part = h("span", { class: name });
      part.style.flexGrow = String(count / known);
      bar.append(part);
    }
    const counts = h(
      "ul.legend.dots",
      ...parts.map(({ name, count }) =>
        h("li", h("i", { class: name, "aria-hidden": "true" }), `${showCount(count)} ${name}`),
      ),
    );
    const reasons = Object.entries(totals.outcomes)
      .filter(([reason, count]) => count > 0 && settlementOf(reason as Reason) !== "done")
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, REASONS_MAX);
    const chips = reasons.map(([reason, count]) =>
      h(
        "a",
        {
          class: `chip ${settlementOf(reason as Reason)}`,
          href: `#outcomes/${encodeURIComponent(reason)}`,
        },
        `${reason} ${showCount(count)}`,
      ),
    );
    // Links keep the keyboard's focus while they do not change.
    const key = JSON.stringify([parts, reasons]);
    if (this.#ends.dataset["key"] === key) return;
    this.#ends.dataset["key"] = key;
    fill(this.#ends, bar, counts, h("div.chips", ...chips));
  }
}

/** Open deadlines first, the nearest before the others; then those that were met; then the rest. */
function rankOf({ deadlineMs, forecast, pending }: SiteView): number {
  if (deadlineMs === undefined) return pending > 0 ? 2e15 : 3e15;
  return pending === 0 ? 1e15 + deadlineMs : (forecast?.deadlineInMs ?? deadlineMs);
}

function makeRacer(): Racer {
  const name = h("bdi.name.clip");
  const bar = meter("Share done");
  const counts = h("span.counts.soft");
  const promise = h("span.promise");
  return { element: h("li", name, promise, bar, counts), name, bar, counts, promise };
}

function updateRacer(racer: Racer, site: SiteView, rateBps: number): void {
  const share = shareDone(site);
  say(racer.name, withoutScheme(site.site));
  racer.name.setAttribute("title", site.site);
  setMeter(racer.bar, share, site.forecast?.isLate === true);
  const rate = rateBps > 0 ? `  ${showRate(rateBps)}` : "";
  say(
    racer.counts,
    `${showCount(site.known - site.pending)} of ${showCount(site.known)}  ${showBytes(site.bytes)}${rate}`,
  );
  const { words, mood } = promiseOf(site);
  const forecast =
    site.forecast === undefined ? "" : `done in ${showDuration(site.forecast.finishInMs)}`;
  say(
    racer.promise,
    words === ""
      ? site.pending === 0
        ? "done"
        : forecast
      : mood === "good" && site.pending > 0
        ? `${forecast}, ${words}`
        : words,
  );
  racer.promise.className = `promise ${mood}`;
}
