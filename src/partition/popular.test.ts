import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { PopularSet } from "./popular.ts";

test("the set has its entries, by whole fingerprints only", () => {
  const popular = new PopularSet({ high: [1, 2, 0], low: [5, 5, 0] });
  assert.ok(popular.has(1, 5) && popular.has(2, 5) && popular.has(0, 0));
  assert.ok(!popular.has(3, 5) && !popular.has(1, 6) && !popular.has(5, 1));
  assert.equal(popular.size, 3);
});

test("an empty set has no entries", () => {
  const popular = new PopularSet({ high: [], low: [] });
  assert.equal(popular.size, 0);
  assert.ok(!popular.has(0, 0) && !popular.has(1, 2));
});

test("the set is exact in 16 bytes per entry, also if all entries collide", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const range = seed % 2 === 0 ? 2 ** 32 : 16;
    const word = (): number => below(random, range);
    const entries = Array.from(
      { length: 1 + below(random, 1000) },
      () => [word(), word()] as const,
    );
    const known = new Set(entries.map(String));
    const high = entries.map(([half]) => half);
    const low = Uint32Array.from(entries, ([, half]) => half);
    const popular = new PopularSet({ high, low });
    assert.equal(popular.size, known.size, `seed ${seed}`);
    assert.ok(popular.bytes <= 16 * entries.length, `seed ${seed}: ${popular.bytes} bytes`);
    for (const [a, b] of entries) assert.ok(popular.has(a, b), `seed ${seed}: lost ${a} ${b}`);
    for (let n = 0; n < 1000; n++) {
      const [a, b] = [word(), word()];
      assert.equal(popular.has(a, b), known.has(`${a},${b}`), `seed ${seed}: ${a} ${b}`);
    }
  }
});
