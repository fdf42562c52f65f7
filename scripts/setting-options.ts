/**
 * Generates the interfaces that give every option its hover text in an editor, from the tables of settings.
 *
 * Each member is written out, because the language server of TypeScript 7 shows no text for members of mapped types
 * such as `Partial<…>`. The file is not committed: npm runs this script after each installation of a checkout
 * (`prepare`) and before each build, and so do the tests. docs/settings.md has the same texts for review.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { wrapped } from "../src/cli/help.ts";
import {
  expectationOf,
  type Field,
  type FieldTable,
  flagOf,
  isList,
  isSwitch,
  variableOf,
} from "../src/config/field.ts";
import { amountOf } from "../src/config/program-options.ts";
import { asMarkdown, COLUMNS_MAX } from "./prose.ts";
import { SETTINGS, SITE_SETTINGS } from "../src/config/schema.ts";

const FILE = new URL("../src/config/setting-options.ts", import.meta.url);

if (import.meta.main) writeSettingOptions();

/** Leaves a file alone that is up to date, so that the compiler's cache stays valid. */
export function writeSettingOptions(): void {
  const text = settingOptions();
  let before = "";
  try {
    before = readFileSync(FILE, "utf8");
  } catch {
    // The first time.
  }
  if (text !== before) writeFileSync(FILE, text);
}

function settingOptions(): string {
  const { url: _, ...ofSites } = SITE_SETTINGS;
  return `/**
 * Every setting with its meaning, as editors show it. Made by scripts/setting-options.ts from the tables of settings;
 * changes here are lost.
 */

/* eslint-disable max-lines -- one member for each setting */
import type { Resolved } from "./field.ts";
import type { SETTINGS, SITE_SETTINGS } from "./schema.ts";

type Values = Resolved<typeof SETTINGS>;
type SiteValues = Resolved<typeof SITE_SETTINGS>;

/** Settings of a crawl, all optional. */
export interface SettingOptions {
${membersOf(SETTINGS, "Values", placesOf)}}

/** Settings of one site, in \`sites\`; all optional. */
export interface SiteSettingOptions {
${membersOf(ofSites, "SiteValues", (field) => `weir.yaml, in \`sites\`: \`${field.key}\`, ${expectationOf(field)}.`)}}
`;
}

function membersOf(
  table: FieldTable,
  values: string,
  places: (field: Field<unknown>) => string,
): string {
  return Object.entries(table)
    .map(([name, field]) => {
      const amount = amountOf(name, field);
      const facts = [
        amount === undefined ? undefined : `${amount.replace("a", "A")}.`,
        field.fallback === undefined ? undefined : `Default \`${defaultOf(field)}\`.`,
      ].filter((fact) => fact !== undefined);
      const text = [[asMarkdown(field.meaning), ...facts].join(" "), places(field)];
      return `${comment(text)}  readonly ${name}?: ${values}["${name}"];\n`;
    })
    .join("");
}

function placesOf(field: Field<unknown>): string {
  const flag = isSwitch(field)
    ? `\`${flagOf(field)}\`${field.fallback === "true" ? ` and \`--no-${flagOf(field).slice(2)}\`` : ""}`
    : `\`${flagOf(field)} ${field.reader.placeholder}\`, ${expectationOf(field)}`;
  const often = isList(field) ? " (may be repeated)" : "";
  if (field.flagOnly === true) return `Command line only: ${flag}.`;
  return `Command line: ${flag}${often}; weir.yaml: \`${field.key}\`; environment: \`${variableOf(field)}\`.`;
}

/** As a program writes it. */
function defaultOf({ fallback = "", reader }: Field<unknown>): string {
  return JSON.stringify(reader.read(fallback));
}

function comment(paragraphs: readonly string[]): string {
  const indent = "   * ";
  const lines = paragraphs.flatMap((text, index) => [
    ...(index === 0 ? [] : [""]),
    ...wrapped(text.replaceAll("*/", "*\\/"), COLUMNS_MAX - indent.length),
  ]);
  return `  /**\n${lines.map((line) => `${indent}${line}`.trimEnd()).join("\n")}\n   */\n`;
}
