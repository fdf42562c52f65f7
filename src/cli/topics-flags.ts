/** The flags that `weir topics train`, `eval` and `classify` share. */

import type { FieldTable } from "../config/field.ts";
import { integer, onOff, oneOf, words as someWords } from "../config/readers.ts";
import { METHOD_NAMES } from "../topics/methods.ts";
import { JSON_FLAG } from "./args.ts";
import type { FieldNames } from "./labelled-pages.ts";

const MODEL_FLAG = {
  modelFile: {
    key: "model",
    meaning: "Model to use. By default the included one.",
    reader: someWords("FILE", "the name of a file"),
  },
} as const satisfies FieldTable;

const FIELD_FLAGS = {
  topicField: {
    key: "topicField",
    meaning: "Field of a line with the topic.",
    fallback: "topic",
    reader: someWords("NAME", "the name of a field"),
  },
  textField: {
    key: "textField",
    meaning: "Field with plain text.",
    fallback: "text",
    reader: someWords("NAME", "the name of a field"),
  },
  htmlField: {
    key: "htmlField",
    meaning: "Field with HTML, for lines without plain text.",
    fallback: "html",
    reader: someWords("NAME", "the name of a field"),
  },
} as const satisfies FieldTable;

export const TRAIN_FLAGS = {
  outFile: {
    key: "out",
    meaning: "Output file for the model.",
    fallback: "topics.model",
    reader: someWords("FILE", "the name of a file"),
  },
  method: {
    key: "method",
    meaning: "Classifier: `linear`, or one of the three of the paper.",
    fallback: "linear",
    reader: oneOf(METHOD_NAMES),
  },
  termsMax: {
    key: "terms",
    meaning: "Most terms in the model; the most informative are kept.",
    fallback: "200000",
    reader: integer({ least: 100, most: 5_000_000 }),
  },
  ...FIELD_FLAGS,
  ...JSON_FLAG,
} as const satisfies FieldTable;

export const EVAL_FLAGS = {
  ...MODEL_FLAG,
  split: {
    key: "split",
    meaning:
      "Test a method instead of a model: train on half of each topic's pages (at most 500), test on as many others.",
    reader: oneOf(METHOD_NAMES),
  },
  seed: {
    key: "seed",
    meaning: "With --split: seed of the random halves.",
    fallback: "1",
    reader: integer({ least: 1, most: 1_000_000 }),
  },
  svgFile: {
    key: "svg",
    meaning: "Write the confusion matrix to this file as a picture.",
    reader: someWords("FILE", "the name of a file"),
  },
  ...FIELD_FLAGS,
  ...JSON_FLAG,
} as const satisfies FieldTable;

export const CLASSIFY_FLAGS = {
  ...MODEL_FLAG,
  anyLanguage: {
    key: "anyLanguage",
    meaning: "Classify pages in every language, not only English.",
    fallback: "false",
    reader: onOff,
  },
  ...JSON_FLAG,
} as const satisfies FieldTable;

export function fieldNames(flags: {
  readonly topicField: string;
  readonly textField: string;
  readonly htmlField: string;
}): FieldNames {
  return { topic: flags.topicField, text: flags.textField, html: flags.htmlField };
}
