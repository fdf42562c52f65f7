import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import { seeds } from "../capped-task.suite.ts";
import { orderBy, sorted } from "./radix-sort.ts";

test("the least comes first, equal ones stay as they were, infinities stand at the ends", () => {
  const keys = [3, -Infinity, 0, -1, Infinity, -0, 3, -2];
  const order = orderBy(keys.length, (site) => keys[site] as number);
  assert.deepEqual([...order], [1, 7, 3, 2, 5, 0, 6, 4]);
});

test("few or many, of every sign and size, sites are ordered as comparing would", () => {
  for (const seed of seeds(60)) {
    const random = randomFrom(seed);
    const count = 1500 + below(random, 2500);
    // Often equal, often only in the last bits different, sometimes without end.
    const makers = [
      () => below(random, 20) - 10,
      () => 1 + below(random, 50) * Number.EPSILON,
      () => (random.next() - 0.5) * 10 ** (600 * random.next() - 300),
      () => (random.next() < 0.1 ? -0 : (below(random, 3) - 1) * Infinity || 0),
    ];
    const make = makers[seed % makers.length] as () => number;
    const keys = Float64Array.from({ length: count }, make);
    const sites = Int32Array.from({ length: count }, (_, site) => site).filter(
      () => random.next() < 0.9,
    );
    // Sorting is stable in the language too.
    const wanted = [...sites].sort((a, b) => {
      const [x, y] = [keys[a] as number, keys[b] as number];
      return x < y ? -1 : Number(x > y);
    });
    assert.deepEqual([...sorted(sites, keys)], wanted, `seed ${seed}, ${count} sites`);
  }
});
