/**
 * `weir lab list` and `weir lab run NAME`: the papers' experiments, repeated with this program on a
 * synthetic web, in virtual time; with tables and pictures.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CrawlError } from "../../base/errors.ts";
import { visible } from "../../base/visible.ts";
import type { FieldTable } from "../../config/field.ts";
import { suggestion } from "../../config/nearest.ts";
import { integer, words as someWords } from "../../config/readers.ts";
import type { Experiment, ExperimentOptions, Findings } from "../../lab/experiments/experiment.ts";
import { EXPERIMENTS } from "../../lab/experiments/registry.ts";
import { linePlot } from "../../report/line-plot.ts";
import { plural } from "../amounts.ts";
import { JSON_FLAG, readArgs } from "../args.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { type Command, wrapped } from "../help.ts";
import { alignedTable, csvTable, markdownTable } from "../row-table.ts";

const RUN_FLAGS = {
  outFolder: {
    key: "out",
    meaning: "Folder for the tables and pictures. By default weir-data/lab/NAME.",
    reader: someWords("DIR", "the name of a folder"),
  },
  seed: {
    key: "seed",
    meaning: "Seed of the synthetic webs; the same seed gives the same figures.",
    fallback: "1",
    reader: integer({ least: 1, most: 1_000_000 }),
  },
  runs: {
    key: "runs",
    meaning: "Number of synthetic webs; figures are means over them.",
    fallback: "3",
    reader: integer({ least: 1, most: 1000 }),
  },
  pages: {
    key: "pages",
    meaning: "Pages of the synthetic web in the parallel experiments.",
    reader: integer({ least: 1000, most: 20_000_000 }),
  },
  dataFolder: {
    key: "data",
    meaning: "Folder with real link graphs for the parallel experiments.",
    reader: someWords("DIR", "the name of a folder"),
  },
  ...JSON_FLAG,
} as const satisfies FieldTable;

const VERBS = ["list", "run"];
const COLUMNS = 92;

export const command: Command = {
  run,
  page: {
    usage:
      "weir lab list [--json]\nweir lab run NAME [--out DIR] [--seed N] [--runs N] [--pages N] [--data DIR] [--json]",
    about:
      "Repeats the experiments of the papers behind Weir, with the production code on a synthetic web. Time is virtual: minutes of crawling take seconds, and the same seed gives the same figures on every machine.",
    examples: [
      ["weir lab list", "list the experiments"],
      ["weir lab run bandwidth-prediction --runs 1", "a table and pictures in weir-data/lab"],
      [
        "weir lab run parallel-firewall --seed 7 --runs 1 --pages 5000 --json",
        "the result as JSON",
      ],
    ],
    groups: { "Flags of run": RUN_FLAGS },
    ending: `Experiments: ${EXPERIMENTS.map(({ name }) => name).join(", ")}.`,
  },
};

async function run(words: readonly string[]): Promise<ExitCode> {
  const [verb, ...rest] = words;
  if (verb === "list") return list(rest);
  if (verb === "run") return runExperiment(rest);
  if (verb === undefined || verb.startsWith("-"))
    throw new CrawlError("USAGE", "Subcommand missing: weir lab list, or weir lab run NAME");
  const hint = suggestion(verb, VERBS);
  throw new CrawlError("USAGE", `weir lab has list and run, not ${quoted(verb)}${hint}`);
}

function list(words: readonly string[]): ExitCode {
  const { flags } = readArgs(words, [], JSON_FLAG);
  if (flags.json) {
    const known = EXPERIMENTS.map(({ name, paper, about }) => ({ name, paper, about }));
    process.stdout.write(`${JSON.stringify({ experiments: known })}\n`);
    return EXIT.done;
  }
  const lines = EXPERIMENTS.flatMap(({ name, paper, about }) => [
    name,
    ...wrapped(about, COLUMNS).map((line) => `  ${line}`),
    ...wrapped(`(${paper})`, COLUMNS).map((line) => `  ${line}`),
    "",
  ]);
  process.stdout.write(`${lines.join("\n")}\nweir lab run NAME runs one.\n`);
  return EXIT.done;
}

async function runExperiment(words: readonly string[]): Promise<ExitCode> {
  const { positional, flags } = readArgs(words, ["NAME"], RUN_FLAGS);
  const experiment = experimentCalled(positional[0] ?? "");
  const { seed, runs, pages, dataFolder } = flags;
  const options = {
    seed,
    runs,
    ...(pages === undefined ? {} : { pages }),
    ...(dataFolder === undefined ? {} : { dataFolder }),
  };
  if (!flags.json)
    process.stderr.write(`${experiment.name} in ${plural(runs, "world")}, seed ${seed} …\n`);
  const findings = await experiment.run(options);
  const folder = flags.outFolder ?? join("weir-data", "lab", experiment.name);
  const files = writeFindings(experiment, options, findings, folder);
  if (flags.json)
    process.stdout.write(`${JSON.stringify(resultOf(experiment, options, findings, files))}\n`);
  else process.stdout.write(`${alignedTable(findings.rows)}\n\n${files.join("\n")}\n`);
  return EXIT.done;
}

function experimentCalled(name: string): Experiment {
  const found = EXPERIMENTS.find((experiment) => experiment.name === name);
  if (found !== undefined) return found;
  const names = EXPERIMENTS.map((experiment) => experiment.name);
  const hint = suggestion(name, names) || `; there are ${names.join(", ")}`;
  throw new CrawlError("USAGE", `There is no experiment ${quoted(name)}${hint}`);
}

/** The names and meanings are fixed. */
function resultOf(
  { name, paper, parameters }: Experiment,
  options: ExperimentOptions,
  { rows }: Findings,
  files: readonly string[],
): object {
  return { experiment: name, paper, parameters: { ...parameters, ...options }, rows, files };
}

/** Writes a table in two formats and every plot as an image; returns their names. */
function writeFindings(
  { name, paper, about, parameters }: Experiment,
  options: ExperimentOptions,
  { rows, plots }: Findings,
  folder: string,
): string[] {
  const held = Object.entries({ ...parameters, ...options }).map(
    ([key, value]) => `${key} ${value}`,
  );
  const pictures = plots.map((plot) => `![${plot.title}](${plot.name}.svg)\n`);
  const table = `${markdownTable(rows)}\n${held.join(", ")}\n`;
  const files: [name: string, text: string][] = [
    [`${name}.md`, `# ${name}\n\n${about}\n\n${paper}.\n\n${table}\n${pictures.join("\n")}`],
    [`${name}.csv`, csvTable(rows)],
    ...plots.map((plot): [string, string] => [`${plot.name}.svg`, linePlot(plot)]),
  ];
  try {
    mkdirSync(folder, { recursive: true });
    for (const [file, text] of files) writeFileSync(join(folder, file), text);
  } catch (error) {
    throw new CrawlError("FOLDER_UNWRITABLE", `${quoted(folder)} cannot be written to`, {
      cause: error,
    });
  }
  return files.map(([file]) => join(folder, file));
}

function quoted(word: string): string {
  return JSON.stringify(visible(word, 80));
}
