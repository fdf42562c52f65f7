import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../../base/random.ts";
import { LastSecond } from "./last-second.ts";

test("what was spent a second ago no longer counts, and what was given back counts less", () => {
  const second = new LastSecond();
  second.add(10_000, 100);
  second.add(10_500, -30);
  assert.equal(second.bytes(10_999), 70);
  assert.equal(second.bytes(11_000), -30);
  assert.equal(second.bytes(99_000), 0);
  assert.ok(second.changesAtMs(10_010) <= 10_025);
});

test("it is what a list of all spending adds up to, to a step", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomFrom(seed);
    const second = new LastSecond();
    const all: { readonly atMs: number; readonly bytes: number }[] = [];
    let nowMs = 1000 * random.next();
    for (let count = 0; count < 300; count++) {
      nowMs += random.next() * (random.next() < 0.02 ? 3000 : 40);
      const bytes = Math.round(1000 * random.next());
      second.add(nowMs, bytes);
      all.push({ atMs: nowMs, bytes });
      const since = (ms: number): number =>
        all.filter(({ atMs }) => atMs > nowMs - ms).reduce((sum, each) => sum + each.bytes, 0);
      const sum = second.bytes(nowMs);
      assert.ok(sum >= since(975) - 1e-6 && sum <= since(1000) + 1e-6, `seed ${seed}: ${sum}`);
    }
  }
});
