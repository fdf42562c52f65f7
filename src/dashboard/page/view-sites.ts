/**
 * All sites: only the visible rows exist, and only their pages are requested. Rows are reused while
 * scrolling, so ten thousand sites cost as much as thirty.
 */

import {
  type Look,
  SITE_SORTS,
  type SiteLine,
  type SitesAnswer,
  type SiteSort,
} from "../shapes.ts";
import { ask } from "./api.ts";
import { h, say, toggle } from "./dom.ts";
import { pagesOf, rowsInSight } from "./rows.ts";
import { SiteDialog } from "./site-dialog.ts";
import { SiteRow } from "./site-row.ts";
import type { View } from "./view.ts";
import { showCount } from "./words.ts";

const ROWS_PER_PAGE = 100;
const ROW_PIXELS = 40;
const ROW_PIXELS_SMALL = 84;
const REFRESH_MS = 1500;
const FIND_MS = 200;
/** Browsers cannot scroll further than some millions of pixels; more sites are found by name. */
const ROWS_MAX = 200_000;

const COLUMNS: readonly {
  readonly sort: SiteSort | undefined;
  readonly name: string;
  readonly kind: string;
}[] = [
  { sort: "site", name: "Site", kind: "site" },
  { sort: "state", name: "State", kind: "state" },
  { sort: "known", name: "Progress", kind: "progress" },
  { sort: "pages", name: "Pages", kind: "number" },
  { sort: "pending", name: "Waiting", kind: "number" },
  { sort: "bytes", name: "Received", kind: "number" },
  { sort: "rate", name: "Rate", kind: "number" },
  { sort: "due", name: "Deadline", kind: "deadline" },
  { sort: undefined, name: "Priority", kind: "number" },
];
const SORT_NAMES: Readonly<Record<SiteSort, string>> = {
  due: "deadline",
  rate: "rate now",
  state: "state",
  site: "name",
  known: "URLs known",
  pending: "waiting",
  pages: "pages",
  bytes: "bytes received",
};

export class Sites implements View {
  readonly element: HTMLElement;
  readonly #find: HTMLInputElement;
  readonly #sortBox: HTMLSelectElement;
  readonly #count = h("span.soft", { role: "status" });
  readonly #headings = new Map<SiteSort, HTMLElement>();
  readonly #pane: HTMLElement;
  readonly #table: HTMLElement;
  readonly #space = h("div.space");
  readonly #empty = h("p.empty", "No site of that name.");
  readonly #dialog = new SiteDialog();
  readonly #rows = new Map<number, SiteRow>();
  readonly #spare: SiteRow[] = [];
  readonly #pages = new Map<number, readonly SiteLine[]>();
  readonly #asked = new Map<number, number>();
  readonly #isSmall = window.matchMedia("(max-width: 760px)");
  #sort: SiteSort = "due";
  #descending = true;
  #total = 0;
  #generation = 0;
  #look: Look | undefined;
  #findTimer = 0;

