/**
 * Writes what is generated from the code: the pages of the reference (settings, errors, commands, metrics, reasons,
 * API), and the hover texts of settings, which are not committed.
 *
 * `--check` writes nothing and ends with 1 when a page differs from what it would write.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { REMEDIES } from "../src/base/errors.ts";
import {
  expectationOf,
  type FieldTable,
  flagOf,
  isList,
  isSwitch,
  variableOf,
} from "../src/config/field.ts";
import { GROUPS, SITE_SETTINGS } from "../src/config/schema.ts";
import { PHASES } from "../src/crawl/requests.ts";
import { SITE_STATES } from "../src/crawl/site.ts";
import { apiPages } from "./api-pages.ts";
import { writeSettingOptions } from "./setting-options.ts";
import { commandsPage, metricsPage, reasonsPage } from "./reference-pages.ts";
import { asMarkdown, filled } from "./prose.ts";

const MADE = "<!-- Made by `npm run docs` from the tables in the code. Changes here are lost. -->";

const checking = process.argv.includes("--check");
// First, because the API pages are made from the declarations of all types.
writeSettingOptions();
finish({
  "docs/settings.md": settingsPage(),
  "docs/errors.md": errorsPage(),
  "docs/commands.md": await commandsPage(MADE),
  "docs/metrics.md": metricsPage(MADE),
  "docs/reasons.md": reasonsPage(MADE),
  ...apiPages(MADE.replace("tables", "doc comments")),
  "ARCHITECTURE.md": withDiagrams(readOrEmpty("ARCHITECTURE.md"), {
    "PHASES of src/crawl/requests.ts": PHASES,
    "SITE_STATES of src/crawl/site.ts": SITE_STATES,
  }),
});

/** Draws each table of transitions at its place, between two comments. */
function withDiagrams(page: string, tables: Readonly<Record<string, Transitions>>): string {
  let drawn = page;
  for (const [name, table] of Object.entries(tables)) {
    const [before, rest = ""] = drawn.split(`<!-- diagram: ${name} -->\n`);
    const after = rest.split("<!-- end of diagram -->").slice(1).join("<!-- end of diagram -->");
    drawn = `${before}<!-- diagram: ${name} -->\n${diagramOf(table)}<!-- end of diagram -->${after}`;
  }
  return drawn;
}

type Transitions = Readonly<Record<string, readonly string[]>>;

function diagramOf(table: Transitions): string {
  const idOf = (state: string): string => state.replaceAll("-", "_");
  const states = Object.keys(table);
  const names = states
    .filter((state) => idOf(state) !== state)
    .map((state) => `    state "${state}" as ${idOf(state)}`);
  const arrows = states.flatMap((from) =>
    (table[from] ?? []).map((to) => `    ${idOf(from)} --> ${idOf(to)}`),
  );
  const lines = ["stateDiagram-v2", ...names, `    [*] --> ${idOf(states[0] ?? "")}`, ...arrows];
  return `\n\`\`\`mermaid\n${lines.join("\n")}\n\`\`\`\n\n`;
}

function finish(pages: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(pages)) {
    if (!checking) writeFileSync(file, text);
    else if (readOrEmpty(file) !== text) {
      console.error(`${file} differs from the code; run \`npm run docs\``);
      process.exitCode = 1;
    }
  }
}

function settingsPage(): string {
  const parts = [
    "# Settings",
    MADE,
    "A flag overrides an environment variable, that a file (`--config weir.yaml`), and that the default.\n" +
      "Sizes: `KB MB GB` are powers of 1000, `KiB MiB GiB` of 1024; rates end in `/s`, also `kbit/s Mbit/s`.\n" +
      "Durations: `500ms 30s 15m 2h 1d`. A switch is turned off with `--no-` or `false`.\n" +
      "Give lists by repeating the flag, as a YAML list, or separated by spaces.",
  ];
  for (const [title, table] of Object.entries<FieldTable>(GROUPS)) {
    parts.push(`## ${title}`);
    for (const [name, field] of Object.entries(table)) parts.push(entry(name, field));
  }
  parts.push(
    "## Sites",
    "Only in a file: `sites:` is a list of seeds, each with settings of its own site.",
    "```yaml\nscope: domain\nlimit: 2MB/s\nquota: 20GB/month\nsites:\n  - url: https://news.example/\n    delay: 2s\n    concurrency: 1\n    limit: 500KB/s\n  - https://docs.example/\n```",
  );
  for (const field of Object.values<FieldTable[string]>(SITE_SETTINGS))
    parts.push(filled(`**\`${field.key}\`** ${field.meaning} Expects ${expectationOf(field)}.`));
  return `${parts.join("\n\n")}\n`;
}

function entry(name: string, field: FieldTable[string]): string {
  const { placeholder } = field.reader;
  const value = field.alone === undefined ? placeholder : `[${placeholder}]`;
  const flag = isSwitch(field) ? flagOf(field) : `${flagOf(field)} ${value}`;
  const off = isSwitch(field) && field.fallback === "true" ? ` \`--no-${flag.slice(2)}\`` : "";
  const places =
    field.flagOnly === true
      ? "flag only"
      : `\`${field.key}:\` \`${variableOf(field)}\`, in a program \`${name}\``;
  const facts = [
    isSwitch(field) ? undefined : `Expects ${expectationOf(field)}.`,
    field.alone === undefined ? undefined : `Without a value: \`${field.alone}\`.`,
    isList(field) ? "May be given several times." : undefined,
    field.fallback === undefined ? undefined : `Default \`${field.fallback}\`.`,
  ].filter((fact) => fact !== undefined);
  const meaning = asMarkdown([field.meaning, ...facts].join(" "));
  return `### \`${flag}\`${off}\n\n${filled(`${meaning} (${places})`)}`;
}

function errorsPage(): string {
  const intro =
    "Every error that an operator can fix has a code that never changes. It is printed with its cause and\n" +
    "this remedy. Any other error is a bug in Weir; `--verbose` prints its stack trace.";
  const entries = Object.entries(REMEDIES).map(
    ([code, remedy]) => `## ${code}\n\n${filled(remedy)}`,
  );
  return `${["# Errors", MADE, intro, ...entries].join("\n\n")}\n`;
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
