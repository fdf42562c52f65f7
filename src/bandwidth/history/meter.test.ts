import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import { Meter } from "./meter.ts";

test("bytes fall into the second they came in", () => {
  const meter = new Meter(500);
  meter.count(600, 10);
  meter.count(1499, 5);
  meter.count(1500, 7);
  assert.deepEqual(meter.recentBps(2500), [15, 7]);
  assert.equal(meter.worstBps, 15);
  assert.equal(meter.bytes, 22);
});

test("any pattern of arrivals gives the same windows as counting them one by one", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomFrom(seed);
    const meter = new Meter(0);
    const bySecond = new Map<number, number>();
    let nowMs = 0;
    for (let arrival = 0; arrival < 200; arrival++) {
      nowMs += below(random, random.next() < 0.02 ? 90_000 : 800);
      const bytes = below(random, 1000);
      meter.count(nowMs, bytes);
      const second = Math.floor(nowMs / 1000);
      bySecond.set(second, (bySecond.get(second) ?? 0) + bytes);
    }
    const present = Math.floor(nowMs / 1000);
    const expected = [];
    for (let second = Math.max(0, present - 59); second < present; second++)
      expected.push(bySecond.get(second) ?? 0);
    assert.deepEqual(meter.recentBps(nowMs), expected, `seed ${seed}`);
    bySecond.delete(present);
    assert.equal(meter.worstBps, Math.max(0, ...bySecond.values()), `seed ${seed}`);
  }
});

test("a second is held to the highest limit that was in force in it", () => {
  const meter = new Meter(0);
  meter.count(100, 5000);
  meter.setLimit(500, 100);
  meter.count(1500, 104);
  meter.count(2500, 106);
  meter.count(3100, 200);
  meter.setLimit(3200, 400);
  meter.setLimit(3300, 50);
  meter.count(4500, 49);
  meter.recentBps(5000);
  assert.equal(meter.worstShare, 1.06);
  assert.equal(meter.secondsOver, 1);
});
