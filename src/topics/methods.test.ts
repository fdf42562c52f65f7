import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import { bagOf, drawnPages, examplesOf } from "./example-pages.suite.ts";
import { complementWeights, type Shape } from "./complement-bayes.ts";
import { allPages } from "./examples.ts";
import { lewis } from "./lewis.ts";
import { linear } from "./linear.ts";
import { METHODS } from "./methods.ts";
import { naiveBayes } from "./naive-bayes.ts";
import { damped, rarityOf, type Vectors, vectorsOf } from "./page-vector.ts";
import { rocchio } from "./rocchio.ts";
import { type Planes, supportVectors } from "./support-vectors.ts";
import type { Method, Trained } from "./trained.ts";
import { vocabularyOf } from "./vocabulary.ts";

function scores(method: Method, trained: Trained, text: string): number[] {
  const into = new Float64Array(trained.topics.length);
  method.score(trained, bagOf(text), into);
  return [...into];
}

function near(actual: number | undefined, expected: number, what: string): void {
  assert.ok(Math.abs((actual ?? NaN) - expected) < 1e-4, `${what}: ${actual}, not ${expected}`);
}

/** log P(w | c), for a word that occurs `count` times among `all` words of a topic; there are four different words. */
function of(count: number, all: number): number {
  return Math.log((count + 0.1) / (all + 0.4));
}

test("Naive Bayes gives the odds computed by hand", () => {
  const examples = examplesOf([
    ["cats", "purr purr nap"],
    ["dogs", "bark nap"],
    ["dogs", "bark walk"],
  ]);
  const trained = naiveBayes.train(examples, allPages(examples));
  const [cats = NaN, dogs = NaN] = scores(naiveBayes, trained, "nap purr nap unheard");
  // Cats have 3 words, dogs 4; smoothing adds 0.1 to every count.
  const byHand = Math.log(1 / 2) + 2 * (of(1, 3) - of(1, 4)) + of(2, 3) - of(0, 4);
  near(cats - dogs, byHand, "log odds");
});

test("Lewis's closed form is the product of the formula", () => {
  const pages = [
    ["cats", "purr purr nap"],
    ["cats", "nap sofa"],
    ["dogs", "bark nap"],
    ["dogs", "bark walk walk"],
    ["dogs", "walk"],
  ] as const;
  const examples = examplesOf(pages);
  const trained = lewis.train(examples, allPages(examples));
  const page = "walk walk nap purr";
  const words = ["purr", "nap", "sofa", "bark", "walk"];
  const byHand = ["cats", "dogs"].map((topic) => {
    const own = pages.filter(([of]) => of === topic);
    let product = own.length / pages.length;
    for (const word of words) {
      const having = (among: readonly (readonly [string, string])[]): number =>
        among.filter(([, text]) => text.split(" ").includes(word)).length;
      const anywhere = (having(pages) + 0.5) / 6;
      const inTopic = (having(own) + 0.5 * anywhere) / (own.length + 0.5);
      const count = page.split(" ").filter((other) => other === word).length;
      const about = count / (count + 0.05);
      product *= (inTopic * about) / anywhere + ((1 - inTopic) * (1 - about)) / (1 - anywhere);
    }
    return Math.log(product);
  });
  for (const [topic, score] of scores(lewis, trained, page).entries())
    near(score, byHand[topic] ?? NaN, `topic ${topic}`);
});

test("Rocchio scores a page by its angle to each topic's mean less that of the others", () => {
  const examples = examplesOf([
    ["cats", "purr"],
    ["dogs", "bark"],
  ]);
  const trained = rocchio.train(examples, allPages(examples));
  // Each topic is one word: the weight of the other topic's word falls below 0.
  assert.deepEqual(
    scores(rocchio, trained, "purr").map((score) => score.toFixed(4)),
    ["1.0000", "0.0000"],
  );
  near(scores(rocchio, trained, "purr bark")[0], Math.SQRT1_2, "half of each");
  near(scores(rocchio, trained, "unheard of")[0], 0, "no known word");
});

test("support vectors have the least cost: nearby weights cost more", () => {
  for (let seed = 1; seed <= 3; seed++) {
    const random = randomFrom(seed);
    const { vectors, topicOf, shape } = vectorsFor(drawnPages(random, 20));
    const planes = supportVectors(vectors, topicOf, shape);
    const best = costOf(planes, vectors, topicOf);
    for (let attempt = 0; attempt < 20; attempt++) {
      const weights = planes.weights.map((weight) => weight + 0.02 * (random.next() - 0.5));
      const cost = costOf({ ...planes, weights }, vectors, topicOf);
      assert.ok(cost > best * 0.999, `seed ${seed}: ${cost} below ${best}`);
    }
  }
});

