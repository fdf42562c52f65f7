import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../../base/random.ts";
import { type Asked, Waits } from "./waits.ts";

function asked(startedAtMs: number, expectedWaitMs: number): Asked {
  return { startedAtMs, expectedWaitMs, isAnswered: false };
}

test("a request to a known server counts when it leaves, whatever our own program makes of its answer", () => {
  const waits = new Waits();
  for (let request = 0; request < 40; request++) waits.left(asked(0, 1000));
  assert.equal(waits.meanMs, 1000);
  for (let request = 0; request < 40; request++) waits.answered(9000, asked(0, 1000));
  assert.equal(waits.meanMs, 1000);
});

test("of an unknown server the answer is waited for, and until then it takes as long as it has taken", () => {
  const waits = new Waits();
  const underWay = [asked(0, 0), asked(100, 0)];
  waits.look(300, underWay);
  assert.equal(waits.meanMs, 250);
  for (let answer = 0; answer < 40; answer++) waits.answered(500, asked(0, 0));
  assert.equal(waits.meanMs, 500);
});

test("the requests of the last second count, and never fewer than fifty", () => {
  const random = randomFrom(1);
  const waits = new Waits();
  for (let nowMs = 0; nowMs < 10_000; nowMs += 10) {
    waits.left(asked(nowMs, nowMs < 5000 ? 100 : 900 + 200 * random.next()));
    waits.look(nowMs, []);
  }
  assert.ok(Math.abs(waits.meanMs - 1000) < 30, `${waits.meanMs}`);
  const before = waits.meanMs;
  waits.look(1e9, []);
  assert.equal(waits.meanMs, before, "a silence teaches nothing");
  waits.left(asked(1e9, 50));
  assert.ok(waits.meanMs > 0.97 * before, "nor does one request after it");
});
