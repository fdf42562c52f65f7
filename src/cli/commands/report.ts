/** `weir report DIR`: a crawl on one page of HTML, running or not. */

import { visible } from "../../base/visible.ts";
import type { FieldTable } from "../../config/field.ts";
import { words as someWords } from "../../config/readers.ts";
import { SETTINGS } from "../../config/schema.ts";
import { readArgs } from "../args.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { commandHelp } from "../help.ts";
import { writeReport } from "../report-file.ts";
import type { Command } from "../run.ts";

const FLAGS = {
  outFile: {
    key: "out",
    meaning: "Where to; report.html in DIR without it.",
    fallback: undefined,
    reader: someWords("FILE", "the name of a file"),
  },
  speedsFile: {
    key: "speeds",
    meaning: "The file of servers' speeds, when the crawl was given one of its own.",
    fallback: undefined,
    reader: someWords("FILE", "the name of a file"),
  },
  referenceFolder: SETTINGS.referenceFolder,
} as const satisfies FieldTable;

export const command: Command = { help, run };

function help(): string {
  return commandHelp({
    usage: "weir report DIR [--out FILE] [--speeds FILE] [--reference DIR]",
    about:
      "Puts a crawl on one page: its rate against the limit and the prediction, deadlines, processes and topics, what the bytes were for, the speed of servers by hour, sites, outcomes, troubles and settings, each with what it means. The page needs nothing else, holds no script and prints well. `weir crawl` writes one when it ends.",
    examples: [
      ["weir report weir-data/example.org", "writes weir-data/example.org/report.html"],
      ["weir report weir-data/example.org --out crawl.html", "to be sent to somebody"],
    ],
    groups: { Flags: FLAGS },
  });
}

async function run(words: readonly string[]): Promise<ExitCode> {
  const { positional, flags } = readArgs(words, ["DIR"], FLAGS);
  const [folder = ""] = positional;
  const file = await writeReport({ folder, ...flags });
  process.stdout.write(`${visible(file, 300)} is written.\n`);
  return EXIT.done;
}
