import assert from "node:assert/strict";
import { test } from "node:test";
import { figuresOf, firstBytesAtMs, settledAfterMs, windowsOf } from "./bandwidth-windows.ts";

/** A counter that rises evenly, read at uneven times. */
function even(bps: number, toMs: number): { atMs: number; bytes: number }[] {
  const samples = [];
  for (let atMs = 0, step = 90; atMs <= toMs; atMs += step, step = 190 - step)
    samples.push({ atMs, bytes: (atMs * bps) / 1000 });
  return samples;
}

test("an even rate read at uneven times has even windows", () => {
  const windows = windowsOf(even(5000, 10_000), 2000, 9000);
  assert.equal(windows.length, 61);
  for (const { bps } of windows) assert.ok(Math.abs(bps - 5000) < 1e-6);
  const figures = figuresOf(windows, 10_000);
  assert.ok(Math.abs(figures.meanShare - 0.5) < 1e-9 && figures.deviationShare < 1e-9);
  assert.equal(figures.above, 0);
});

test("a burst is in every window that holds it, and in no other", () => {
  const samples = even(0, 6000).map(({ atMs }) => ({ atMs, bytes: atMs >= 3000 ? 2000 : 0 }));
  const shares = windowsOf(samples, 0, 6000).map(({ bps }) => bps / 1000);
  assert.equal(Math.max(...shares), 2);
  assert.equal(shares.filter((share) => share > 1.05).length, 10);
});

test("a change is over with the last window outside the new band", () => {
  const windows = [800, 1000, 2500, 4000, 3900, 4100].map((bps, at) => ({ atMs: at * 100, bps }));
  assert.equal(settledAfterMs(windows, 50, { lowBps: 3600, highBps: 4200 }), 250);
  assert.equal(settledAfterMs(windows, 50, { lowBps: 3600, highBps: 4000 }), undefined);
});

test("the first byte is not the machines' greeting", () => {
  const samples = [7, 77, 177, 5000].map((bytes, at) => ({ atMs: at, bytes }));
  assert.equal(firstBytesAtMs(samples), 3);
});
