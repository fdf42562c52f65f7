import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { fingerprintOf } from "../url/fingerprint.ts";
import { DistinctCount } from "./distinct-count.ts";

function addPages(sketch: DistinctCount, from: number, behind: number): void {
  for (let n = from; n < behind; n++) {
    const { high, low } = fingerprintOf(`http://a.org/${n}`);
    sketch.add(high, low);
  }
}

test("small counts are exact, also for merged sketches that overlap", () => {
  const one = new DistinctCount();
  const two = new DistinctCount();
  addPages(one, 0, 2000);
  addPages(one, 0, 2000);
  addPages(two, 1500, 3000);
  assert.equal(one.count, 2000);
  one.merge(two.values);
  assert.equal(one.count, 3000);
});

test("large counts are within 5 %", () => {
  const sketch = new DistinctCount();
  addPages(sketch, 0, 300_000);
  const apart = Math.abs(sketch.count / 300_000 - 1);
  assert.ok(apart < 3 / Math.sqrt(4096), `${sketch.count}`);
});

test("merged sketches of the parts equal the sketch of the whole, in any order", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = randomFrom(seed);
    const whole = new DistinctCount(16);
    const parts = Array.from({ length: 4 }, () => new DistinctCount(16));
    for (let n = 0; n < 200; n++) {
      const { high, low } = fingerprintOf(`${seed} ${below(random, 60)}`);
      whole.add(high, low);
      parts[below(random, 4)]?.add(high, low);
    }
    const merged = new DistinctCount(16);
    for (const part of parts.toReversed()) merged.merge(part.values);
    assert.deepEqual(merged.values, whole.values, `seed ${seed}`);
    assert.equal(merged.count, whole.count, `seed ${seed}`);
  }
});
