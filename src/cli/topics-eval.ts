/** `weir topics eval`: accuracy and speed of a model on pages with known topics. */

import { CrawlError } from "../base/errors.ts";
import { visible } from "../base/visible.ts";
import { loadTopicModel } from "../config/topic-model.ts";
import { heatMap } from "../report/heat-map.ts";
import { Classifier } from "../topics/classify.ts";
import { Evaluation } from "../topics/evaluation.ts";
import { halvesOf } from "../topics/halves.ts";
import { decodeModel, encodeModel, type LoadedModel } from "../topics/model.ts";
import type { MethodName } from "../topics/methods.ts";
import { trainModel } from "../topics/train.ts";
import { showBytes } from "../base/units.ts";
import { plural, showCount } from "./amounts.ts";
import { readArgs } from "./args.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import {
  type FieldNames,
  type LabelledPage,
  type LineTally,
  readLabelledPages,
  tallyLines,
} from "./labelled-pages.ts";
import { alignedTable, type Row } from "./row-table.ts";
import { gatherExamples } from "./topics-examples.ts";
import { EVAL_FLAGS, fieldNames } from "./topics-flags.ts";
import { writeOut } from "./write-out.ts";

const TERMS_MAX = 5_000_000;

interface Judge {
  readonly name: string;
  readonly model: LoadedModel;
  /** Whether a page is used for testing, by its number among those that are not small. */
  readonly isTested: (page: number) => boolean;
}

interface Tested {
  readonly judge: Judge;
  readonly evaluation: Evaluation;
  readonly tally: LineTally;
  readonly small: number;
  readonly unknown: ReadonlyMap<string, number>;
  readonly seconds: number;
  readonly bytes: number;
}

export async function evaluate(words: readonly string[]): Promise<ExitCode> {
  const { positional, flags } = readArgs(words, ["FILE…"], EVAL_FLAGS);
  const names = fieldNames(flags);
  if (flags.split !== undefined && flags.modelFile !== undefined)
    throw new CrawlError("USAGE", "--split trains its own model; leave out --model or --split");
  const judge =
    flags.split === undefined
      ? judgeOf(flags.modelFile)
      : await judgeBySplit(positional, names, { method: flags.split, seed: flags.seed });
  const tested = await test(positional, names, judge);
  if (tested.evaluation.pages === 0)
    throw new CrawlError(
      "FILE_UNREADABLE",
      `No page could be tested: ${leftOut(tested).join("; ") || "there are none"}`,
    );
  if (flags.svgFile !== undefined) draw(tested.evaluation, flags.svgFile);
  if (flags.json) process.stdout.write(`${JSON.stringify(resultOf(tested))}\n`);
  else process.stdout.write(`${linesFor(tested, flags.svgFile).join("\n")}\n`);
  for (const line of tallyLines(tested.tally)) process.stderr.write(`${line}\n`);
  return EXIT.done;
}

function judgeOf(modelFile: string | undefined): Judge {
  const model = loadTopicModel(modelFile);
  return { name: modelFile ?? "topics-en", model, isTested: () => true };
}

/** Trains on one half; the model is encoded and decoded before it is tested. */
async function judgeBySplit(
  files: readonly string[],
  names: FieldNames,
  { method, seed }: { readonly method: MethodName; readonly seed: number },
): Promise<Judge> {
  const { examples } = await gatherExamples(files, names);
  const halves = halvesOf(examples, seed);
  const training = trainModel(examples, halves.train, { method, termsMax: TERMS_MAX });
  const why = training.kind === "refused" ? training.why : undefined;
  const reading = training.kind === "model" ? decodeModel(encodeModel(training.model)) : undefined;
  if (reading?.kind !== "model")
    throw new CrawlError("FILE_UNREADABLE", `Nothing can be learned from half of this: ${why}`);
  const tested = new Set(halves.test);
  return {
    name: `${method}, half of each topic`,
    model: reading.model,
    isTested: (page) => tested.has(page),
  };
}

async function test(files: readonly string[], names: FieldNames, judge: Judge): Promise<Tested> {
  const { topics } = judge.model.trained;
  const evaluation = new Evaluation(topics);
  const classifier = new Classifier(judge.model, { languages: "any" });
  const unknown = new Map<string, number>();
  let page = 0;
  let small = 0;
  let bytes = 0;
  let elapsedMs = 0;
  const take = ({ topic, kind, body }: LabelledPage): void => {
    const truth = topics.indexOf(topic);
    if (truth < 0) unknown.set(topic, (unknown.get(topic) ?? 0) + 1);
    const begunMs = performance.now();
    const verdict = kind === "html" ? classifier.ofHtml(body) : classifier.ofText(body);
    const tookMs = performance.now() - begunMs;
    if (verdict.kind !== "topic") {
      small += 1;
      return;
    }
    page += 1;
    if (truth < 0 || !judge.isTested(page - 1)) return;
    elapsedMs += tookMs;
    bytes += body.length;
    evaluation.add(truth, verdict.topic, verdict.confidence);
  };
  const tally = await readLabelledPages(files, names, take);
  return { judge, evaluation, tally, small, unknown, seconds: elapsedMs / 1000, bytes };
}

