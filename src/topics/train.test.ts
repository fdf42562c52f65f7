import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { calibrate, toProbabilities } from "./calibration.ts";
import { Classifier } from "./classify.ts";
import { drawnPages, drawnText, examplesOf } from "./example-pages.suite.ts";
import { allPages } from "./examples.ts";
import { halvesOf } from "./halves.ts";
import { METHOD_NAMES, type MethodName } from "./methods.ts";
import { decodeModel, encodeModel, type LoadedModel } from "./model.ts";
import { pruned } from "./prune.ts";
import { trainModel } from "./train.ts";

function modelOf(method: MethodName, seed = 1, termsMax = 1e6): LoadedModel {
  const examples = examplesOf(drawnPages(randomFrom(seed), 30));
  const training = trainModel(examples, allPages(examples), { method, termsMax });
  assert.ok(training.kind === "model");
  // As read from disk: a view into a larger buffer, at any offset.
  const file = encodeModel(training.model);
  const reading = decodeModel(Buffer.concat([Buffer.from("odd"), file]).subarray(3));
  assert.ok(reading.kind === "model");
  return reading.model;
}

function why(file: Uint8Array): string {
  const reading = decodeModel(file);
  return reading.kind === "refused" ? reading.why : "";
}

function objection(pages: readonly [topic: string, text: string][]): string {
  const examples = examplesOf(pages);
  const training = trainModel(examples, allPages(examples), { method: "linear", termsMax: 1e6 });
  return training.kind === "refused" ? training.why : "";
}

test("scores become probabilities that add up to one and keep their order", () => {
  const scores = Float64Array.of(1, 3, 2);
  assert.equal(toProbabilities(scores, 100, { slope: Math.LN2, lengthPower: 0 }), 1);
  assert.deepEqual(
    [...scores].map((share) => share.toFixed(4)),
    ["0.1429", "0.5714", "0.2857"],
  );
});

test("calibration finds the slope by which topics were drawn", () => {
  for (const slope of [0.2, 3]) {
    const random = randomFrom(7);
    const pages = 4000;
    const scores = Float64Array.from({ length: 2 * pages }, () => 4 * random.next());
    const terms = Int32Array.from({ length: pages }, () => 50 + below(random, 900));
    const topics = Int32Array.from({ length: pages }, (_, page) => {
      const apart = (scores[2 * page] ?? 0) - (scores[2 * page + 1] ?? 0);
      return random.next() < 1 / (1 + Math.exp(-slope * apart)) ? 0 : 1;
    });
    const found = calibrate({ width: 2, scores, terms, topics });
    assert.equal(found.lengthPower, 0);
    assert.ok(Math.abs(found.slope / slope - 1) < 0.15, `${found.slope}, not ${slope}`);
  }
});

test("half of each topic is for training, as many others for testing, none for both", () => {
  const examples = examplesOf([
    ...drawnPages(randomFrom(1), 11),
    ["rare", "one"],
    ["rare", "two"],
    ["rare", "three"],
  ]);
  const { train, test: tested } = halvesOf(examples, 1);
  assert.equal(train.length, 3 * 5 + 1);
  assert.equal(tested.length, train.length);
  assert.equal(new Set([...train, ...tested]).size, 2 * train.length);
  assert.deepEqual(halvesOf(examples, 1), { train, test: tested });
  assert.notDeepEqual(halvesOf(examples, 2).train, train);
  assert.equal(halvesOf(examples, 1, 3).train.length, 3 * 3 + 1);
});

test("a model read back classifies as the one that was written", () => {
  for (const method of METHOD_NAMES) {
    const examples = examplesOf(drawnPages(randomFrom(3), 30));
    const training = trainModel(examples, allPages(examples), { method, termsMax: 1e6 });
    assert.ok(training.kind === "model");
    const reading = decodeModel(encodeModel(training.model));
    assert.ok(reading.kind === "model", method);
    const before = new Classifier(training.model);
    const after = new Classifier(reading.model);
    for (let seed = 1; seed <= 50; seed++) {
      const page = Buffer.from(drawnText(randomFrom(100 + seed), seed % 3, 3));
      const expected = before.ofText(page);
      const actual = after.ofText(page);
      assert.ok(expected.kind === "topic" && actual.kind === "topic");
      const difference = Math.abs(expected.confidence - actual.confidence);
      assert.ok(difference < 0.05, `${method}, seed ${seed}`);
      if (expected.confidence > 0.55)
        assert.equal(actual.name, expected.name, `${method}, seed ${seed}`);
    }
  }
});

test("the same examples make the same file, other examples another", () => {
  assert.equal(modelOf("linear", 1).digest, modelOf("linear", 1).digest);
  assert.notEqual(modelOf("linear", 1).digest, modelOf("linear", 2).digest);
});

test("a pruned model has no more terms than requested and still separates its topics", () => {
  const model = modelOf("linear", 1, 60);
  assert.equal(model.trained.table.size, 60);
  assert.equal(pruned(model.trained, 60), model.trained);
  const classifier = new Classifier(model);
  let right = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const verdict = classifier.ofText(Buffer.from(drawnText(randomFrom(200 + seed), seed % 3, 3)));
    if (verdict.kind === "topic" && verdict.topic === seed % 3) right += 1;
  }
  assert.ok(right > 45, `${right} of 60`);
});

test("a file that is not a model, of another version, damaged or truncated is refused with the reason", () => {
  const examples = examplesOf(drawnPages(randomFrom(1), 10));
  const training = trainModel(examples, allPages(examples), {
    method: "naive-bayes",
    termsMax: 1e6,
  });
  assert.ok(training.kind === "model");
  const file = encodeModel(training.model);
  assert.equal(why(file), "");
  assert.match(why(new Uint8Array(0)), /not a topic model/);
  assert.match(why(Buffer.from("\x1f\x8b and so on\n")), /not a topic model/);
  const other = Buffer.concat([Buffer.from("weir-topics 2"), file.subarray(13)]);
  assert.match(why(other), /of version 2, and this Weir reads version 1/);
  assert.match(why(file.subarray(0, file.length - 1)), /damaged or truncated/);
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomFrom(seed);
    const damaged = file.slice();
    const at = below(random, file.length);
    damaged[at] = (damaged[at] ?? 0) ^ (1 + below(random, 255));
    assert.notEqual(why(damaged), "", `seed ${seed}: byte ${at}`);
  }
});

test("examples of one topic, or too few of a topic, make no model", () => {
  assert.match(objection([]), /no examples/);
  assert.match(
    objection(Array.from({ length: 20 }, () => ["a", "some words"])),
    /all examples are of one topic, "a"/,
  );
  const few: [string, string][] = Array.from({ length: 20 }, () => ["a", "some words"]);
  assert.match(objection([...few, ["b", "other words"]]), /b has 1/);
});
