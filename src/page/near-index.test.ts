import assert from "node:assert/strict";
import { test } from "node:test";
import { below, type Random, randomFrom } from "../base/random.ts";
import { NEAR_DISTANCE_MAX, NearIndex } from "./near-index.ts";

test("a page is found by a fingerprint that differs in three bits, not in four", () => {
  const index = new NearIndex(10);
  index.put(0x12345678, 0x9abcdef0, 7);
  assert.equal(index.find(0x12345678, 0x9abcdef0), 7);
  assert.equal(index.find(0x12345678 ^ 0b111, 0x9abcdef0), 7);
  assert.equal(index.find((0x12345678 ^ 0x80000001) >>> 0, 0x9abcdef1), 7);
  assert.equal(index.find(0x12345678 ^ 0b1111, 0x9abcdef0), undefined);
});

test("all near pages among the latest are found, and no dropped one", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const capacity = 1 + below(random, 200);
    const index = new NearIndex(capacity);
    const added: [number, number][] = [];
    for (let id = 0; id < 500; id++) {
      const fingerprint: [number, number] = [word(random), word(random)];
      added.push(fingerprint);
      index.put(...fingerprint, id);
    }
    for (const [id, [high, low]] of added.entries()) {
      const [nearHigh, nearLow] = flipped(random, high, low);
      const expected = id >= 500 - capacity ? id : undefined;
      assert.equal(index.find(nearHigh, nearLow), expected, `seed ${seed}, page ${id}`);
    }
  }
});

function word(random: Random): number {
  return below(random, 2 ** 32);
}

function flipped(random: Random, high: number, low: number): [number, number] {
  let [newHigh, newLow] = [high, low];
  for (let flip = below(random, NEAR_DISTANCE_MAX + 1); flip > 0; flip--) {
    const bit = 1 << below(random, 32);
    if (random.next() < 0.5) newHigh = (newHigh ^ bit) >>> 0;
    else newLow = (newLow ^ bit) >>> 0;
  }
  return [newHigh, newLow];
}
