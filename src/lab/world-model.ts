/**
 * A topic model of the synthetic web's vocabulary, as `weir topics train` would train it.
 *
 * The model has fifteen topics; the sixteenth is not English, so every model classifies it as `world`. The
 * training pages are in no world, so no page is classified by a model trained on it.
 *
 * Deterministic to the last byte. Trained once per process, in a third of a second.
 */

import { assert } from "../base/assert.ts";
import { Bag } from "../topics/bag.ts";
import { WORLD } from "../topics/boundary.ts";
import { allPages, Examples } from "../topics/examples.ts";
import type { MethodName } from "../topics/methods.ts";
import { decodeModel, encodeModel, type LoadedModel } from "../topics/model.ts";
import { Tokens } from "../topics/tokens.ts";
import { trainModel } from "../topics/train.ts";
import { Dice } from "./world/dice.ts";
import { Prose } from "./world/prose.ts";
import { TOPICS } from "./world/vocabulary.ts";

const PAGES_PER_TOPIC = 40;
const CHARACTERS = 2_500;
const TERMS_MAX = 20_000;
const PURPOSE_EXAMPLE = 11;

const made = new Map<MethodName, LoadedModel>();

export function worldModel(method: MethodName = "naive-bayes"): LoadedModel {
  let model = made.get(method);
  if (model === undefined) made.set(method, (model = trained(method)));
  return model;
}

function trained(method: MethodName): LoadedModel {
  const examples = writtenExamples();
  const training = trainModel(examples, allPages(examples), { method, termsMax: TERMS_MAX });
  assert(training.kind === "model", "every topic has its examples");
  const reading = decodeModel(encodeModel(training.model));
  assert(reading.kind === "model", "an encoded model can be decoded");
  return reading.model;
}

function writtenExamples(): Examples {
  const examples = new Examples();
  const tokens = new Tokens();
  const bag = new Bag();
  for (const [number, topic] of TOPICS.entries()) {
    if (topic.name === WORLD) continue;
    for (let page = 0; page < PAGES_PER_TOPIC; page++) {
      const prose = new Prose(new Dice(0, number, page, PURPOSE_EXAMPLE), topic);
      tokens.takeText(Buffer.from(prose.text(CHARACTERS), "latin1"));
      bag.take(tokens);
      examples.add(examples.topicNamed(topic.name), bag);
    }
  }
  return examples;
}
