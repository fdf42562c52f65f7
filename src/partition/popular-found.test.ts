import assert from "node:assert/strict";
import { test } from "node:test";
import { PopularFound } from "./popular-found.ts";

test("a URL received from two processes is announced once, and known after the announcement", () => {
  const [owner, other] = [new PopularFound(), new PopularFound()];
  owner.received(1, 2);
  assert.deepEqual(owner.take(9), []);
  owner.received(1, 2);
  owner.received(1, 2);
  const found = owner.take(9);
  assert.deepEqual(found, [[1, 2]]);
  assert.equal(other.has(1, 2), false);
  other.learn(found);
  assert.equal(other.has(1, 2), true);
  assert.deepEqual(owner.take(9), []);
});

test("of very many URLs those received last are remembered", () => {
  const owner = new PopularFound();
  for (let low = 1; low <= 200_000; low++) owner.received(0, low);
  owner.received(0, 1);
  assert.deepEqual(owner.take(9), [], "the first was forgotten");
  owner.received(0, 100_001);
  assert.deepEqual(owner.take(9), [[0, 100_001]]);
});
