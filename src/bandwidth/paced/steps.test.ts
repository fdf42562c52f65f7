import assert from "node:assert/strict";
import { test } from "node:test";
import { pacedFlow, type PacedFlow } from "./paced-flow.ts";
import { aheadBytes, stepBytes, trickles } from "./steps.ts";

const FAST = {
  siteId: 1,
  predictedBps: 1e6,
  expectedBytes: 20_000,
  expectedWaitMs: 0,
  passedOverMs: 0,
};

/** One that was read for a second and brought so much. */
function shown(bytes: number): PacedFlow {
  const flow = pacedFlow(0, FAST, 8192);
  flow.turnSinceMs = 0;
  flow.receivedBytes = bytes;
  return flow;
}

test("a fast server is paid for in full beforehand, a slow one for what it sends meanwhile", () => {
  assert.equal(aheadBytes(0, pacedFlow(0, FAST, 8192), 4096), 4096);
  const thoughtSlow = pacedFlow(0, { ...FAST, predictedBps: 100 }, 8192);
  assert.equal(aheadBytes(0, thoughtSlow, 4096), 4096, "it has not shown that it is");
  const slow = shown(3000);
  assert.ok(aheadBytes(1000, slow, 4096) < 200);
  assert.equal(trickles(1000, slow), true);
  assert.equal(trickles(1000, shown(60_000)), false);
  assert.equal(trickles(0, pacedFlow(0, FAST, 8192)), false, "who has shown nothing is not slow");
});

test("no more is paid for than there is, and a slow server is read in small steps", () => {
  const short = pacedFlow(0, FAST, 8192);
  short.announcedBytes = 500;
  assert.equal(aheadBytes(0, short, 4096), 500);
  const rates = { rateBps: 1e6, siteBps: Infinity };
  assert.equal(stepBytes(0, pacedFlow(0, FAST, 8192), rates), 4096);
  assert.equal(stepBytes(1000, shown(3000), rates), 1024);
});

test("what lies in a window that was wider is read without paying for more", () => {
  const flow = pacedFlow(0, FAST, 2304);
  flow.receivedBytes = 10_000;
  flow.paidBytes = 15_000;
  assert.equal(aheadBytes(0, flow, 1152), 0);
  flow.receivedBytes = 13_000;
  assert.equal(aheadBytes(0, flow, 1152), 1152);
});
