/** Builds the HTML parts of a report. Text is escaped here; only Weir's own pictures are inserted as markup. */

import { escaped } from "./svg.ts";

export { showCount as count } from "../base/units.ts";

export type Fact = readonly [name: string, value: string];

/** Empty when the section has no content. */
export function section(heading: string, inside: string): string {
  return inside === "" ? "" : `<section><h2>${escaped(heading)}</h2>${inside}</section>`;
}

export function figure(svg: string): string {
  return `<figure>${svg}</figure>`;
}

export function factList(facts: readonly Fact[]): string {
  const cells = facts.map(
    ([name, value]) => `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>`,
  );
  return `<dl>${cells.join("")}</dl>`;
}

export function note(text: string): string {
  return `<p class="soft">${escaped(text, 600)}</p>`;
}

export function table(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  kind: "numbers" | "counts" | "words" = "numbers",
): string {
  const body = rows.map((cells) => tableRow(cells, "td")).join("\n");
  return `<div class="wide"><table class="${kind}"><thead>${tableRow(names, "th")}</thead><tbody>
${body}</tbody></table></div>`;
}

function tableRow(cells: readonly string[], tag: "td" | "th"): string {
  return `<tr>${cells.map((cell) => `<${tag}>${escaped(cell, 300)}</${tag}>`).join("")}</tr>`;
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

export function withoutScheme(site: string): string {
  return site.replace(/^https?:\/\//, "");
}
