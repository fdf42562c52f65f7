import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import { expectedBytes, surplusAfter } from "./round-size.ts";

test("the expected cost of a page is its size by the chance of a change, and headers otherwise", () => {
  const page = { wireBytes: 10_300, hasValidators: true };
  assert.equal(expectedBytes(page, 1), 10_300);
  assert.equal(expectedBytes(page, 0), 300);
  assert.equal(expectedBytes(page, 0.1), 1300);
});

test("a page without validators costs its whole size", () => {
  assert.equal(expectedBytes({ wireBytes: 10_300, hasValidators: false }, 0), 10_300);
  assert.equal(expectedBytes({ wireBytes: 0, hasValidators: false }, 0.5), 300);
});

test("the surplus of earlier rounds is expected of the next, a quarter of it by the last", () => {
  assert.equal(surplusAfter(1, { expectedBytes: 100, bytes: 1600 }), 2);
  assert.equal(surplusAfter(1, { expectedBytes: 1600, bytes: 100 }), 0.5);
  assert.equal(surplusAfter(2, { expectedBytes: undefined, bytes: 100 }), 2);
  assert.equal(surplusAfter(2, { expectedBytes: 0, bytes: 100 }), 2);
  assert.equal(surplusAfter(1, { expectedBytes: 1, bytes: 1e9 }), 2, "one odd round is bounded");
});

test("the prediction converges to the size of rounds from any start", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const random = randomFrom(seed);
    const truth = 0.3 + 4 * random.next();
    let surplus = 1;
    for (let round = 0; round < 20; round++)
      surplus = surplusAfter(surplus, { expectedBytes: 1e6, bytes: 1e6 * truth });
    assert.ok(Math.abs(surplus / truth - 1) < 0.01, `seed ${seed}: ${surplus} for ${truth}`);
  }
});
