/** Connects the parts of the page: the feed, the head, the views and the keys. */

import type { Look } from "../shapes.ts";
import { fill, h, say, toggle } from "./dom.ts";
import { Head } from "./head.ts";
import { helpDialog } from "./help.ts";
import { applyTheme } from "./theme.ts";
import { LedgerBook } from "./view-ledger.ts";
import { Outcomes } from "./view-outcomes.ts";
import { Overview } from "./view-overview.ts";
import { PlanChart } from "./view-plan.ts";
import { Processes } from "./view-processes.ts";
import { Search } from "./view-search.ts";
import { Servers } from "./view-servers.ts";
import { Sites } from "./view-sites.ts";
import { Topics } from "./view-topics.ts";
import type { View } from "./view.ts";

interface Tab {
  readonly name: string;
  readonly title: string;
  readonly make: () => View;
  /** Whether the view has contents; without it, always. */
  readonly isThere?: (look: Look) => boolean;
}

const TABS: readonly Tab[] = [
  { name: "overview", title: "Overview", make: () => new Overview() },
  { name: "sites", title: "Sites", make: () => new Sites() },
  { name: "plan", title: "Plan", make: () => new PlanChart() },
  { name: "outcomes", title: "Outcomes", make: () => new Outcomes() },
  { name: "servers", title: "Servers", make: () => new Servers() },
  { name: "ledger", title: "Ledger", make: () => new LedgerBook() },
  {
    name: "processes",
    title: "Processes",
    make: () => new Processes(),
    isThere: ({ snapshot }) => snapshot.parallel !== undefined,
  },
  {
    name: "topics",
    title: "Topics",
    make: () => new Topics(),
    isThere: ({ snapshot }) => snapshot.topics !== undefined,
  },
  {
    name: "search",
    title: "Search",
    make: () => new Search(),
    isThere: ({ hasSearch }) => hasSearch,
  },
];

class Page {
  readonly #views = new Map<string, View>();
  readonly #links = new Map<string, HTMLAnchorElement>();
  readonly #help = helpDialog();
  readonly #head = new Head(() => this.#help.showModal());
  readonly #main = must("#view");
  readonly #notice = must("#notice");
  #tabs: readonly Tab[] = TABS.filter(({ isThere }) => isThere === undefined);
  #current: Tab | undefined;
  #look: Look | undefined;

  start(): void {
    applyTheme();
    fill(must("#head"), this.#head.element, this.#help);
    this.#showTabs();
    window.addEventListener("hashchange", () => this.#go());
    document.addEventListener("keydown", (event) => this.#key(event));
    this.#listen();
  }

  #listen(): void {
    const source = new EventSource("api/events");
    let isOver = false;
    source.addEventListener("look", (event) => {
      toggle(this.#notice, false);
      this.#show(JSON.parse((event as MessageEvent<string>).data) as Look);
    });
    source.addEventListener("bye", () => {
      isOver = true;
      source.close();
      this.#say(
        `This process has ended. To see the crawl again: weir serve, with the folder ${this.#look?.name ?? ""}.`,
      );
    });
    source.addEventListener("error", () => {
      if (isOver) return;
      this.#say("The connection is lost; the page shows the last known state. Reconnecting …");
      // Browsers do not retry a server that refuses, perhaps because of an old token.
      if (source.readyState === EventSource.CLOSED) window.setTimeout(() => this.#listen(), 5000);
    });
  }

  #say(words: string): void {
    say(this.#notice, words);
    toggle(this.#notice, true);
  }

  #show(look: Look): void {
    const isFirst = this.#look === undefined;
    this.#look = look;
    const tabs = TABS.filter(({ isThere }) => isThere?.(look) ?? true);
    if (tabs.length !== this.#tabs.length) {
      this.#tabs = tabs;
      this.#showTabs();
    }
    this.#head.show(look);
    if (isFirst) this.#go();
    else this.#viewOf(this.#current ?? (TABS[0] as Tab)).show(look);
  }

  #showTabs(): void {
    for (const [index, tab] of this.#tabs.entries()) {
      const link = this.#links.get(tab.name) ?? h("a", { href: `#${tab.name}` }, tab.title);
      link.setAttribute("title", `${tab.title} (${index + 1})`);
      this.#links.set(tab.name, link);
    }
    fill(must("#tabs"), ...this.#tabs.map(({ name }) => this.#links.get(name)));
  }

  /** Shows the view that the URL names, and passes it the rest of the URL. */
  #go(): void {
    const look = this.#look;
    if (look === undefined) return;
    const [name = "", ...rest] = window.location.hash.slice(1).split("/");
    const tab = this.#tabs.find((each) => each.name === name) ?? (this.#tabs[0] as Tab);
    const view = this.#viewOf(tab);
    if (tab !== this.#current) {
      if (this.#current !== undefined) this.#viewOf(this.#current).leave?.();
      this.#current = tab;
      for (const [each, link] of this.#links) {
        if (each === tab.name) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
      fill(this.#main, h("h2.unseen", tab.title), view.element);
      window.scrollTo(0, 0);
    }
    view.route?.(decoded(rest.join("/")));
    view.show(look);
  }

  #viewOf({ name, make }: Tab): View {
    const made = this.#views.get(name) ?? make();
    this.#views.set(name, made);
    return made;
  }

  #key(event: KeyboardEvent): void {
    const { target, key } = event;
    const isTyping = target instanceof HTMLElement && target.matches("input, select, textarea");
    if (isTyping && key === "Escape") target.blur();
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") !== null) return;
    if (this.#act(event)) event.preventDefault();
  }

  #act(event: KeyboardEvent): boolean {
    const tab = /^[1-9]$/.test(event.key) ? this.#tabs[Number(event.key) - 1] : undefined;
    if (tab !== undefined) {
      window.location.hash = tab.name;
      return true;
    }
    const actions: Readonly<Record<string, () => void>> = {
      "?": () => this.#help.showModal(),
      l: () => this.#head.editLimit(),
      p: () => void this.#head.pauseOrGoOn(),
      t: () => this.#head.changeTheme(),
    };
    const action = actions[event.key];
    if (action === undefined)
      return this.#current !== undefined && (this.#viewOf(this.#current).key?.(event) ?? false);
    action();
    return true;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

function must(selector: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(selector);
  if (found === null) throw new Error(`the page has no ${selector}`);
  return found;
}

new Page().start();
