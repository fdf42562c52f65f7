/** `weir topics classify`: the topics of single pages, from files or from standard input. */

import { readFileSync } from "node:fs";
import { CrawlError } from "../base/errors.ts";
import { visible } from "../base/visible.ts";
import { loadTopicModel } from "../config/topic-model.ts";
import { detectCharset, toUtf8 } from "../page/charset.ts";
import { judgeBody } from "../page/sniff.ts";
import { Classifier, type Verdict } from "../topics/classify.ts";
import { readArgs } from "./args.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { alignedTable, type Row } from "./row-table.ts";
import { CLASSIFY_FLAGS } from "./topics-flags.ts";

const STANDARD_INPUT = "-";
const CHOICES_SHOWN = 3;

interface Answer {
  readonly file: string;
  readonly verdict: Verdict;
  /** The likeliest topics with their probabilities, the likeliest first. */
  readonly likely: readonly (readonly [topic: string, probability: number])[];
}

export function classify(words: readonly string[]): ExitCode {
  const { positional, flags } = readArgs(words, ["FILE…"], CLASSIFY_FLAGS);
  const model = loadTopicModel(flags.modelFile);
  const classifier = new Classifier(model, flags.anyLanguage ? { languages: "any" } : undefined);
  const answers = positional.map((file) => answerFor(file, classifier));
  if (flags.json) {
    const pages = answers.map(({ file, verdict, likely }) => ({
      file,
      topic: verdict.kind === "topic" ? verdict.name : null,
      confidence: verdict.kind === "topic" ? verdict.confidence : null,
      language: verdict.language ?? null,
      terms: verdict.terms,
      kind: verdict.kind,
      likely: Object.fromEntries(likely),
    }));
    process.stdout.write(`${JSON.stringify({ model: model.digest, pages })}\n`);
  } else process.stdout.write(`${alignedTable(answers.map(rowOf))}\n`);
  return EXIT.done;
}

function answerFor(file: string, classifier: Classifier): Answer {
  const body = read(file);
  const page = toUtf8(body, detectCharset(body, undefined).name);
  const isHtml = judgeBody(undefined, body) === "html";
  const verdict = isHtml ? classifier.ofHtml(page) : classifier.ofText(page);
  const { topics } = classifier.model.trained;
  const likely =
    verdict.kind === "topic"
      ? Array.from(
          classifier.probabilities,
          (share, topic) => [topics[topic] ?? "", share] as const,
        )
          .toSorted(([, a], [, b]) => b - a)
          .slice(0, CHOICES_SHOWN)
      : [];
  return { file, verdict, likely };
}

function rowOf({ file, verdict, likely }: Answer): Row {
  const sure = likely.map(
    ([topic, share]) => `${visible(topic, 40)} ${(100 * share).toFixed(0)} %`,
  );
  return {
    file: visible(file, 80),
    topic: verdict.kind === "topic" ? visible(verdict.name, 40) : whyNot(verdict),
    language: verdict.language ?? "unknown",
    terms: verdict.terms,
    likely: sure.join(", "),
  };
}

function whyNot(verdict: Verdict): string {
  return verdict.kind === "small" ? "(too small)" : "(other language)";
}

function read(file: string): Uint8Array {
  try {
    return readFileSync(file === STANDARD_INPUT ? 0 : file);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CrawlError("FILE_UNREADABLE", `Cannot read ${visible(file, 200)}: ${why}`, {
      cause: error,
    });
  }
}
