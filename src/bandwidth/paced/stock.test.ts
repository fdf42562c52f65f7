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
  const waiting = { ...flow, waitsSinceMs: 10 };
  assert.equal(shownBps(5000, waiting), 1e6, "what it waits for us says nothing of it");
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

test("as much more is wanted as the pipe lost, up to a quarter at a time, and less when it lost nothing", () => {
  const stock = new Stock<PacedFlow>(() => ({ mostBps: Infinity, isWaiting: false }));
  const plain = stock.wantedBytes(1e6, 10_000);
  stock.adapt(100, { rateBps: 1e6, lostBytes: 0 });
  stock.adapt(150, { rateBps: 1e6, lostBytes: 2000 });
  assert.equal(stock.wantedBytes(1e6, 10_000), plain, "judged by a tenth of a second at least");
  stock.adapt(200, { rateBps: 1e6, lostBytes: 3000 });
  near(stock.wantedBytes(1e6, 10_000), 1.1 * plain);
  stock.adapt(300, { rateBps: 1e6, lostBytes: 90_000 });
  near(stock.wantedBytes(1e6, 10_000), 1.25 * 1.1 * plain);
  for (let nowMs = 400; nowMs < 10_000; nowMs += 100)
    stock.adapt(nowMs, { rateBps: 1e6, lostBytes: 0 });
  assert.equal(stock.wantedBytes(1e6, 10_000), plain);
});

test("of slow servers nothing is raised for a little, since it would come a second later", () => {
  const stock = new Stock<PacedFlow>(() => ({ mostBps: Infinity, isWaiting: false }));
  for (let request = 0; request < 40; request++)
    stock.add(0, pacedFlow(0, { ...CANDIDATE, expectedWaitMs: 1000 }, WINDOW_BYTES));
  const plain = stock.wantedBytes(1e6, 10_000);
  stock.adapt(2000, { rateBps: 1e6, lostBytes: 0 });
  stock.adapt(4000, { rateBps: 1e6, lostBytes: 400_000 });
  assert.equal(stock.wantedBytes(1e6, 10_000), plain);
  stock.adapt(6000, { rateBps: 1e6, lostBytes: 1_900_000 });
  assert.ok(stock.wantedBytes(1e6, 10_000) > plain, "nothing came at all");
});

function near(actual: number, expected: number): void {
  assert.ok(Math.abs(actual / expected - 1) < 1e-9, `${actual}, not ${expected}`);
}
