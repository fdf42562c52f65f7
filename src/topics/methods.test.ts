import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import { bagOf, drawnPages, examplesOf } from "./example-pages.suite.ts";
import { allPages, type Examples } from "./examples.ts";
import { lewis } from "./lewis.ts";
import { linear } from "./linear.ts";
import { METHODS } from "./methods.ts";
import { naiveBayes } from "./naive-bayes.ts";
import { rocchio } from "./rocchio.ts";
import type { Method, Trained } from "./trained.ts";

function scores(method: Method, trained: Trained, text: string): number[] {
  const into = new Float64Array(trained.topics.length);
  method.score(trained, bagOf(text), into);
  return [...into];
}

function near(actual: number | undefined, expected: number, what: string): void {
  assert.ok(Math.abs((actual ?? NaN) - expected) < 1e-4, `${what}: ${actual}, not ${expected}`);
}

/** log P(w | c), for a word counted so often among so many of a topic; there are four different words. */
function of(count: number, all: number): number {
  return Math.log((count + 0.1) / (all + 0.4));
}

test("Naive Bayes is what one can reckon by hand", () => {
  const examples = examplesOf([
    ["cats", "purr purr nap"],
    ["dogs", "bark nap"],
    ["dogs", "bark walk"],
  ]);
  const trained = naiveBayes.train(examples, allPages(examples));
  const [cats = NaN, dogs = NaN] = scores(naiveBayes, trained, "nap purr nap unheard");
  // Cats have 3 words, dogs 4; 0.1 is added to every count.
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

test("Rocchio's topics are their pages' mean less the others', and a page has an angle to them", () => {
  const examples = examplesOf([
    ["cats", "purr"],
    ["dogs", "bark"],
  ]);
  const trained = rocchio.train(examples, allPages(examples));
  // Each topic is one word: what the other has falls below 0.
  assert.deepEqual(
    scores(rocchio, trained, "purr").map((score) => score.toFixed(4)),
    ["1.0000", "0.0000"],
  );
  near(scores(rocchio, trained, "purr bark")[0], Math.SQRT1_2, "half of each");
  near(scores(rocchio, trained, "unheard of")[0], 0, "nothing known");
});

test("a linear machine is at its best: no other weights cost less", () => {
  for (let seed = 1; seed <= 3; seed++) {
    const random = randomFrom(seed);
    const examples = examplesOf(drawnPages(random, 20));
    const trained = linear.train(examples, allPages(examples));
    const best = costOf(examples, trained, 0);
    for (let attempt = 0; attempt < 20; attempt++) {
      const weights = trained.weights.map((weight) => weight + 0.02 * (random.next() - 0.5));
      const cost = costOf(examples, { ...trained, weights }, 0);
      assert.ok(cost > best * 0.999, `seed ${seed}: ${cost} below ${best}`);
    }
  }
});

/** ½|w|² + Σ max(0, 1 - y w·x)² of one topic's machine. */
function costOf(examples: Examples, trained: Trained, topic: number): number {
  const width = trained.topics.length;
  let cost = 0.5 * (trained.bias[topic] ?? 0) ** 2;
  for (let row = 0; row < trained.table.size; row++)
    cost += 0.5 * (trained.weights[row * width + topic] ?? 0) ** 2;
  const into = new Float64Array(width);
  for (const page of allPages(examples)) {
    linear.score(trained, examples.page(page), into);
    const sign = examples.topicOf(page) === topic ? 1 : -1;
    cost += Math.max(0, 1 - sign * (into[topic] ?? 0)) ** 2;
  }
  return cost;
}

test("every method tells pages of drawn topics apart, and answers the same every time", () => {
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