  constructor() {
    this.#find = h("input", {
      type: "search",
      placeholder: "Find a site",
      "aria-label": "Find a site",
      autocomplete: "off",
      input: () => this.#findSoon(),
    });
    this.#sortBox = h(
      "select",
      { "aria-label": "Order by", change: () => this.#sortBy(this.#sortBox.value as SiteSort) },
      ...SITE_SORTS.map((sort) => h("option", { value: sort }, `by ${SORT_NAMES[sort]}`)),
    );
    this.#pane = h(
      "div.rows",
      { role: "rowgroup", tabindex: 0, "aria-label": "Sites", scroll: () => this.#draw() },
      this.#space,
    );
    this.#table = h(
      "div.table.card",
      { role: "table", "aria-label": "Sites" },
      this.#headRow(),
      this.#pane,
      this.#empty,
    );
    const tools = h("div.toolbar", this.#find, this.#sortBox, this.#count);
    this.element = h("div.sites", tools, this.#table, this.#dialog.element);
    this.#isSmall.addEventListener("change", () => this.#draw());
    new ResizeObserver(() => this.#draw()).observe(this.#pane);
    this.#markSort();
  }

  show(look: Look): void {
    this.#look = look;
    this.#dialog.show(look);
    void this.#refresh();
  }

  /** Goes to the find box with `/`, and from site to site with j and k. */
  key(event: KeyboardEvent): boolean {
    if (event.key === "/") {
      this.#find.focus();
      return true;
    }
    const step = event.key === "j" ? 1 : event.key === "k" ? -1 : 0;
    if (step === 0) return false;
    const focused = [...this.#rows].find(([, row]) => row.element.contains(document.activeElement));
    const target = focused === undefined ? this.#firstInSight() : focused[0] + step;
    this.#focusRow(target);
    return true;
  }

  #headRow(): HTMLElement {
    const row = h("div.row.head-row", { role: "row", "aria-rowindex": 1 });
    for (const { sort, name, kind } of COLUMNS) {
      const cell = h("span", { role: "columnheader", class: kind });
      if (sort === undefined) say(cell, name);
      else {
        cell.append(h("button.quiet", { click: () => this.#sortBy(sort) }, name));
        this.#headings.set(sort, cell);
      }
      row.append(cell);
    }
    return h("div", { role: "rowgroup" }, row);
  }

  #sortBy(sort: SiteSort): void {
    this.#descending = sort === this.#sort ? !this.#descending : sort !== "site";
    this.#sort = sort;
    this.#markSort();
    this.#forget();
  }

  #markSort(): void {
    this.#sortBox.value = this.#sort;
    for (const [sort, cell] of this.#headings) {
      const order = sort !== this.#sort ? "none" : this.#descending ? "descending" : "ascending";
      cell.setAttribute("aria-sort", order);
    }
  }

  #findSoon(): void {
    window.clearTimeout(this.#findTimer);
    this.#findTimer = window.setTimeout(() => this.#forget(), FIND_MS);
  }

  /** Drops pages of an earlier request. */
  #forget(): void {
    this.#generation += 1;
    this.#pages.clear();
    this.#asked.clear();
    this.#pane.scrollTop = 0;
    this.#draw();
    void this.#askPage(0);
  }

  async #refresh(): Promise<void> {
    const { from, until } = this.#inSight();
    const pages = this.#total === 0 ? [0] : pagesOf(from, until, ROWS_PER_PAGE);
    const isDue = (page: number): boolean =>
      performance.now() - (this.#asked.get(page) ?? -Infinity) >= REFRESH_MS;
    await Promise.all(pages.filter(isDue).map((page) => this.#askPage(page)));
  }

  async #askPage(page: number): Promise<void> {
    const generation = this.#generation;
    this.#asked.set(page, performance.now());
    const answer = await ask<SitesAnswer>("sites", {
      sort: this.#sort,
      descending: this.#descending,
      find: this.#find.value.trim(),
      from: page * ROWS_PER_PAGE,
      count: ROWS_PER_PAGE,
    });
    if (generation !== this.#generation) return;
    this.#pages.set(page, answer.lines);
    this.#total = answer.total;
    say(this.#count, answer.total === 1 ? "1 site" : `${showCount(answer.total)} sites`);
    this.#table.setAttribute("aria-rowcount", String(answer.total + 1));
    toggle(this.#empty, answer.total === 0);
    this.#draw();
  }

  get #rowPixels(): number {
    return this.#isSmall.matches ? ROW_PIXELS_SMALL : ROW_PIXELS;
  }

  #inSight(): { readonly from: number; readonly until: number } {
    return rowsInSight({
      scrollTop: this.#pane.scrollTop,
      heightPixels: this.#pane.clientHeight,
      rowPixels: this.#rowPixels,
      rowCount: Math.min(ROWS_MAX, this.#total),
    });
  }

  #draw(): void {
    const rowPixels = this.#rowPixels;
    const heightPixels = Math.min(ROWS_MAX, this.#total) * rowPixels;
    this.#space.style.height = `${heightPixels}px`;
    this.#pane.style.height = `${heightPixels}px`;
    const { from, until } = this.#inSight();
    for (const [index, row] of this.#rows) {
      if (index >= from && index < until) continue;
      this.#rows.delete(index);
      row.element.remove();
      this.#spare.push(row);
    }
    for (let index = from; index < until; index++) this.#drawRow(index, rowPixels);
    for (const page of pagesOf(from, until, ROWS_PER_PAGE))
      if (!this.#asked.has(page)) void this.#askPage(page);
  }

  #drawRow(index: number, rowPixels: number): void {
    let row = this.#rows.get(index);
    if (row === undefined) {
      row = this.#spare.pop() ?? new SiteRow({ open: (site) => void this.#dialog.open(site) });
      this.#rows.set(index, row);
      this.#space.append(row.element);
    }
    row.element.style.transform = `translateY(${index * rowPixels}px)`;
    const line = this.#pages.get(Math.floor(index / ROWS_PER_PAGE))?.[index % ROWS_PER_PAGE];
    row.fill(index, line, this.#look?.isRunning === true);
  }

  #firstInSight(): number {
    return Math.ceil(this.#pane.scrollTop / this.#rowPixels);
  }

  #focusRow(index: number): void {
    const target = Math.max(0, Math.min(this.#total - 1, index));
    const top = target * this.#rowPixels;
    const { scrollTop, clientHeight } = this.#pane;
    if (top < scrollTop) this.#pane.scrollTop = top;
    else if (top + this.#rowPixels > scrollTop + clientHeight)
      this.#pane.scrollTop = top + this.#rowPixels - clientHeight;
    this.#draw();
    this.#rows.get(target)?.focus();
  }
}
