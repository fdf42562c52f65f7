import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import { RankedBits } from "./ranked-bits.ts";

test("marked and unmarked numbers are counted and found", () => {
  const bits = new RankedBits();
  for (const isMarked of [false, true, false, false, true]) bits.add(isMarked);
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((number) => bits.countTo(number)),
    [0, 1, 1, 1, 2],
  );
  assert.deepEqual(
    [0, 1, 2, 3].map((n) => bits.nth(n, true)),
    [undefined, 2, 5, undefined],
  );
  assert.deepEqual(
    [1, 2, 3, 4].map((n) => bits.nth(n, false)),
    [1, 3, 4, undefined],
  );
  assert.equal(bits.nth(1, true) === 2 && bits.has(2) && !bits.has(1) && !bits.has(99), true);
});

test("counting and finding are inverse, with marks set in any order", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomFrom(seed);
    const last = below(random, 3000);
    const share = random.next();
    const bits = new RankedBits();
    const marked = new Set<number>();
    for (let number = 1; number <= last; number++) {
      const isMarked = random.next() < share;
      bits.add(isMarked);
      if (isMarked) marked.add(number);
      if (random.next() < 0.01) {
        const earlier = 1 + below(random, number);
        bits.countTo(earlier);
        bits.mark(earlier);
        marked.add(earlier);
      }
    }
    assert.equal(bits.last, last);
    const counts = [0, 0];
    for (let number = 1; number <= last; number++) {
      const kind = marked.has(number) ? 1 : 0;
      const count = (counts[kind] = (counts[kind] as number) + 1);
      assert.equal(bits.has(number), kind === 1, `seed ${seed}: ${number}`);
      assert.equal(bits.countTo(number), counts[1], `seed ${seed}: to ${number}`);
      assert.equal(bits.nth(count, kind === 1), number, `seed ${seed}: the ${count}th of ${kind}`);
    }
    assert.equal(bits.nth((counts[1] as number) + 1, true), undefined, `seed ${seed}`);
  }
});
