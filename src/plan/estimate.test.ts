import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesLeft, capBps, meanBytesOf, type SiteFacts } from "./estimate.ts";

const FACTS: SiteFacts = {
  pending: 100,
  settled: 97,
  newPerSettled: 0,
  receivedBytes: 970_000,
  expectedBytes: undefined,
  usualBytes: 10_000,
};

test("a hundred pages of 10 KB wait, nothing new is found: 1 MB is left", () => {
  assert.equal(meanBytesOf(FACTS), 10_000);
  assert.equal(bytesLeft(FACTS), 1_000_000);
});

test("half a new URL a page doubles what waits; endless growth is bounded", () => {
  assert.equal(bytesLeft({ ...FACTS, newPerSettled: 0.5 }), 2_000_000);
  assert.ok(Math.abs(bytesLeft({ ...FACTS, newPerSettled: 50 }) - 10_000_000) < 1);
});

test("a size that was said is believed until what is found contradicts it", () => {
  const growing = { ...FACTS, newPerSettled: 0.5 };
  assert.equal(bytesLeft({ ...growing, expectedBytes: 5_970_000 }), 5_000_000);
  assert.equal(bytesLeft({ ...growing, expectedBytes: 500_000 }), 1_000_000, "more has come");
  assert.equal(bytesLeft({ ...FACTS, expectedBytes: 5_970_000 }), 1_000_000, "all has been found");
  assert.equal(bytesLeft({ ...FACTS, pending: 0, expectedBytes: 5_970_000 }), 0);
});

test("a cap is what one download gets times the requests at a time, or a page each delay", () => {
  const means = { downloadBps: 50_000, concurrency: 4, delayMs: 0, meanBytes: 10_000 };
  assert.equal(capBps({ ...means, saidBps: undefined }), 200_000);
  assert.equal(capBps({ ...means, delayMs: 1000, saidBps: undefined }), 10_000);
  assert.equal(capBps({ ...means, saidBps: 30_000 }), 30_000);
  assert.equal(capBps({ ...means, downloadBps: undefined, saidBps: undefined }), Infinity);
});
