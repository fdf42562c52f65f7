import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import { Arrivals } from "./arrivals.ts";

test("what is due around a time is a mean with the fuller of the tenths of a second beside it", () => {
  const arrivals = new Arrivals();
  arrivals.add(1050, 200);
  assert.equal(arrivals.aroundBps(1000), 1000);
  assert.equal(arrivals.aroundBps(1199), 1000, "the tenth after it");
  assert.equal(arrivals.aroundBps(900), 1000, "and the one before");
  assert.equal(arrivals.aroundBps(1200), 0);
  assert.equal(arrivals.aroundBps(899), 0);
  arrivals.add(950, 100);
  arrivals.add(1150, 300);
  assert.equal(arrivals.aroundBps(1000), 2500, "not the mean of all three");
});

test("whatever came or will not come leaves nothing behind", () => {
  const random = randomFrom(1);
  const arrivals = new Arrivals();
  const due = Array.from({ length: 1000 }, () => ({
    atMs: below(random, 5000),
    bytes: 1 + below(random, 9000),
  }));
  for (const { atMs, bytes } of due) arrivals.add(atMs, bytes);
  for (const { atMs, bytes } of due.toReversed()) arrivals.add(atMs, -bytes);
  for (let atMs = 0; atMs < 6000; atMs += 50) assert.equal(arrivals.aroundBps(atMs), 0);
});
