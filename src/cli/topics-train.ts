/** `weir topics train`: pages with topics in, a model in one file out. */

import { CrawlError } from "../base/errors.ts";
import { showBytes } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import { allPages } from "../topics/examples.ts";
import { decodeModel, encodeModel } from "../topics/model.ts";
import { trainModel } from "../topics/train.ts";
import { plural, showCount } from "./amounts.ts";
import { readArgs } from "./args.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { tallyLines } from "./labelled-pages.ts";
import { gatherExamples } from "./topics-examples.ts";
import { fieldNames, TRAIN_FLAGS } from "./topics-flags.ts";
import { writeOut } from "./write-out.ts";

export async function train(words: readonly string[]): Promise<ExitCode> {
  const { positional, flags } = readArgs(words, ["FILE…"], TRAIN_FLAGS);
  const { examples, tally, small } = await gatherExamples(positional, fieldNames(flags));
  const { method, termsMax, outFile } = flags;
  const training = trainModel(examples, allPages(examples), { method, termsMax });
  if (training.kind === "refused")
    throw new CrawlError("FILE_UNREADABLE", `Nothing can be learned from this: ${training.why}`);
  const { model } = training;
  const file = encodeModel(model);
  writeOut(outFile, file);
  const reading = decodeModel(file);
  const digest = reading.kind === "model" ? reading.model.digest : "";
  if (flags.json) {
    const classes = examples.topics;
    const pages = Object.fromEntries(classes.map((name, at) => [name, model.trainedOn[at] ?? 0]));
    const result = {
      model: outFile,
      digest,
      method,
      classes,
      pages,
      terms: model.trained.table.size,
      bytes: file.length,
      small,
      broken: tally.broken,
    };
    process.stdout.write(`${JSON.stringify(result)}\n`);
  } else {
    const lines = [
      `${plural(examples.count, "page")} of ${plural(examples.topics.length, "topic")}: ${examples.topics.map((name, at) => `${visible(name, 60)} ${showCount(model.trainedOn[at] ?? 0)}`).join(", ")}`,
      ...(small > 0 ? [`${plural(small, "page")} of fewer than 50 terms left out`] : []),
      `${visible(outFile, 300)} is written: ${method}, ${plural(model.trained.table.size, "term")}, ${showBytes(file.length)}, ${digest.slice(0, 16)}`,
    ];
    process.stdout.write(`${lines.join("\n")}\n`);
  }
  for (const line of tallyLines(tally)) process.stderr.write(`${line}\n`);
  return EXIT.done;
}
