/** `weir topics train | eval | classify`: make, test and try a classifier of pages. */

import { CrawlError } from "../../base/errors.ts";
import { visible } from "../../base/visible.ts";
import { suggestion } from "../../config/nearest.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { Command } from "../help.ts";
import { classify } from "../topics-classify.ts";
import { evaluate } from "../topics-eval.ts";
import { CLASSIFY_FLAGS, EVAL_FLAGS, TRAIN_FLAGS } from "../topics-flags.ts";
import { train } from "../topics-train.ts";

const VERBS = ["train", "eval", "classify"];

export const command: Command = {
  run,
  page: {
    usage:
      "weir topics train FILE… [--out MODEL] [--method NAME]\nweir topics eval FILE… [--model MODEL | --split METHOD] [--svg FILE]\nweir topics classify FILE… [--model MODEL]",
    about:
      'Trains, tests and uses a page classifier. Examples are JSON lines, {"topic":"sports","text":"…"} or {"topic":"sports","html":"…"}, plain or compressed with gzip, zstd or xz. Pages to classify are files of HTML or text, or - for standard input. Weir comes with a model for English pages and 15 topics.',
    examples: [
      ["weir topics classify page.html", "topic by the included model"],
      ["weir topics train pages.jsonl.gz --out mine.model", "train a model on your topics"],
      [
        "weir topics eval others.jsonl --model mine.model --svg confusion.svg",
        "accuracy of a model",
      ],
      ["weir topics eval pages.jsonl --split naive-bayes", "accuracy of a method of the paper"],
    ],
    groups: {
      "Flags of train": TRAIN_FLAGS,
      "Flags of eval": EVAL_FLAGS,
      "Flags of classify": CLASSIFY_FLAGS,
    },
  },
};

async function run(words: readonly string[]): Promise<ExitCode> {
  const [verb, ...rest] = words;
  if (verb === "train") return train(rest);
  if (verb === "eval") return evaluate(rest);
  if (verb === "classify") return classify(rest);
  if (verb === undefined || verb.startsWith("-"))
    throw new CrawlError("USAGE", "Subcommand missing: weir topics train, eval or classify");
  const hint = suggestion(verb, VERBS);
  const shown = JSON.stringify(visible(verb, 80));
  throw new CrawlError("USAGE", `weir topics has train, eval and classify, not ${shown}${hint}`);
}
