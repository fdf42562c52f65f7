/**
 * One row of the table of sites: its cells are reused for the sites that scroll by. A deadline or a
 * priority is edited in place; during the edit the cell is not updated.
 */

import type { SiteLine } from "../shapes.ts";
import { h, say } from "./dom.ts";
import { meter, setMeter } from "./meter.ts";
import { changeAloud } from "./toast.ts";
import {
  promiseOf,
  shareDone,
  showBytes,
  showCount,
  showDuration,
  showPercent,
  showRate,
  stateOf,
  withoutScheme,
} from "./words.ts";

interface RowMeans {
  readonly open: (site: string) => void;
}

export class SiteRow {
  readonly element: HTMLElement;
  readonly #name: HTMLButtonElement;
  readonly #state = h("span.state", { role: "cell" });
  readonly #bar = meter("Share done");
  readonly #share = h("span.soft");
  readonly #pages = h("span.number", { role: "cell" });
  readonly #waiting = h("span.number", { role: "cell" });
  readonly #bytes = h("span.number", { role: "cell" });
  readonly #rate = h("span.number", { role: "cell" });
  readonly #deadline = new InPlace("Deadline", "45m, counted from the start, or none");
  readonly #forecast = h("span.forecast.soft");
  readonly #priority = new InPlace("Priority", "such as 2");
  #site = "";

  constructor({ open }: RowMeans) {
    this.#name = h("button.link.clip", { click: () => open(this.#site) }, h("bdi"));
    this.#deadline.onValue = (value) => changeAloud("deadline", `${this.#site}=${value}`);
    this.#priority.onValue = (value) => changeAloud("priority", `${this.#site}=${value}`);
    this.element = h(
      "div.row",
      { role: "row" },
      h("span.site", { role: "cell" }, this.#name),
      this.#state,
      h("span.progress", { role: "cell" }, this.#bar, this.#share),
      this.#pages,
      this.#waiting,
      this.#bytes,
      this.#rate,
      h("span.deadline", { role: "cell" }, this.#deadline.element, this.#forecast),
      h("span.priority.number", { role: "cell" }, this.#priority.element),
    );
  }

  get isEdited(): boolean {
    return this.#deadline.isOpen || this.#priority.isOpen;
  }

  focus(): void {
    this.#name.focus();
  }

  /** undefined until its page has been received. */
  fill(index: number, line: SiteLine | undefined, canChange: boolean): void {
    this.element.setAttribute("aria-rowindex", String(index + 2));
    this.element.classList.toggle("missing", line === undefined);
    if (line === undefined || this.isEdited) return;
    if (line.site !== this.#site) {
      this.#site = line.site;
      say(this.#name.firstElementChild as Element, withoutScheme(line.site));
      this.#name.setAttribute("title", line.site);
    }
    const { words, mood } = stateOf(line);
    say(this.#state, words);
    this.#state.className = `state ${mood}`;
    const share = shareDone(line);
    setMeter(this.#bar, share, line.live?.forecast?.isLate === true);
    say(this.#share, showPercent(share));
    say(this.#pages, showCount(line.pages));
    say(this.#waiting, line.pending === 0 ? "" : showCount(line.pending));
    say(this.#bytes, showBytes(line.bytes));
    say(this.#rate, line.rateBps === 0 ? "" : showRate(line.rateBps));
    this.#fillPromise(line, canChange);
  }

  #fillPromise({ live }: SiteLine, canChange: boolean): void {
    const { words, mood } = promiseOf(live);
    const isOpen = canChange && live !== undefined && live.pending > 0;
    this.#deadline.fill(words === "" ? (isOpen ? "set" : "") : words, isOpen, mood);
    const finishInMs = live?.forecast?.finishInMs;
    say(this.#forecast, finishInMs === undefined ? "" : `done in ${showDuration(finishInMs)}`);
    const priority = live?.priority ?? 1;
    this.#priority.fill(
      isOpen || priority !== 1 ? `×${priority}` : "",
      isOpen,
      priority === 1 ? "calm" : "good",
    );
  }
}

/** A text that becomes a field when it is clicked. */
class InPlace {
  readonly element = h("span.in-place");
  onValue: (value: string) => Promise<{ readonly ok: boolean }> = async () => ({ ok: true });
  readonly #label: string;
  readonly #button: HTMLButtonElement;
  readonly #input: HTMLInputElement;
  isOpen = false;

  constructor(label: string, placeholder: string) {
    this.#label = label;
    this.#button = h("button.quiet.edit", { click: () => this.#open() });
    this.#input = h("input", {
      type: "text",
      "aria-label": `${label}: ${placeholder}`,
      title: placeholder,
      size: 7,
      autocomplete: "off",
      keydown: (event) => this.#key(event as KeyboardEvent),
      blur: () => this.#close(),
    });
    this.element.append(this.#button);
  }

  fill(words: string, canChange: boolean, mood: string): void {
    say(this.#button, words);
    this.#button.disabled = !canChange;
    this.#button.className = `quiet edit ${mood}`;
    this.#button.hidden = words === "";
    this.#button.setAttribute(
      "aria-label",
      `${this.#label}: ${words}${canChange ? "; change it" : ""}`,
    );
  }

  #open(): void {
    this.isOpen = true;
    this.#input.value = "";
    this.element.replaceChildren(this.#input);
    this.#input.focus();
  }

  #close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.element.replaceChildren(this.#button);
  }

  #key(event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === "Escape") this.#close();
    if (event.key === "Enter") void this.#apply();
  }

  async #apply(): Promise<void> {
    const value = this.#input.value.trim();
    if (value === "") return this.#close();
    const { ok } = await this.onValue(value);
    if (!ok) return;
    this.#close();
    this.#button.focus();
  }
}
