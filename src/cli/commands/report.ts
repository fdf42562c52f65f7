/** `weir report DIR`: a crawl on one page of HTML, running or not. */

import { visible } from "../../base/visible.ts";
import type { FieldTable } from "../../config/field.ts";
import { words as someWords } from "../../config/readers.ts";
import { SETTINGS } from "../../config/schema.ts";
import { readArgs } from "../args.ts";
import { refuseSeveral } from "../crawl-list.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Command } from "../help.ts";
import { writeReport } from "../report-file.ts";

const FLAGS = {
  outFile: {
    key: "out",
    meaning: "Output file. By default report.html in DIR.",
    reader: someWords("FILE", "the name of a file"),
  },
  speedsFile: {
    key: "speeds",
    meaning: "The speeds file of the crawl, if it was given one.",
    reader: someWords("FILE", "the name of a file"),
  },
  referenceFolder: SETTINGS.referenceFolder,
} as const satisfies FieldTable;

export const command: Command = {
  run,
  page: {
    usage: "weir report DIR [--out FILE] [--speeds FILE] [--reference DIR]",
    about:
      "Writes a one-page HTML report: rate against limit and prediction, deadlines, processes, topics, bytes by purpose, server speeds by hour, sites, outcomes, problems and settings, each explained. The page is self-contained, without scripts, and printable. `weir crawl` writes one when it ends.",
    examples: [
      ["weir report weir-data/example.org", "writes weir-data/example.org/report.html"],
      ["weir report weir-data/example.org --out crawl.html", "to a file of your choice"],
    ],
    groups: { Flags: FLAGS },
  },
};

async function run(words: readonly string[]): Promise<ExitCode> {
  const { positional, flags } = readArgs(words, ["DIR"], FLAGS);
  const [folder = ""] = positional;
  await refuseSeveral(folder, "weir report");
  const file = await writeReport({ folder, ...flags });
  process.stdout.write(`${visible(file, 300)} is written.\n`);
  return EXIT.done;
}
