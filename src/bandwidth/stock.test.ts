import assert from "node:assert/strict";
import { test } from "node:test";
import { pacedFlow, type PacedFlow } from "./paced-flow.ts";
import { shownBps, Stock } from "./stock.ts";

const CANDIDATE = {
  siteId: 1,
  predictedBps: 1e6,
  expectedBytes: 20_000,
  expectedWaitMs: 0,
  passedOverMs: 0,
};
const WINDOW_BYTES = 8192;

test("a download is as fast as its turn shows, less what lay in the system already", () => {
  const flow = pacedFlow(0, CANDIDATE, WINDOW_BYTES);
  assert.equal(shownBps(10, flow), undefined);
  flow.turnSinceMs = 0;
  flow.receivedBytes = WINDOW_BYTES;
  assert.equal(shownBps(10, flow), undefined, "a window was there at once and tells nothing");
  flow.receivedBytes = 2 * WINDOW_BYTES + 1808;
  assert.equal(shownBps(10, flow), 1e6);
  const slow = { ...flow, receivedBytes: 500 };
  assert.equal(shownBps(90, slow), undefined);
  assert.equal(shownBps(1000, slow), 1448, "after a while even silence tells");
  slow.shownBps = 7000;
  slow.turnSinceMs = undefined;
  assert.equal(shownBps(2000, slow), 7000, "and is remembered until its next turn");
});

test("what slow downloads promised is no longer counted once they have shown how slow they are", () => {
  const stock = new Stock<PacedFlow>(() => ({ mostBps: Infinity, isWaiting: false }));
  const flows = Array.from({ length: 10 }, () => pacedFlow(0, CANDIDATE, WINDOW_BYTES));
  for (const flow of flows) stock.add(0, flow);
  assert.equal(stock.bytes, 10 * 20_000);
  for (const flow of flows) {
    stock.answered(20, flow);
    flow.isAnswered = true;
    flow.turnSinceMs = 20;
    flow.receivedBytes = 1000;
  }
  stock.reckon(1020);
  // 70 ms ahead, at 1.4 KB/s each.
  assert.ok(stock.bytes < 1500, `${stock.bytes}`);
  for (const flow of flows) stock.delete(flow);
  assert.ok(Math.abs(stock.bytes) < 1e-6, `${stock.bytes}`);
});

test("more is wanted while the pipe runs dry over enough, and less again when it looks farther ahead", () => {
  const stock = new Stock<PacedFlow>(() => ({ mostBps: Infinity, isWaiting: false }));
  const plain = stock.wantedBytes(1e6, 10_000);
  for (let nowMs = 100; nowMs <= 1000; nowMs += 100)
    stock.adapt(nowMs, { isDry: true, wasEnough: true });
  const raised = stock.wantedBytes(1e6, 10_000);
  assert.ok(raised > 5 * plain, `${raised} after ${plain}`);
  const flow = pacedFlow(0, CANDIDATE, WINDOW_BYTES);
  // Answers take a second: what was too little was the time, not the stock.
  for (let answer = 0; answer < 40; answer++) stock.answered(1000, flow);
  const fresh = new Stock<PacedFlow>(() => ({ mostBps: Infinity, isWaiting: false }));
  for (let answer = 0; answer < 40; answer++) fresh.answered(1000, flow);
  assert.equal(stock.wantedBytes(1e6, 10_000), fresh.wantedBytes(1e6, 10_000));
});
