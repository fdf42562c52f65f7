/**
 * Creates elements. All text becomes a text node, through `visible`: no function of this page turns
 * text into markup, and the page's policy forbids it as well.
 */

import { visible } from "../../base/visible.ts";

export type Child = Node | string | number | undefined;
type Listener = (event: Event) => void;
export type Attributes = Readonly<Record<string, string | number | boolean | undefined | Listener>>;

const TEXT_CHARACTERS_MAX = 2000;
const SVG = "http://www.w3.org/2000/svg";

type TagName = keyof HTMLElementTagNameMap;
/** An element with classes, as a style sheet writes it: `p.soft.clip`. */
type Selector = TagName | `${TagName}.${string}`;
type ElementOf<Name> = Name extends `${infer Tag extends TagName}.${string}`
  ? HTMLElementTagNameMap[Tag]
  : Name extends TagName
    ? HTMLElementTagNameMap[Name]
    : never;

/**
 * An element with its attributes, if there are any besides classes, and its children. An attribute that is false or
 * undefined is left out; a function listens to its event.
 */
export function h<Name extends Selector>(
  selector: Name,
  ...parts: readonly [Attributes, ...Child[]] | readonly Child[]
): ElementOf<Name> {
  const [tag = "", ...classes] = selector.split(".");
  const element = document.createElement(tag);
  if (classes.length > 0) element.className = classes.join(" ");
  // By default a button would submit its form.
  if (element instanceof HTMLButtonElement) element.type = "button";
  const all: readonly (Attributes | Child)[] = parts;
  for (const part of all) if (!isChild(part)) setAll(element, part);
  fill(element, ...all.filter(isChild));
  // The name decides which interface an element has.
  return element as unknown as ElementOf<Name>;
}

function isChild(part: Attributes | Child): part is Child {
  return typeof part !== "object" || part instanceof Node;
}

/** A card with a heading, and beside that a note or a control. */
export function card(title: Child, aside: Child, ...body: readonly Child[]): HTMLElement {
  const heading = title instanceof Node ? title : h("h2", title);
  return h("section.card", h("div.card-head", heading, aside), ...body);
}

/** A table whose columns from `numbersFrom` on are numbers; the caption is for screen readers. */
export function ledgerTable(
  caption: string,
  columns: readonly string[],
  numbersFrom: number,
  rows: readonly HTMLElement[],
): HTMLElement {
  const heads = columns.map((name, index) =>
    name === ""
      ? h("td")
      : h("th", { scope: "col", class: index >= numbersFrom && "number" }, name),
  );
  return h(
    "table.ledger",
    h("caption.unseen", caption),
    h("thead", h("tr", ...heads)),
    h("tbody", ...rows),
  );
}

export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Name] {
  const element = document.createElementNS(SVG, name);
  setAll(element, attributes);
  fill(element, ...children);
  return element;
}

export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(
    ...children
      .filter((child) => child !== undefined)
      .map((child) => (child instanceof Node ? child : seen(String(child)))),
  );
}

/** Sets the text only if it differs, so that unchanged elements are not drawn again. */
export function say(element: Element, words: string | number): void {
  const text = seen(String(words));
  if (element.textContent !== text) element.textContent = text;
}

/** Shows or hides an element. */
export function toggle(element: HTMLElement, isShown: boolean): void {
  element.hidden = !isShown;
}

/** A link into the web, limited to http and https. */
export function outwards(url: string): HTMLElement {
  const words = h("bdi", { class: "mono" }, url);
  if (!/^https?:\/\//i.test(url)) return words;
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, words);
}

/** Keeps one element per item between calls, in the order of the items. */
export function keyed<Item, Made extends { readonly element: Element }>(
  parent: Element,
  kept: Map<string, Made>,
  items: readonly Item[],
  { keyOf, make, update }: Making<Item, Made>,
): void {
  const before = new Set(kept.keys());
  let place: Element | null = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    before.delete(key);
    let made = kept.get(key);
    if (made === undefined) kept.set(key, (made = make(item)));
    update(made, item);
    if (made.element === place) place = place.nextElementSibling;
    else parent.insertBefore(made.element, place);
  }
  for (const key of before) {
    kept.get(key)?.element.remove();
    kept.delete(key);
  }
}

interface Making<Item, Made> {
  readonly keyOf: (item: Item) => string;
  readonly make: (item: Item) => Made;
  readonly update: (made: Made, item: Item) => void;
}

function seen(text: string): string {
  return visible(text, TEXT_CHARACTERS_MAX);
}

function setAll(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false)
      element.setAttribute(name, visible(String(value), Infinity));
  }
}
