import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { HeavyHitters } from "./heavy-hitters.ts";

test("with a counter for each item counts are exact, the most frequent first", () => {
  const hitters = new HeavyHitters(4);
  const counts = [7, 8, 7, 9, 7, 8].map((name) => hitters.add(0, name));
  assert.deepEqual(counts, [1, 1, 2, 1, 3, 2]);
  assert.deepEqual(hitters.above(2), [
    { high: 0, low: 7, count: 3, overcount: 0 },
    { high: 0, low: 8, count: 2, overcount: 0 },
  ]);
});

test("without a free counter a new item takes over the lowest one and its count", () => {
  const hitters = new HeavyHitters(2);
  for (const name of [1, 1, 1, 2]) hitters.add(5, name);
  assert.equal(hitters.add(5, 3), 1);
  assert.deepEqual(hitters.above(1), [
    { high: 5, low: 1, count: 3, overcount: 0 },
    { high: 5, low: 3, count: 2, overcount: 1 },
  ]);
  assert.deepEqual(
    hitters.above(2).map(({ low }) => low),
    [1],
  );
});

test("counts are never too low, too high by n / k at most, and no frequent item is missed", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = randomFrom(seed);
    const counters = 1 + below(random, 60);
    const hitters = new HeavyHitters(counters);
    const truth = new Map<string, number>();
    const additions = 3000;
    let total = 0;
    for (let n = 0; n < additions; n++) {
      // A power law over names whose lower halves are few, so that they collide in the table.
      const name = Math.floor(1 / (random.next() + 0.002));
      const high = name;
      const low = seed % 2 === 0 ? name % 8 : Math.imul(name, 0x9e3779b1) >>> 0;
      const count = seed % 3 === 0 ? 1 + below(random, 3) : 1;
      hitters.add(high, low, count);
      total += count;
      const key = `${high} ${low}`;
      truth.set(key, (truth.get(key) ?? 0) + count);
    }
    const found = hitters.above(0);
    assert.ok(found.length <= counters, `seed ${seed}`);
    const keys = new Set(found.map(({ high, low }) => `${high} ${low}`));
    for (const { high, low, count, overcount } of found) {
      const real = truth.get(`${high} ${low}`) ?? 0;
      assert.ok(real <= count && count - overcount <= real, `seed ${seed}: ${count} for ${real}`);
      assert.ok(overcount <= total / counters, `seed ${seed}: ${overcount} too many`);
    }
    for (const [key, count] of truth)
      if (count > total / counters) assert.ok(keys.has(key), `seed ${seed}: ${key} is missing`);
  }
});
