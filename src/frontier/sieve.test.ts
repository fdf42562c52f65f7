import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { Sieve } from "./sieve.ts";

test("added fingerprints are found, others are not", () => {
  const sieve = new Sieve(64);
  assert.equal(sieve.has(1, 2), false);
  sieve.add(1, 2);
  assert.equal(sieve.has(1, 2), true);
  assert.equal(sieve.has(2, 1), false);
});

test("entries may be lost, but no entry is found that was not added", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomFrom(seed);
    const sieve = new Sieve(256);
    const added = new Set<string>();
    let remembered = 0;
    for (let step = 0; step < 2_000; step++) {
      const high = below(random, 2 ** 32);
      const low = below(random, 2 ** 32);
      sieve.add(high, low);
      added.add(`${high}:${low}`);
      assert.ok(sieve.has(high, low), `seed ${seed}: the newest is always known`);
      const [otherHigh, otherLow] = [below(random, 2 ** 32), below(random, 2 ** 32)];
      if (sieve.has(otherHigh, otherLow))
        assert.ok(added.has(`${otherHigh}:${otherLow}`), `seed ${seed}`);
    }
    for (const key of added) {
      const [high, low] = key.split(":").map(Number) as [number, number];
      if (sieve.has(high, low)) remembered++;
    }
    assert.ok(remembered <= 256 && remembered > 200, `seed ${seed}: ${remembered} remembered`);
  }
});
