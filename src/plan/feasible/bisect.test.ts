import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import { seeds } from "../capped-task.suite.ts";
import { leastThat, leastWithout } from "./bisect.ts";

test("by yes and no, the square root of two; of what never holds there is no least", () => {
  assert.ok(Math.abs(leastThat(1, (value) => value * value >= 2) - Math.SQRT2) < 1e-9);
  assert.equal(
    leastThat(1, () => false),
    Infinity,
  );
});

test("a straight line is followed to its end at once", () => {
  for (const slope of [0.1, 0.5, 1]) {
    const asked: number[] = [];
    const found = leastWithout(0, (value) => {
      asked.push(value);
      return Math.max(0, 1 - slope * value);
    });
    assert.ok(Math.abs(found * slope - 1) < 1e-9, `${found}`);
    assert.ok(asked.length <= 5, asked.join(" "));
  }
  assert.equal(
    leastWithout(3, () => 0),
    3,
  );
  assert.equal(
    leastWithout(3, () => 1),
    Infinity,
  );
});

test("whatever the bends, and however wrong the amounts, the least is found", () => {
  for (const seed of seeds(500)) {
    const random = randomFrom(seed);
    const wanted = 10 ** (8 * random.next() - 4);
    const steps = Array.from({ length: 1 + below(random, 5) }, () => random.next() * wanted);
    const isWrong = seed % 2 === 0;
    const found = leastWithout(0, (value) => {
      if (value >= wanted) return 0;
      const bends = steps.reduce((sum, step) => sum + Math.max(0, step - value), wanted - value);
      return isWrong ? 1e-6 + 10 ** (6 * Math.sin(value * 99)) : bends;
    });
    assert.ok(found >= wanted && found <= wanted * (1 + 1e-9), `seed ${seed}: ${found}, ${wanted}`);
  }
});
