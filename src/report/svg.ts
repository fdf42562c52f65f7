/**
 * Writes SVG as text: elements, escaped text and the common style of all pictures.
 *
 * A picture contains its own style for light and dark mode, so it looks the same in a report, in a
 * document and alone. It contains no script and loads no external resource. Foreign text passes
 * `visible` first, because XML forbids some control characters.
 */

import { visible } from "../base/visible.ts";

const TEXT_CHARACTERS_MAX = 200;
/** Average width of a letter as a share of the font size; layout happens without a browser. */
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

/** `inside` is markup; text must pass through `escaped` or `label` first. */
export function element(name: string, attributes: Attributes, inside = ""): string {
  const written = Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${attributeText(value)}"`)
    .join("");
  return inside === "" ? `<${name}${written}/>` : `<${name}${written}>${inside}</${name}>`;
}

function attributeText(value: string | number): string {
  return typeof value === "number" ? short(value) : escaped(value, Infinity);
}

export function label(text: string, attributes: Attributes): string {
  return element("text", attributes, escaped(text));
}

/** Tooltip of the enclosing element. */
export function hint(text: string): string {
  return element("title", {}, escaped(text));
}

/** Rounds to a tenth of a pixel, which is finer than visible. */
export function short(number: number): string {
  return String(Math.round(number * 10) / 10);
}

export function widthOf(text: string, fontPixels: number): number {
  return Math.min(text.length, TEXT_CHARACTERS_MAX) * fontPixels * LETTER_WIDTH;
}

interface Sheet {
  readonly title: string;
  readonly width: number;
  readonly height: number;
}

/** Returns the complete SVG document with its title at the top left. */
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

/** Number of colours in the style for lines and bars. */
export const COLOURS = 6;

// Colours that most colour-blind people can distinguish: Okabe and Ito, "Color Universal Design",
// darkened on white and lightened on black.
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
