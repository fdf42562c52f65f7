import assert from "node:assert/strict";
import { test } from "node:test";
import { FingerprintTable } from "./fingerprint-table.ts";
import { below, randomFrom } from "./random.ts";

test("a table has its entries, by whole fingerprints only", () => {
  const table = new FingerprintTable();
  for (const [high, low] of [
    [1, 5],
    [2, 5],
    [0, 0],
  ] as const)
    table.set(high, low, 1);
  assert.ok(table.has(1, 5) && table.has(2, 5) && table.has(0, 0));
  assert.ok(!table.has(3, 5) && !table.has(1, 6) && !table.has(5, 1));
  assert.equal(table.size, 3);
});

test("a table is exact in 39 bytes per entry, also if all entries collide", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const range = seed % 2 === 0 ? 2 ** 32 : 16;
    const word = (): number => below(random, range);
    const known = new Map<string, number>();
    const table = new FingerprintTable(16);
    for (let id = 1 + below(random, 1000); id > 0; id--) {
      const [high, low] = [word(), word()];
      known.set(`${high},${low}`, id);
      table.set(high, low, id);
    }
    assert.equal(table.size, known.size, `seed ${seed}`);
    const bytes = table.words.byteLength;
    assert.ok(bytes <= 39 * Math.max(5, known.size), `seed ${seed}: ${bytes} bytes`);
    for (const [key, id] of known) {
      const [high = 0, low = 0] = key.split(",").map(Number);
      assert.equal(table.get(high, low), id, `seed ${seed}: ${key}`);
    }
    for (let n = 0; n < 1000; n++) {
      const [high, low] = [word(), word()];
      assert.equal(table.has(high, low), known.has(`${high},${low}`), `seed ${seed}`);
    }
  }
});