interface Vectored {
  readonly vectors: Vectors;
  readonly topicOf: Int32Array;
  readonly shape: Shape;
}

function vectorsFor(pages: readonly (readonly [topic: string, text: string])[]): Vectored {
  const examples = examplesOf(pages);
  const all = allPages(examples);
  const vocabulary = vocabularyOf(examples, all);
  const rarity = rarityOf(vocabulary);
  return {
    vectors: vectorsOf(examples, all, vocabulary, { rarity, repetition: damped }),
    topicOf: Int32Array.from(all, (page) => examples.topicOf(page)),
    shape: { rows: vocabulary.table.size, topics: examples.topics.length },
  };
}

/** ½|w|² + Σ max(0, 1 - y w·x)² of the first topic's machine. */
function costOf(
  { weights, bias }: Planes,
  { starts, rows, values }: Vectors,
  topicOf: Int32Array,
): number {
  const width = bias.length;
  let cost = 0.5 * (bias[0] ?? 0) ** 2;
  for (let place = 0; place < weights.length; place += width)
    cost += 0.5 * (weights[place] ?? 0) ** 2;
  for (const [page, topic] of topicOf.entries()) {
    let dot = bias[0] ?? 0;
    for (let at = starts[page] ?? 0; at < (starts[page + 1] ?? 0); at++)
      dot += (weights[(rows[at] ?? 0) * width] ?? 0) * (values[at] ?? 0);
    cost += Math.max(0, 1 - (topic === 0 ? dot : -dot)) ** 2;
  }
  return cost;
}

test("complement Bayes weights a word by its rarity in the other topics", () => {
  const { vectors, topicOf, shape } = vectorsFor([
    ["cats", "purr"],
    ["dogs", "bark"],
  ]);
  const weights = complementWeights(vectors, topicOf, shape);
  // "purr" is 0 of the 1 word of the other topics for cats, and 1 of 1 for dogs; 0.02 is added to each of two words.
  const byHand = (-Math.log(0.02 / 1.04) + Math.log(1.02 / 1.04)) / 2;
  near(weights[0], byHand, "purr for cats");
  near(weights[1], -byHand, "purr for dogs");
});

test("mixing in Bayes never costs more than three pages", () => {
  for (let seed = 1; seed <= 3; seed++) {
    const examples = examplesOf(drawnPages(randomFrom(seed), 60));
    const half = allPages(examples).filter((page) => page % 6 < 3);
    const rest = allPages(examples).filter((page) => page % 6 >= 3);
    const { vectors, topicOf, shape } = vectorsFor(
      drawnPages(randomFrom(seed), 60).filter((_, page) => page % 6 < 3),
    );
    const mixed = linear.train(examples, half);
    const alone = { ...mixed, ...supportVectors(vectors, topicOf, shape) };
    const right = (trained: Trained): number =>
      rest.filter((page) => {
        const into = new Float64Array(3);
        linear.score(trained, examples.page(page), into);
        return into.indexOf(Math.max(...into)) === examples.topicOf(page);
      }).length;
    assert.ok(
      right(mixed) >= right(alone) - 3,
      `seed ${seed}: ${right(mixed)} and ${right(alone)} of ${rest.length}`,
    );
  }
});

test("every method separates drawn topics, with the same weights every time", () => {
  for (const [name, method] of Object.entries(METHODS)) {
    for (let seed = 1; seed <= 3; seed++) {
      const random = randomFrom(seed);
      const examples = examplesOf(drawnPages(random, 40));
      const half = allPages(examples).filter((page) => page % 6 < 3);
      const rest = allPages(examples).filter((page) => page % 6 >= 3);
      const trained = method.train(examples, half);
      const again = method.train(examples, half);
      assert.deepEqual(trained.weights, again.weights, `${name}, seed ${seed}`);
      const into = new Float64Array(3);
      let right = 0;
      for (const page of rest) {
        method.score(trained, examples.page(page), into);
        if (into.indexOf(Math.max(...into)) === examples.topicOf(page)) right += 1;
      }
      assert.ok(right > 0.8 * rest.length, `${name}, seed ${seed}: ${right} of ${rest.length}`);
    }
  }
});
