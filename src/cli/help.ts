/** `--help`, made from the tables: what there is, in groups, with examples first. */

import { type FieldTable, flagOf, isSwitch } from "../config/field.ts";

const COLUMNS = 96;
const FLAG_COLUMNS = 32;

export interface Page {
  readonly usage: string;
  readonly about: string;
  readonly examples: readonly (readonly [command: string, effect: string])[];
  readonly groups: Readonly<Record<string, FieldTable>>;
  readonly ending?: string;
}

export function generalHelp(
  commands: readonly (readonly [name: string, summary: string])[],
): string {
  return [
    "Weir, a web crawler for people who share a connection and have promises to keep.",
    "",
    "  weir COMMAND …",
    "",
    ...commands.map(([name, summary]) => `  ${name.padEnd(10)}${summary}`),
    "",
    "A first crawl:",
    "",
    "  weir crawl https://example.org/ --pages 100 --contact you@example.org",
    "",
    "  weir COMMAND --help   its flags, with examples",
    "  weir --version        which version this is",
    "",
  ].join("\n");
}

export function commandHelp(page: Page): string {
  const lines = [page.usage, "", ...wrapped(page.about, COLUMNS), "", "Examples:"];
  for (const [command, effect] of page.examples) lines.push(`  ${command}`, `      ${effect}`);
  for (const [title, table] of Object.entries(page.groups)) {
    lines.push("", `${title}:`);
    for (const field of Object.values(table)) lines.push(...flagLines(field));
  }
  if (page.ending !== undefined) lines.push("", ...wrapped(page.ending, COLUMNS));
  return `${lines.join("\n")}\n`;
}

function flagLines(field: FieldTable[string]): string[] {
  const onByDefault = isSwitch(field) && field.fallback === "true";
  const flag = onByDefault ? `--no-${flagOf(field).slice(2)}` : flagOf(field);
  const value =
    field.alone === undefined ? field.reader.placeholder : `[${field.reader.placeholder}]`;
  const head = `  ${flag} ${value}`.trimEnd();
  const fallback = field.fallback === undefined || isSwitch(field) ? "" : ` [${field.fallback}]`;
  const meaning = onByDefault ? `Do not: ${lowerFirst(field.meaning)}` : field.meaning;
  const [first = "", ...rest] = wrapped(meaning + fallback, COLUMNS - FLAG_COLUMNS);
  const indent = " ".repeat(FLAG_COLUMNS);
  const opening =
    head.length < FLAG_COLUMNS - 1 ? [head.padEnd(FLAG_COLUMNS) + first] : [head, indent + first];
  return [...opening, ...rest.map((line) => indent + line)];
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

export function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