function leftOut({ small, unknown }: Tested): string[] {
  const notes: string[] = [];
  if (small > 0) notes.push(`${plural(small, "page")} of fewer than 50 terms left out`);
  const foreign = [...unknown];
  if (foreign.length === 0) return notes;
  const count = foreign.reduce((sum, [, pages]) => sum + pages, 0);
  const shown = foreign.slice(0, 5).map(([name]) => JSON.stringify(visible(name, 40)));
  const more = foreign.length > shown.length ? " …" : "";
  return [
    ...notes,
    `${plural(count, "page")} of topics the model does not have left out: ${shown.join(", ")}${more}`,
  ];
}

/** The names and meanings of the first fields are fixed. */
function resultOf(tested: Tested): object {
  const { judge, evaluation, tally, small, unknown, seconds, bytes } = tested;
  const [low, high] = evaluation.accuracyInterval;
  return {
    model: judge.name,
    classes: evaluation.topics,
    accuracy: evaluation.accuracy,
    macroF1: evaluation.macroF1,
    perClass: Object.fromEntries(
      evaluation.perTopic().map(({ topic, ...figures }) => [topic, figures]),
    ),
    confusion: evaluation.confusion.map((row) => [...row]),
    pagesPerSecond: Math.round(evaluation.pages / Math.max(1e-9, seconds)),
    bytesPerSecond: Math.round(bytes / Math.max(1e-9, seconds)),
    method: judge.model.method,
    digest: judge.model.digest,
    pages: evaluation.pages,
    accuracyInterval: [low, high],
    calibration: evaluation.calibration(),
    calibrationError: evaluation.calibrationError,
    leftOut: {
      broken: tally.broken,
      small,
      unknownTopic: [...unknown.values()].reduce((sum, count) => sum + count, 0),
    },
  };
}

function linesFor(tested: Tested, svgFile: string | undefined): string[] {
  const { judge, evaluation, seconds, bytes } = tested;
  const [low, high] = evaluation.accuracyInterval;
  const rows = evaluation.perTopic().map(({ topic, pages, precision, recall, f1 }, index): Row => ({
    topic: visible(topic, 40),
    pages,
    precision: percent(precision),
    recall: percent(recall),
    f1: percent(f1),
    "taken for": mistakenFor(evaluation, index),
  }));
  const bins = evaluation.calibration().map(({ pages, said, came }): Row => ({
    pages,
    "predicted %": percent(said),
    "correct %": percent(came),
  }));
  return [
    `${visible(judge.name, 300)} (${judge.model.method}, ${judge.model.digest.slice(0, 16)})`,
    `${percent(evaluation.accuracy)} % of ${plural(evaluation.pages, "page")} right (95 %: ${percent(low)} to ${percent(high)}), macro-F1 ${percent(evaluation.macroF1)} %`,
    `${showCount(evaluation.pages / Math.max(1e-9, seconds))} pages/s, ${showBytes(bytes / Math.max(1e-9, seconds))}/s`,
    ...leftOut(tested),
    "",
    alignedTable(rows),
    "",
    `How sure it was, and how often it was right (${percent(evaluation.calibrationError)} % apart on the mean):`,
    alignedTable(bins),
    ...(svgFile === undefined ? [] : ["", `${visible(svgFile, 300)} is written.`]),
  ];
}

/** The topic with which its pages are confused most often. */
function mistakenFor({ confusion, topics }: Evaluation, topic: number): string {
  const row = confusion[topic] ?? new Int32Array(0);
  let most = -1;
  for (const [other, count] of row.entries())
    if (other !== topic && count > 0 && count > (row[most] ?? 0)) most = other;
  return most < 0 ? "" : `${visible(topics[most] ?? "", 40)} (${row[most]})`;
}

function percent(share: number): number {
  return Number((100 * share).toFixed(1));
}

/** Rows are true topics, columns predicted ones; shares of the row. */
function draw(evaluation: Evaluation, file: string): void {
  const picture = heatMap({
    title: "Topics: true (down) and called (across), share of the true topic's pages",
    columns: evaluation.topics.map((name) => name.slice(0, 5)),
    unit: "%",
    rows: evaluation.perTopic().map(({ topic, pages }, index) => ({
      name: topic,
      cells: Array.from(
        evaluation.confusion[index] ?? [],
        (count) => (100 * count) / Math.max(1, pages),
      ),
    })),
    width: 900,
  });
  writeOut(file, `${picture}\n`);
}
