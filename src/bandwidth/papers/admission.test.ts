import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../../base/random.ts";
import { Admission } from "./admission.ts";
import type { Candidate, Flow } from "../controller.ts";

const WAIT_MAX_MS = 30_000;

test("by hand: a download starts when CB + B(u) <= L, and its end makes room for others", () => {
  const admission = new Admission(140_000, WAIT_MAX_MS);
  const first = start(admission, 100_000);
  assert.equal(admission.admits(0, candidate(50_000)), false);
  assert.equal(admission.admits(0, candidate(40_000)), true);
  start(admission, 40_000);
  assert.equal(admission.predictedBps, 140_000);
  admission.end(0, first);
  assert.equal(admission.predictedBps, 40_000);
  assert.equal(admission.admits(0, candidate(100_000)), true);
});

test("CB never exceeds L, whatever starts and ends, as long as nobody has waited too long", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const random = randomFrom(seed);
    const limitBps = 100_000;
    const admission = new Admission(limitBps, WAIT_MAX_MS);
    const running: Flow[] = [];
    for (let step = 0; step < 300; step++) {
      const asked = candidate(1000 + random.next() * 99_000);
      if (admission.admits(0, asked)) running.push(admission.begin(0, asked));
      else {
        const [ended] = running.splice(Math.floor(random.next() * running.length), 1);
        if (ended !== undefined) admission.end(0, ended);
      }
      assert.ok(admission.predictedBps <= limitBps + 1e-6, `seed ${seed}`);
    }
  }
});

test("a server faster than the limit is let in when it has waited too long, and paced", () => {
  const admission = new Admission(100_000, WAIT_MAX_MS);
  start(admission, 90_000);
  const fast = candidate(5_000_000);
  assert.equal(admission.admits(0, fast), false);
  const starved = { ...fast, passedOverMs: WAIT_MAX_MS };
  assert.equal(admission.admits(0, starved), true);
  const flow = admission.begin(0, starved);
  assert.equal(admission.came(0, flow, 25_000), false, "it must wait for its share");
  assert.equal(admission.next(500), undefined);
  assert.equal(admission.nextAtMs(500), 1000 + 1000 / 25_000);
  assert.equal(admission.next(1001), flow);
});

test("with nothing under way even a server faster than the limit may begin", () => {
  const admission = new Admission(100_000, WAIT_MAX_MS);
  assert.equal(admission.admits(0, candidate(5_000_000)), true);
});

function start(admission: Admission, predictedBps: number): Flow {
  return admission.begin(0, candidate(predictedBps));
}

function candidate(predictedBps: number): Candidate {
  return { siteId: 1, predictedBps, expectedBytes: 10_000, expectedWaitMs: 0, passedOverMs: 0 };
}
