import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { Bag } from "./bag.ts";
import { TermTable } from "./term-table.ts";
import { termOf, Tokens } from "./tokens.ts";

test("a table of terms behaves like a map, also for 0 and negative numbers", () => {
  for (let seed = 1; seed <= 5; seed++) {
    const random = randomFrom(seed);
    const table = new TermTable();
    const rows = new Map<number, number>();
    for (let step = 0; step < 5000; step++) {
      const term = below(random, 3000) - 1500;
      if (!rows.has(term)) rows.set(term, rows.size);
      assert.equal(table.add(term), rows.get(term), `seed ${seed}`);
    }
    assert.equal(table.size, rows.size);
    for (let term = -2000; term < 2000; term++)
      assert.equal(table.find(term), rows.get(term) ?? -1, `seed ${seed}: ${term}`);
    assert.deepEqual([...table.keys()], [...rows.keys()]);
  }
});

test("a bag counts terms in the order of first occurrence, page after page", () => {
  const tokens = new Tokens();
  const bag = new Bag();
  for (const [text, words, counts] of [
    ["to be or not to be", ["to", "be", "or", "not"], [2, 2, 1, 1]],
    ["not now", ["not", "now"], [1, 1]],
    ["", [], []],
  ] as const) {
    tokens.takeText(Buffer.from(text));
    bag.take(tokens);
    assert.deepEqual([...bag.terms.subarray(0, bag.count)], words.map(termOf));
    assert.deepEqual([...bag.counts.subarray(0, bag.count)], counts);
  }
});
