import assert from "node:assert/strict";
import { test } from "node:test";
import { SiteBalances } from "./balance.ts";
import { type Download, downloadOf } from "./download.ts";
import { Paused } from "./paused.ts";

const LIMIT_BPS = 100_000;
const nobody = (): Set<number> => new Set();

function download(siteId: number, changes: Partial<Download> = {}): Download {
  const candidate = { predictedBps: 1e6, expectedBytes: 1e6, expectedWaitMs: 0, passedOverMs: 0 };
  const flow = downloadOf(0, { siteId, ...candidate }, 2000);
  return { ...flow, announcedBytes: 1e6, ...changes };
}

function pausedOf(...flows: readonly Download[]): { paused: Paused; sites: SiteBalances } {
  const sites = new SiteBalances();
  const paused = new Paused(sites, () => LIMIT_BPS);
  for (const flow of flows) paused.add(0, flow);
  return { paused, sites };
}

test("first come, first served; a download in its turn before the others", () => {
  const first = download(1);
  const second = download(2);
  const inTurn = download(3, { turnSinceMs: 0 });
  const { paused } = pausedOf(first, second, inTurn);
  assert.deepEqual(
    [1, 2, 3].map(() => paused.takeFirst(0)?.siteId),
    [3, 1, 2],
  );
  assert.equal(paused.size, 0);
});

test("a turn is over after 50 ms of the limit, and the last 50 ms are read in one turn", () => {
  const over = download(1, { turnSinceMs: 0, receivedBytes: 5000 });
  const under = download(2, { turnSinceMs: 0, receivedBytes: 4999 });
  const last = download(3, { receivedBytes: 995_000 });
  const { paused } = pausedOf(over, under, last);
  assert.equal(over.turnSinceMs, undefined);
  assert.deepEqual(
    [1, 2, 3].map(() => paused.takeFirst(0)?.siteId),
    [2, 3, 1],
  );
});

test("with ranks the lowest goes first, before those in their turn", () => {
  const { paused } = pausedOf(download(5, { turnSinceMs: 0 }), download(4));
  assert.equal(paused.isBefore(9), false, "without ranks none is before another");
  paused.setOrder((siteId) => siteId);
  assert.equal(paused.isBefore(5), true);
  assert.equal(paused.isBefore(4), false);
  assert.equal(paused.goesFirst(0, download(3)), true);
  assert.equal(paused.goesFirst(0, download(4)), false);
  assert.equal(paused.takeFirst(0)?.siteId, 4);
});

test("a download whose site has spent its limit waits for it, and for no turn", () => {
  const { paused, sites } = pausedOf();
  sites.setRate(0, 1, 1000, nobody);
  sites.spend(0, { siteId: 1 }, 99);
  const flow = download(1);
  paused.add(0, flow);
  assert.deepEqual([paused.isHeld(flow), paused.sizeForLimit, paused.size], [true, 0, 1]);
  assert.equal(
    paused.nextAtMs(0, () => 5),
    100,
  );
  paused.look(50);
  assert.equal(paused.takeFirst(50), undefined);
  paused.look(100);
  assert.equal(paused.takeFirst(100), flow);
});

test("a download whose rest arrives in any case goes on at once", () => {
  const flow = download(1);
  const { paused } = pausedOf(flow);
  paused.letEnd(flow);
  assert.equal(
    paused.nextAtMs(7, () => 99),
    7,
  );
  assert.equal(paused.takeEnding(), flow);
  assert.equal(paused.size, 0);
});
