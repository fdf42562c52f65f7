import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageEstimate } from "./usage.ts";

const PART = { limitBps: 1e6, waitingReaders: 0, isDry: false };

test("the estimate rises at once, and hardly falls after a moment without bytes", () => {
  const usage = new UsageEstimate(0);
  let bytes = 0;
  for (let atMs = 100; atMs <= 3000; atMs += 100) usage.look(atMs, (bytes += 90_000), PART);
  const { usedBps: dipBps, isHungry } = usage.look(3100, bytes, PART);
  assert.ok(
    dipBps > 0.75e6 && dipBps < 0.9e6,
    `${dipBps} after a tenth of a second without a byte`,
  );
  assert.equal(isHungry, false);
  const rise = usage.look(3200, bytes + 99_000, PART);
  assert.equal(rise.usedBps, 990_000);
  assert.equal(rise.isHungry, true);
});

test("a process without work leaves its share to others at once", () => {
  const usage = new UsageEstimate(0);
  usage.look(1000, 1e6, PART);
  assert.ok(usage.look(1100, 1e6, PART).usedBps > 0.5e6);
  assert.equal(usage.look(1200, 1e6, { ...PART, isDry: true }).usedBps, 0);
});

test("while a reader waits, more could be used", () => {
  const { isHungry } = new UsageEstimate(0).look(100, 0, { ...PART, waitingReaders: 1 });
  assert.equal(isHungry, true);
});
