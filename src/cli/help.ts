/** `--help`, made from the tables of settings: examples first, then flags in groups, at the terminal's width. */

import { CrawlError } from "../base/errors.ts";
import { visible } from "../base/visible.ts";
import { type FieldTable, flagOf, isSwitch } from "../config/field.ts";
import { suggestion } from "../config/nearest.ts";
import type { ExitCode } from "./exit-codes.ts";

const COLUMNS_MIN = 40;
const COLUMNS_MAX = 100;
/** If the terminal's width is unknown. */
const COLUMNS_DEFAULT = 80;
/** Widest column of flags, as a share of the line. */
const FLAG_SHARE = 0.36;

/** The topic after `--help`, and the width of the terminal. */
interface HelpRequest {
  /** `all`, the name of a group in lower case, or nothing. */
  readonly topic?: string | undefined;
  readonly columns?: number | undefined;
}

export interface Command {
  readonly page: Page;
  readonly run: (words: readonly string[]) => Promise<ExitCode>;
}

export interface Page {
  readonly usage: string;
  readonly about: string;
  readonly examples: readonly (readonly [command: string, effect: string])[];
  readonly groups: Readonly<Record<string, FieldTable>>;
  /** Names of the settings that help shows without a topic; without this list it shows all. */
  readonly common?: readonly string[];
  readonly ending?: string;
  /** Positional keys with what each expects. */
  readonly keys?: readonly (readonly [key: string, expects: string])[];
}

export function generalHelp(
  commands: readonly (readonly [name: string, summary: string])[],
): string {
  return [
    "Weir, a web crawler with a bandwidth limit and deadlines.",
    "",
    "  weir COMMAND …",
    "",
    ...commands.map(([name, summary]) => `  ${name.padEnd(10)}${summary}`),
    "",
    "A first crawl: weir crawl https://example.org/ --contact you@example.org",
    "",
    "  weir COMMAND --help   flags and examples of a command",
    "  weir --version        version of Weir",
    "",
  ].join("\n");
}

function columnsOf({ columns = COLUMNS_DEFAULT }: HelpRequest): number {
  return Math.min(COLUMNS_MAX, Math.max(COLUMNS_MIN, columns));
}

export function commandHelp(page: Page, request: HelpRequest = {}): string {
  const columns = columnsOf(request);
  const { common, groups } = page;
  const topics = common === undefined ? [] : ["all", ...Object.keys(groups).map(topicOf)];
  const { topic } = request;
  if (topic !== undefined && common !== undefined && !topics.includes(topic))
    throw new CrawlError(
      "USAGE",
      `there is no help on ${JSON.stringify(visible(topic, 80))}${suggestion(topic, topics)}; topics: ${topics.join(", ")}`,
    );
  const isWhole = topic === undefined || topic === "all" || common === undefined;
  const usage = page.usage.split("\n").map((line) => wrapped(line, columns - 4).join("\n    "));
  const lines = [...usage, ""];
  if (isWhole) {
    lines.push(...wrapped(page.about, columns), "", "Examples:");
    for (const [command, effect] of page.examples)
      lines.push(`  ${command}`, ...wrapped(effect, columns - 6).map((line) => `      ${line}`));
  }
  for (const [title, table] of Object.entries(groups)) {
    const names = Object.keys(table).filter((name) =>
      topic === undefined && common !== undefined
        ? common.includes(name)
        : isWhole || topicOf(title) === topic,
    );
    if (names.length === 0) continue;
    lines.push(...(lines.at(-1) === "" ? [] : [""]), `${title}:`);
    for (const name of names) lines.push(...flagLines(table[name], columns));
  }
  if (common !== undefined && topic === undefined)
    lines.push("", ...moreLines(page.usage, topics, columns));
  if (isWhole && page.ending !== undefined) lines.push("", ...wrapped(page.ending, columns));
  if (page.keys !== undefined) lines.push("", "Keys and values:");
  for (const [key, expects] of page.keys ?? [])
    for (const [index, line] of wrapped(expects, columns - 16).entries())
      lines.push(`  ${(index === 0 ? key : "").padEnd(14)}${line}`);
  return `${lines.join("\n")}\n`;
}

function topicOf(title: string): string {
  return title.toLowerCase();
}

function moreLines(usage: string, topics: readonly string[], columns: number): string[] {
  const command = usage.split(" ", 2).join(" ");
  const [all = "", ...groups] = topics;
  return [
    ...wrapped(
      `These are the common flags. ${command} --help ${all} shows every flag, ${command} --help GROUP those of a group:`,
      columns,
    ),
    ...wrapped(groups.join(", "), columns - 2).map((line) => `  ${line}`),
  ];
}

function flagLines(field: FieldTable[string] | undefined, columns: number): string[] {
  if (field === undefined) return [];
  const onByDefault = isSwitch(field) && field.fallback === "true";
  const flag = onByDefault ? `--no-${flagOf(field).slice(2)}` : flagOf(field);
  const value =
    field.alone === undefined ? field.reader.placeholder : `[${field.reader.placeholder}]`;
  const head = `  ${flag} ${value}`.trimEnd();
  const fallback = field.fallback === undefined || isSwitch(field) ? "" : ` [${field.fallback}]`;
  const meaning = onByDefault ? `Do not ${lowerFirst(field.meaning)}` : field.meaning;
  const flagColumns = Math.floor(columns * FLAG_SHARE);
  const [first = "", ...rest] = wrapped(meaning + fallback, columns - flagColumns);
  const indent = " ".repeat(flagColumns);
  const opening =
    head.length < flagColumns - 1 ? [head.padEnd(flagColumns) + first] : [head, indent + first];
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
