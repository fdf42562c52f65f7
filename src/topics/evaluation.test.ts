import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import { Evaluation, wilson } from "./evaluation.ts";

test("the figures of a small confusion matrix are those counted by hand", () => {
  const evaluation = new Evaluation(["a", "b"]);
  for (const [truth, called] of [
    [0, 0],
    [0, 0],
    [0, 1],
    [1, 1],
  ] as const)
    evaluation.add(truth, called, 0.75);
  assert.equal(evaluation.accuracy, 0.75);
  assert.deepEqual(
    evaluation.confusion.map((row) => [...row]),
    [
      [2, 1],
      [0, 1],
    ],
  );
  const [a, b] = evaluation.perTopic();
  assert.deepEqual([a?.precision, a?.recall, a?.f1], [1, 2 / 3, 0.8]);
  assert.deepEqual([b?.precision, b?.recall, b?.f1], [0.5, 1, 2 / 3]);
  assert.equal(evaluation.macroF1, (0.8 + 2 / 3) / 2);
  assert.deepEqual(evaluation.calibration(), [{ from: 0.7, pages: 4, said: 0.75, came: 0.75 }]);
  assert.equal(evaluation.calibrationError, 0);
});

test("Wilson's interval equals the textbook's and covers the true share", () => {
  const [low, high] = wilson(8, 10);
  assert.deepEqual([low.toFixed(3), high.toFixed(3)], ["0.490", "0.943"]);
  assert.deepEqual(wilson(0, 0), [0, 1]);
  let held = 0;
  for (let seed = 1; seed <= 400; seed++) {
    const random = randomFrom(seed);
    let right = 0;
    for (let page = 0; page < 100; page++) if (random.next() < 0.8) right += 1;
    const [from, to] = wilson(right, 100);
    if (from <= 0.8 && 0.8 <= to) held += 1;
  }
  assert.ok(held > 0.92 * 400, `${held} of 400`);
});
