import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aheadBytes,
  type Download,
  downloadOf,
  endsInWindow,
  firstBytes,
  owedBytes,
  speedBps,
  stepBytes,
  unarrivedBytes,
} from "./download.ts";

const RATES = { limitBps: 1e6, siteBps: Infinity };

function downloadWith(changes: Partial<Download> = {}): Download {
  const candidate = {
    siteId: 1,
    predictedBps: 1e6,
    expectedBytes: 10_000,
    expectedWaitMs: 0,
    passedOverMs: 0,
  };
  return { ...downloadOf(0, candidate, 8000), ...changes };
}

test("three quarters of a window arrive before a response can be paused", () => {
  assert.equal(firstBytes(100_000, 8000), 6000);
  assert.equal(firstBytes(500, 8000), 500);
});

test("a paused download owes three eighths of its window, a slow one what it sends in 100 ms", () => {
  assert.equal(owedBytes(downloadWith({ receivedBytes: 1000 })), 4000);
  assert.equal(owedBytes(downloadWith({ receivedBytes: 1000, shownBps: 5000 })), 1500);
  assert.equal(owedBytes(downloadWith({ receivedBytes: 1000, paidBytes: 5000 })), -1000);
  assert.equal(owedBytes(downloadWith({ receivedBytes: 1000, announcedBytes: 1200 })), 1200);
});

test("a rest of three eighths of the window arrives in any case", () => {
  assert.equal(endsInWindow(downloadWith({ announcedBytes: 3000 })), true);
  assert.equal(endsInWindow(downloadWith({ announcedBytes: 3001 })), false);
  assert.equal(endsInWindow(downloadWith()), false);
});

test("a step is half a window, 2 ms of the limit if these are more, and 100 ms of a slow server", () => {
  const announced = downloadWith({ announcedBytes: 1e6 });
  assert.equal(stepBytes(0, announced, RATES), 4000);
  assert.equal(stepBytes(0, announced, { ...RATES, limitBps: 1e7 }), 20_000);
  assert.equal(stepBytes(0, downloadWith(), { ...RATES, limitBps: 1e7 }), 4000, "unannounced");
  assert.equal(stepBytes(0, announced, { ...RATES, siteBps: 20_000 }), 2000);
  assert.equal(stepBytes(0, downloadWith({ shownBps: 1 }), RATES), 1024);
});

test("only what can arrive within 100 ms is paid in advance", () => {
  assert.equal(aheadBytes(0, downloadWith(), 4000), 4000);
  assert.equal(aheadBytes(0, downloadWith({ shownBps: 10_000 }), 4000), 1000);
  assert.equal(aheadBytes(0, downloadWith({ announcedBytes: 700 }), 4000), 700);
  assert.equal(aheadBytes(0, downloadWith({ paidBytes: 11_000 }), 4000), 1000);
});

test("a turn shows a speed after a window, or after 100 ms; the window it began with does not count", () => {
  const inTurn = { turnSinceMs: 1000, shownBps: 7 };
  const after = (receivedBytes: number, nowMs: number): number | undefined =>
    speedBps(nowMs, downloadWith({ ...inTurn, receivedBytes }));
  assert.equal(after(16_000, 1080), 100_000);
  assert.equal(after(15_000, 1080), 7, "too early to know");
  assert.equal(after(0, 1100), 14_480, "a packet may be on its way");
  assert.equal(speedBps(5000, downloadWith({ ...inTurn, turnSinceMs: undefined })), 7);
  const paused = downloadWith({ ...inTurn, receivedBytes: 16_000, pausedSinceMs: 1080 });
  assert.equal(speedBps(9000, paused), 100_000, "a pause does not count");
});

test("paid bytes of paused downloads have arrived, those of others as far as they were received", () => {
  const paidBytes = 5000;
  const reading = downloadWith({ paidBytes, receivedBytes: 1000 });
  const paused = downloadWith({ paidBytes, pausedSinceMs: 5 });
  const granted = downloadWith({ paidBytes, receivedBytes: 1000, heldBytes: 4500 });
  assert.equal(unarrivedBytes([reading, paused, granted]), 4500);
});
