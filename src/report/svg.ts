/**
 * Writes SVG as text: elements, escaped words, and the one look that all our pictures have.
 *
 * A picture carries its own style, with colours for light and dark surroundings, so that it looks
 * right in a report, in a document and alone. It holds no script and asks for nothing from outside.
 * Names from the web pass `visible` first: some control characters are not allowed in XML at all.
 */

import { visible } from "../base/visible.ts";

const TEXT_CHARACTERS_MAX = 200;
/** Of the letters used here, on average; pictures are laid out without asking a browser. */
const LETTER_WIDTH = 0.6;

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escaped(text: string, charactersMax = TEXT_CHARACTERS_MAX): string {
  return visible(text, charactersMax).replaceAll(/[&<>"']/g, (letter) => ESCAPES[letter] ?? "");
}

export type Attributes = Readonly<Record<string, string | number>>;

/** `inside` is markup already; words go through `escaped` or `label`. */
export function element(name: string, attributes: Attributes, inside = ""): string {
  const written = Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${attributeText(value)}"`)
    .join("");
  return inside === "" ? `<${name}${written}/>` : `<${name}${written}>${inside}</${name}>`;
}

function attributeText(value: string | number): string {
  return typeof value === "number" ? short(value) : escaped(value, Infinity);
}

export function label(words: string, attributes: Attributes): string {
  return element("text", attributes, escaped(words));
}

/** What a mouse that rests on it is told. */
export function hint(words: string): string {
  return element("title", {}, escaped(words));
}

/** A tenth of a pixel is finer than anybody sees. */
export function short(number: number): string {
  return String(Math.round(number * 10) / 10);
}

export function widthOf(words: string, fontPixels: number): number {
  return Math.min(words.length, TEXT_CHARACTERS_MAX) * fontPixels * LETTER_WIDTH;
}

export interface Sheet {
  readonly title: string;
  readonly width: number;
  readonly height: number;
}

/** The whole picture, with its title at the top left. */
export function picture({ title, width, height }: Sheet, inside: readonly string[]): string {
  const attributes = {
    xmlns: "http://www.w3.org/2000/svg",
    class: "weir",
    viewBox: `0 0 ${short(width)} ${short(height)}`,
    width,
    height,
    role: "img",
    "aria-label": title,
  };
  return element(
    "svg",
    attributes,
    [
      `<style>${STYLE}</style>`,
      element("rect", { class: "paper", width, height, rx: 6 }),
      label(title, { class: "title", x: 14, y: 22 }),
      ...inside,
    ].join("\n"),
  );
}

/** How many colours the style has for lines and bars. */
export const COLOURS = 6;

// Colours that most colour-blind people can tell apart: Okabe and Ito, "Color Universal Design",
// a little darker on white and lighter on black.
const STYLE = `
.weir{--paper:#fff;--ink:#1f2530;--soft:#687080;--grid:#e4e7ec;--limit:#c2341d;--empty:#f1f3f6;
--c0:#0072b2;--c1:#d55e00;--c2:#008f68;--c3:#a6568c;--c4:#3a8fc7;--c5:#9a7d00;
font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
@media (prefers-color-scheme:dark){.weir{--paper:#171b22;--ink:#e6e9ee;--soft:#98a1b0;--grid:#2b313c;
--limit:#ff7a62;--empty:#20262f;--c0:#5cb3ec;--c1:#ff9a4d;--c2:#3fcf9f;--c3:#e39ac4;--c4:#8fd0f7;
--c5:#e5c84a}}
.weir .paper{fill:var(--paper)}.weir text{fill:var(--ink)}.weir .soft{fill:var(--soft)}
.weir .title{font-size:14px;font-weight:600}.weir .end{text-anchor:end}
.weir .middle{text-anchor:middle}.weir .grid{stroke:var(--grid);fill:none}
.weir .empty{fill:var(--empty)}.weir .unmeasured{fill:var(--empty);stroke:var(--soft);stroke-dasharray:2 2;stroke-width:.7}.weir .line{fill:none;stroke-width:1.5;stroke-linejoin:round}
.weir .dotted{stroke-dasharray:2 3}
.weir .limit{stroke:var(--limit);stroke-width:2;stroke-dasharray:7 4}
${Array.from({ length: COLOURS }, (_, n) => `.weir .s${n}{stroke:var(--c${n})}.weir .f${n}{fill:var(--c${n})}`).join("\n")}
`;
