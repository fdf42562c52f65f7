/** What each constant of the governor means, by example. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Candidate } from "../controller.ts";
import { Governor } from "./governor.ts";

const NEAR: Candidate = {
  siteId: 1,
  predictedBps: 1e6,
  expectedBytes: 1000,
  expectedWaitMs: 5,
  passedOverMs: 0,
};

function governorAt(limitBps: number): Governor {
  const governor = new Governor(0, limitBps);
  governor.setWindow(8192);
  return governor;
}

/** A governor with a paused download, which goes on as soon as the balance allows. */
function paused(limitBps: number): Governor {
  const governor = governorAt(limitBps);
  const flow = governor.begin(0, NEAR);
  while (governor.came(0, flow, 3000));
  return governor;
}

test("99 % of the limit are spent", () => {
  const governor = paused(1e6);
  const beforeMs = governor.nextAtMs(0);
  governor.cameBeside(0, 9900);
  assert.ok(Math.abs(governor.nextAtMs(0) - beforeMs - 10) < 0.01);
});

test("requests leave at 1.08 times the target by expected bytes, to unknown servers 2.5 times as slowly", () => {
  const shutMs = (expectedWaitMs: number): number => {
    const governor = governorAt(1e5);
    governor.begin(0, { ...NEAR, expectedBytes: 10_885, expectedWaitMs });
    let nowMs = 0;
    while (governor.isShut(nowMs)) nowMs += 1;
    return nowMs;
  };
  assert.deepEqual([shutMs(2000), shutMs(0)], [102, 255]);
});

test("responses that are expected at the same time use the bytes of 100 ms saved until then, and 20 ms more", () => {
  const governor = governorAt(1e5);
  let admitted = 0;
  for (let nowMs = 0; nowMs < 1800; nowMs += 20) {
    const candidate = { ...NEAR, expectedBytes: 500, expectedWaitMs: 3000 - nowMs };
    if (!governor.admits(nowMs, candidate)) continue;
    governor.begin(nowMs, candidate);
    admitted += 1;
  }
  // Reserved at 1.08 times the target, and one response may always be below the floor.
  assert.ok(admitted >= 23 && admitted <= 30, `${admitted} responses of 500 bytes`);
});

test("no request to a fast server starts after a second with 101.5 % of the target", () => {
  const admitsAfter = (share: number): boolean => {
    const governor = governorAt(1e6);
    governor.carried(0, 0);
    governor.carried(500, share * 990_000);
    return governor.admits(900, NEAR);
  };
  assert.deepEqual([admitsAfter(1.01), admitsAfter(1.02)], [true, false]);
});

test("the counters of the line correct the balance by at most 100 ms at a time", () => {
  const governor = paused(1e6);
  governor.carried(0, 0);
  const beforeMs = governor.nextAtMs(0);
  governor.carried(0, 900_000);
  assert.ok(Math.abs(governor.nextAtMs(0) - beforeMs - 100) < 0.01);
});

test("from 5 MB/s on the system is asked later what lies unread", () => {
  assert.equal(new Governor(0, 4e6).wantsUnread, "at once");
  assert.equal(new Governor(0, 6e6).wantsUnread, "later");
});

test("windows may be widened while all of them together hold at most 50 ms of the limit", () => {
  const governor = governorAt(1e6);
  for (let download = 0; download < 6; download++)
    governor.begin(0, { ...NEAR, expectedWaitMs: 3000 });
  assert.equal(governor.isHungry(1000), true);
  governor.begin(1000, { ...NEAR, expectedWaitMs: 3000 });
  assert.equal(governor.isHungry(1000), false);
});

test("a handshake of more than 16 KiB is paused like a body", () => {
  const governor = paused(1e6);
  const flow = governor.begin(0, { ...NEAR, siteId: 2 });
  assert.equal(governor.came(0, flow, 16_384, true), true);
  assert.equal(governor.came(0, flow, 1, true), false);
});
