import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { kendallTau } from "./kendall.ts";

test("tau is 1 for the same order, -1 for the opposite, 1/3 for one of three pairs swapped", () => {
  assert.equal(kendallTau(Float64Array.of(1, 2, 3), Float64Array.of(10, 20, 30)), 1);
  assert.equal(kendallTau(Float64Array.of(1, 2, 3), Float64Array.of(3, 2, 1)), -1);
  assert.equal(kendallTau(Float64Array.of(1, 2, 3), Float64Array.of(1, 3, 2)), 1 / 3);
});

test("ties count as neither, and a ranking of equal values has no correlation", () => {
  // Pairs (1,2) and (1,3) agree; (2,3) is tied in the second ranking.
  const tau = kendallTau(Float64Array.of(1, 2, 3), Float64Array.of(1, 2, 2));
  assert.ok(Math.abs(tau - 2 / Math.sqrt(3 * 2)) < 1e-12);
  assert.ok(Number.isNaN(kendallTau(Float64Array.of(1, 2), Float64Array.of(5, 5))));
});

test("the sorting algorithm agrees with a comparison of all pairs", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const count = 2 + below(random, 60);
    const draw = (): Float64Array =>
      Float64Array.from({ length: count }, () => below(random, 1 + below(random, 20)));
    const [first, second] = [draw(), draw()];
    const expected = byPairs(first, second);
    const found = kendallTau(first, second);
    const isSame = Number.isNaN(expected) ? Number.isNaN(found) : Math.abs(found - expected) < 1e-9;
    assert.ok(isSame, `seed ${seed}: ${found}, not ${expected}`);
  }
});

function byPairs(first: Float64Array, second: Float64Array): number {
  let [sum, untiedFirst, untiedSecond] = [0, 0, 0];
  for (let a = 0; a < first.length; a++)
    for (let b = 0; b < a; b++) {
      const one = Math.sign((first[a] as number) - (first[b] as number));
      const other = Math.sign((second[a] as number) - (second[b] as number));
      sum += one * other;
      untiedFirst += Math.abs(one);
      untiedSecond += Math.abs(other);
    }
  return sum / Math.sqrt(untiedFirst * untiedSecond);
}
