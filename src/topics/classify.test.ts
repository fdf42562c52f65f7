import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { Classifier } from "./classify.ts";
import { drawnPages, drawnText, examplesOf } from "./example-pages.suite.ts";
import { allPages } from "./examples.ts";
import type { Model } from "./model.ts";
import { trainModel } from "./train.ts";

function someModel(): Model {
  const examples = examplesOf(drawnPages(randomFrom(1), 30));
  const training = trainModel(examples, allPages(examples), { method: "linear", termsMax: 1e6 });
  assert.ok(training.kind === "model");
  return training.model;
}

const classifier = new Classifier(someModel());

test("text and HTML of the same page get the same topic and probability", () => {
  const text = drawnText(randomFrom(9), 1, 3, 0.8);
  const verdict = classifier.ofText(Buffer.from(text));
  assert.ok(verdict.kind === "topic");
  assert.equal(verdict.name, "topic b");
  assert.equal(verdict.language, "en");
  assert.ok(verdict.confidence > 0.9 && verdict.confidence <= 1, String(verdict.confidence));
  const html = `<html><body><p>${text.replaceAll(" the ", " <b>the</b> ")}</p></body></html>`;
  assert.deepEqual(classifier.ofHtml(Buffer.from(html)), verdict);
});

test("a page of fewer than fifty terms is too small, one in another language is foreign", () => {
  assert.deepEqual(classifier.ofText(Buffer.from("the cat and the hat")), {
    kind: "small",
    terms: 5,
    language: "en",
  });
  const german =
    "Das ist der Satz, den wir nicht für die anderen haben und der auch so ist. ".repeat(5);
  const verdict = classifier.ofText(Buffer.from(german));
  assert.deepEqual([verdict.kind, verdict.language], ["foreign", "de"]);
  const anyLanguage = new Classifier(classifier.model, { languages: "any" }).ofText(
    Buffer.from(german),
  );
  assert.equal(anyLanguage.kind, "topic");
});

test("random bytes, a megabyte of one word and an empty page get no topic", () => {
  const one = classifier.ofText(Buffer.from("word ".repeat(200_000)));
  assert.deepEqual([one.kind, one.language], ["foreign", undefined]);
  assert.equal(classifier.ofHtml(new Uint8Array(0)).kind, "small");
  for (let seed = 1; seed <= 100; seed++) {
    const random = randomFrom(seed);
    const bytes = Uint8Array.from({ length: 3000 }, () => below(random, 256));
    for (const verdict of [classifier.ofText(bytes), classifier.ofHtml(bytes)])
      assert.notEqual(verdict.kind, "topic", `seed ${seed}`);
  }
});

test("the probabilities of all topics add up to one", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const verdict = classifier.ofText(Buffer.from(drawnText(randomFrom(seed), seed % 3, 3)));
    assert.equal(verdict.kind, "topic", `seed ${seed}`);
    const sum = classifier.probabilities.reduce((total, share) => total + share, 0);
    assert.ok(Math.abs(sum - 1) < 1e-9, `seed ${seed}: ${sum}`);
  }
});
