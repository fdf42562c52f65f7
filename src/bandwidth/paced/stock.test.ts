import assert from "node:assert/strict";
import { test } from "node:test";
import type { Candidate } from "../controller.ts";
import { type Download, downloadOf } from "./download.ts";
import { Stock } from "./stock.ts";

const CANDIDATE: Candidate = {
  siteId: 1,
  predictedBps: 1000,
  expectedBytes: 10_000,
  expectedWaitMs: 0,
  passedOverMs: 0,
};

function stockOf(allowed = { mostBps: Infinity, isPaused: false }): Stock {
  return new Stock(() => allowed);
}

function added(stock: Stock, changes: Partial<Download> = {}): Download {
  const flow = { ...downloadOf(0, CANDIDATE, 2000), ...changes };
  stock.add(0, flow);
  return flow;
}

test("wanted is what 50 ms and the mean wait take, and a margin of four roots", () => {
  const stock = stockOf();
  assert.equal(stock.wantedBytes(200_000, 10_000), 10_000 + 4 * 10_000);
  added(stock, { expectedWaitMs: 150 });
  assert.equal(stock.horizonSeconds, 0.2);
  assert.equal(stock.wantedBytes(50_000, 10_000), 10_000 + 4 * 10_000);
});

test("the mean wait is the plain mean of 100 requests, and follows later ones by a hundredth", () => {
  const stock = stockOf();
  for (let request = 0; request < 100; request++)
    added(stock, { expectedWaitMs: request % 2 === 0 ? 100 : 200 });
  assert.equal(Math.round(stock.horizonSeconds * 1000), 200);
  added(stock, { expectedWaitMs: 10_150 });
  assert.equal(Math.round(stock.horizonSeconds * 1000), 300);
});

test("the wait of an unknown server is learned from its response", () => {
  const stock = stockOf();
  stock.answered(700, added(stock));
  assert.equal(stock.horizonSeconds, 0.75);
});

test("a download counts with what its server can send soon, at most with what is left of it", () => {
  const stock = stockOf();
  const flow = added(stock);
  assert.equal(stock.bytes, 50, "1,000 bytes per second for 50 ms");
  Object.assign(flow, { isAnswered: true, announcedBytes: 40, receivedBytes: 10 });
  stock.count(0, flow);
  assert.equal(stock.bytes, 30);
  stock.delete(flow);
  assert.equal(stock.bytes, 0);
});

test("a paused download counts in full, one that its site's limit holds with its window", () => {
  const paused = stockOf({ mostBps: Infinity, isPaused: true });
  added(paused);
  assert.equal(paused.bytes, 10_000);
  const held = stockOf({ mostBps: 0, isPaused: true });
  added(held);
  assert.equal(held.bytes, 2000);
});

test("beyond its expected size a quarter of what came is expected to follow", () => {
  const stock = stockOf({ mostBps: Infinity, isPaused: true });
  added(stock, { receivedBytes: 40_000, isAnswered: true });
  assert.equal(stock.bytes, 10_000);
});
