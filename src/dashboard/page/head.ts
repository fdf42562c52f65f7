/**
 * The head of the page: the crawl's name and state, and the three main controls: limit, pause and
 * stop. Its elements are kept between updates, so that the keyboard's focus is too.
 */

import type { Look } from "../shapes.ts";
import { change } from "./api.ts";
import { h, say, toggle } from "./dom.ts";
import { nextTheme, themeName } from "./theme.ts";
import { changeAloud, toast } from "./toast.ts";
import { showDuration, showRate } from "./words.ts";

export class Head {
  readonly element: HTMLElement;
  readonly #name = h("h1");
  readonly #state = h("span.pill");
  readonly #because = h("span.soft.because");
  readonly #limit = h("button.quiet", { click: () => this.editLimit() });
  readonly #pause = h("button", { click: () => void this.pauseOrGoOn() });
  readonly #stop = h("button.danger", { click: () => this.#askStop() }, "Stop");
  readonly #theme = h("button.quiet.icon", { click: () => this.changeTheme() });
  readonly #controls: HTMLElement;
  readonly #limitDialog = new LimitDialog();
  readonly #stopDialog = stopDialog();
  #look: Look | undefined;

  constructor(onHelp: () => void) {
    const help = h(
      "button.quiet.icon",
      {
        "aria-label": "Keyboard and help",
        title: "Keyboard and help (?)",
        click: onHelp,
      },
      "?",
    );
    this.#controls = h("div.controls", this.#limit, this.#pause, this.#stop);
    this.element = h(
      "div.head",
      h(
        "div.who",
        h("span.mark", { "aria-hidden": "true" }),
        this.#name,
        this.#state,
        this.#because,
      ),
      h("div.tools", this.#controls, this.#theme, help),
      this.#limitDialog.element,
      this.#stopDialog,
    );
    this.#showTheme();
  }

  show(look: Look): void {
    this.#look = look;
    const { snapshot, isRunning, name } = look;
    const { state, because, limitBps, elapsedMs } = snapshot;
    say(this.#name, name);
    say(this.#state, `${state}  ${showDuration(elapsedMs)}`);
    this.#state.className = `pill ${state}`;
    say(this.#because, because);
    toggle(this.#because, because !== "");
    toggle(this.#controls, isRunning);
    const limit = limitBps === undefined ? "No limit" : `Limit ${showRate(limitBps)}`;
    say(this.#limit, limit);
    this.#limit.setAttribute("aria-label", `${limit}: change it`);
    say(this.#pause, state === "paused" ? "Resume" : "Pause");
    this.#pause.disabled = state === "stopping";
    this.#stop.disabled = state === "stopping";
    document.title = `${isRunning ? `${showRate(snapshot.rateBps)} ` : ""}${name} – Weir`;
  }

  editLimit(): void {
    if (this.#look?.isRunning === true) this.#limitDialog.open(this.#look.snapshot.limitBps);
  }

  async pauseOrGoOn(): Promise<void> {
    if (this.#look?.isRunning !== true) return;
    this.#pause.disabled = true;
    await changeAloud("pause", this.#look.snapshot.state === "paused" ? "false" : "true");
    this.#pause.disabled = false;
  }

  changeTheme(): void {
    nextTheme();
    this.#showTheme();
  }

  #askStop(): void {
    this.#stopDialog.showModal();
  }

  #showTheme(): void {
    const name = themeName();
    say(this.#theme, name === "dark" ? "◐" : name === "light" ? "○" : "◑");
    const words = `Colours: ${name}`;
    this.#theme.setAttribute("aria-label", words);
    this.#theme.setAttribute("title", `${words} (t)`);
  }
}

class LimitDialog {
  readonly element: HTMLDialogElement;
  readonly #input = h("input", {
    type: "text",
    id: "limit-value",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "2MB/s",
  });
  readonly #error = h("p.error", { role: "alert" });

  constructor() {
    const offer = (value: string, words = value): HTMLElement =>
      h("button.quiet", { click: () => void this.#apply(value) }, words);
    const form = h(
      "form",
      {
        method: "dialog",
        submit: (event) => {
          event.preventDefault();
          void this.#apply(this.#input.value);
        },
      },
      h("h2", { id: "limit-title" }, "Limit for all sites together"),
      h(
        "label",
        { for: "limit-value" },
        "Bytes per second on the line, such as 500KB/s, 2MB/s, 8Mbit/s, or none",
      ),
      this.#input,
      h(
        "div.offers",
        offer("500KB/s"),
        offer("1MB/s"),
        offer("2MB/s"),
        offer("5MB/s"),
        offer("10MB/s"),
        offer("none", "no limit"),
      ),
      this.#error,
      h(
        "div.answers",
        h("button.quiet", { click: () => this.element.close() }, "Cancel"),
        h("button.primary", { type: "submit" }, "Apply"),
      ),
    );
    this.element = h("dialog", { "aria-labelledby": "limit-title" }, form);
  }

  open(limitBps: number | undefined): void {
    this.#input.value =
      limitBps === undefined ? "none" : `${Number((limitBps / 1000).toPrecision(6))}KB/s`;
    say(this.#error, "");
    this.element.showModal();
    this.#input.select();
  }

  async #apply(value: string): Promise<void> {
    const { ok, message } = await change("limit", value.trim());
    if (!ok) return say(this.#error, message);
    this.element.close();
    toast(message, true);
  }
}

function stopDialog(): HTMLDialogElement {
  const dialog: HTMLDialogElement = h(
    "dialog",
    { "aria-labelledby": "stop-title" },
    h("h2", { id: "stop-title" }, "End this crawl?"),
    h(
      "p",
      "Running requests finish, everything is stored, and the same command resumes the crawl.",
    ),
    h(
      "div.answers",
      h("button.quiet", { autofocus: true, click: () => dialog.close() }, "Let it run"),
      h(
        "button.danger.solid",
        {
          click: () => {
            dialog.close();
            void changeAloud("stop", "now");
          },
        },
        "Stop it",
      ),
    ),
  );
  return dialog;
}
