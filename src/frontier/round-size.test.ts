import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import { expectedBytes, surplusAfter } from "./round-size.ts";

test("a page that may have changed costs its size as often as it has, and headers otherwise", () => {
  const page = { wireBytes: 10_300, hasValidators: true };
  assert.equal(expectedBytes(page, 1), 10_300);
  assert.equal(expectedBytes(page, 0), 300);
  assert.equal(expectedBytes(page, 0.1), 1300);
});

test("a server that cannot be asked whether it changed sends the page whole", () => {
  assert.equal(expectedBytes({ wireBytes: 10_300, hasValidators: false }, 0), 10_300);
  assert.equal(expectedBytes({ wireBytes: 0, hasValidators: false }, 0.5), 300);
});

test("what came beyond expectation in earlier rounds is expected of the next, a quarter by the last", () => {
  assert.equal(surplusAfter(1, { expectedBytes: 100, bytes: 1600 }), 2);
  assert.equal(surplusAfter(1, { expectedBytes: 1600, bytes: 100 }), 0.5);
  assert.equal(surplusAfter(2, { expectedBytes: undefined, bytes: 100 }), 2);
  assert.equal(surplusAfter(2, { expectedBytes: 0, bytes: 100 }), 2);
  assert.equal(surplusAfter(1, { expectedBytes: 1, bytes: 1e9 }), 2, "one odd round is bounded");
});

test("after some rounds the prediction is near what rounds bring, however wrong it was at first", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const random = randomFrom(seed);
    const truth = 0.3 + 4 * random.next();
    let surplus = 1;
    for (let round = 0; round < 20; round++)
      surplus = surplusAfter(surplus, { expectedBytes: 1e6, bytes: 1e6 * truth });
    assert.ok(Math.abs(surplus / truth - 1) < 0.01, `seed ${seed}: ${surplus} for ${truth}`);
  }
});
