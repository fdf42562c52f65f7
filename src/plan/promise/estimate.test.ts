import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bytesLeft,
  capBps,
  leastWaiting,
  meanBytesOf,
  requestsLeft,
  type SiteFacts,
  timesSaid,
} from "./estimate.ts";

const FACTS: SiteFacts = {
  pending: 100,
  settled: 97,
  newPerSettled: 0,
  receivedBytes: 970_000,
  expectedBytes: undefined,
  expectedPages: undefined,
  usualBytes: 10_000,
};

test("a hundred pages of 10 KB wait, nothing new is found: 1 MB is left", () => {
  assert.equal(meanBytesOf(FACTS), 10_000);
  assert.equal(bytesLeft(FACTS), 1_000_000);
});

test("half a new URL a page adds half of what waits; endless growth is bounded", () => {
  assert.equal(bytesLeft({ ...FACTS, newPerSettled: 0.5 }), 1_500_000);
  assert.equal(bytesLeft({ ...FACTS, newPerSettled: 50 }), 3_000_000);
});

test("a size that was said is believed at first, and the less the more has been seen", () => {
  const said = { ...FACTS, newPerSettled: 0.5, expectedBytes: 5_970_000 };
  assert.equal(bytesLeft({ ...said, settled: 0, receivedBytes: 0 }), 5_970_000);
  // 97 of 197 have come, and brought half as many new ones: a third of the way from the 5 MB that
  // were said to the most that may well be left, each of the waiting bringing one more.
  const most = 2_000_000 * (1 + 1 / Math.sqrt(97));
  const trust = 0.5 * Math.sqrt(97 / 197);
  assert.ok(Math.abs(bytesLeft(said) - (5_000_000 - trust * (5_000_000 - most))) < 1);
  assert.equal(bytesLeft({ ...said, newPerSettled: 1 }), 5_000_000, "it is still being found");
  assert.equal(bytesLeft({ ...said, pending: 0 }), 0);
});

test("a size that may well be right stays as it was said, whatever is foreseen", () => {
  // 1 MB waits, and 0.5 MB more is foreseen: 1.2 MB may be right, or 1.9.
  for (const leftBytes of [1_200_000, 1_900_000]) {
    const said = { ...FACTS, newPerSettled: 0.5, expectedBytes: 970_000 + leftBytes };
    assert.equal(bytesLeft(said), leftBytes);
  }
});

test("requests left are the configured pages that have not come, else the size in pages of the mean, and never fewer than wait", () => {
  const start = { ...FACTS, pending: 1, settled: 0, receivedBytes: 0, newPerSettled: 1 };
  const pages = { ...start, expectedPages: 40 };
  assert.equal(requestsLeft(pages), 40);
  assert.equal(bytesLeft(pages), 400_000, "of the usual size");
  assert.equal(requestsLeft({ ...pages, expectedBytes: 8e6 }), 40, "whatever their size");
  assert.equal(requestsLeft({ ...start, expectedBytes: 400_000 }), 40);
  const half = { ...pages, settled: 20, pending: 20, newPerSettled: 0 };
  assert.equal(requestsLeft(half), 20);
  assert.equal(requestsLeft({ ...half, pending: 60 }), 60, "more wait than were configured");
  assert.equal(requestsLeft({ ...FACTS, newPerSettled: 0.5 }), 150);
  assert.equal(requestsLeft({ ...half, pending: 0 }), 0);
});

test("two sites with twice what was said tell of the others, one does not; less tells when all have clearly less", () => {
  const twice = { saidBytes: 1e6, seenBytes: 2e6 };
  assert.equal(timesSaid([]), 1);
  assert.equal(timesSaid([twice]), 1);
  assert.equal(timesSaid([twice, twice]), 2);
  const more = { saidBytes: 1e6, seenBytes: 1.2e6 };
  assert.equal(timesSaid([more, more]), 1, "chance");
  assert.equal(timesSaid([more, more, more]), 1.2);
  const half = { saidBytes: 1e6, seenBytes: 0.5e6 };
  assert.equal(timesSaid([half]), 0.5);
  assert.equal(timesSaid([half, { saidBytes: 1e6, seenBytes: 0.7e6 }]), 0.7);
  const nearly = { saidBytes: 1e6, seenBytes: 0.76e6 };
  assert.equal(timesSaid([half, half, nearly]), 1, "one is nearly as large as was said");
});

test("more has come than was said: what waits is left at least", () => {
  const left = bytesLeft({ ...FACTS, newPerSettled: 0.5, expectedBytes: 500_000 });
  assert.ok(left > 1_000_000 && left < 2_000_000, `${left}`);
});

test("a few large pages do not refute what was said, many do", () => {
  const said = { ...FACTS, usualBytes: 12_000, expectedBytes: 1_200_000, newPerSettled: 0 };
  const few = { ...said, settled: 16, receivedBytes: 16 * 12_000, pending: 100 };
  assert.ok(leastWaiting(few) < 1_200_000 - few.receivedBytes);
  const many = { ...said, settled: 81, receivedBytes: 81 * 12_000, pending: 100 };
  assert.ok(Math.abs(leastWaiting(many) - (1_200_000 * 7) / 9) < 1);
  assert.equal(leastWaiting({ ...few, settled: 9 }), 1, "nine tell nothing");
});

test("a cap is what one download gets times the requests at a time, or as configured", () => {
  const means = { downloadBps: 50_000, concurrency: 4 };
  assert.equal(capBps({ ...means, saidBps: undefined }), 200_000);
  assert.equal(capBps({ ...means, saidBps: 30_000 }), 30_000);
  assert.equal(capBps({ ...means, gaveBps: 300_000, saidBps: undefined }), 300_000, "it gave more");
  assert.equal(capBps({ ...means, gaveBps: 300_000, saidBps: 30_000 }), 30_000);
  assert.equal(capBps({ ...means, downloadBps: undefined, saidBps: undefined }), Infinity);
  assert.equal(capBps({ ...means, saidBps: 230_000 }), 230_000, "no better known than said");
  assert.equal(capBps({ ...means, saidBps: 300_000 }), 200_000, "said far too high");
});
