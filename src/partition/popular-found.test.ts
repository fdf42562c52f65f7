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
