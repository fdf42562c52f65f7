import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeSorted } from "./merge.ts";
import { below, randomFrom } from "./random.ts";

const byLetter = (a: string, b: string): number => a.charCodeAt(0) - b.charCodeAt(0);
const byNumber = (a: number, b: number): number => a - b;

test("three sorted rows become one; of equal items that of the earlier row comes first", () => {
  const rows = [["a1", "c1"], [], ["a3", "b3", "c3"]];
  assert.deepEqual([...mergeSorted(rows, byLetter)], ["a1", "a3", "b3", "c1", "c3"]);
});

test("all items of any rows come out in order", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const rows = Array.from({ length: below(random, 6) }, () =>
      Array.from({ length: below(random, 20) }, () => below(random, 30)).sort(byNumber),
    );
    const wanted = rows.flat().sort(byNumber);
    assert.deepEqual([...mergeSorted(rows, byNumber)], wanted, `seed ${seed}`);
  }
});

test("ending the iteration early closes all rows", () => {
  let open = 0;
  function* numbers(): Generator<number> {
    open += 1;
    try {
      for (let number = 0; ; number++) yield number;
    } finally {
      open -= 1;
    }
  }
  for (const number of mergeSorted([numbers(), numbers()], byNumber)) if (number === 3) break;
  assert.equal(open, 0);
});
