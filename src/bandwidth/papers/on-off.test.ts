import assert from "node:assert/strict";
import { test } from "node:test";
import type { Candidate } from "../controller.ts";
import { OnOff } from "./on-off.ts";

const CANDIDATE: Candidate = {
  siteId: 1,
  predictedBps: 0,
  expectedBytes: 0,
  expectedWaitMs: 0,
  passedOverMs: 0,
};

test("below the limit one more may run every second, above it the youngest is stopped", () => {
  const control = new OnOff(0, 1000);
  assert.equal(control.admits(0), true);
  const first = control.begin(0, CANDIDATE);
  assert.equal(control.admits(500), false, "one at first");
  control.came(500, first, 400);
  assert.equal(control.admits(1000), true, "the last second was below the limit");
  const second = control.begin(1000, CANDIDATE);
  control.came(1500, first, 1000);
  assert.equal(control.came(1600, second, 1000), true);
  assert.equal(control.came(2000, second, 1), false, "the youngest of two is stopped");
  assert.equal(control.came(2000, first, 1), true);
  assert.equal(control.next(2500), undefined);
  assert.equal(control.next(3001), second, "and runs again when the second was below");
  assert.equal(Math.round(control.predictedBps), 2);
});

test("the end of a download lets a stopped one run, and none is left behind", () => {
  const control = new OnOff(0, 1000);
  const first = control.begin(0, CANDIDATE);
  const second = control.begin(0, CANDIDATE);
  assert.equal(control.came(10, second, 1), false);
  control.end(20, first);
  assert.equal(control.next(30), second);
  assert.equal(control.waiting, 0);
});

test("without a limit everything runs", () => {
  const control = new OnOff(0, undefined);
  control.begin(0, CANDIDATE);
  assert.equal(control.admits(0), true);
  assert.equal(control.nextAtMs(), Infinity);
});
