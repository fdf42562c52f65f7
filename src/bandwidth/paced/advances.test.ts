import assert from "node:assert/strict";
import { test } from "node:test";
import { Advances } from "./advances.ts";

interface Moved {
  movedAtMs: number;
}

/** Looked at every 10 ms, as a governor does. */
function takenBy(advances: Advances<Moved>, fromMs: number, toMs: number): Moved[] {
  const taken: Moved[] = [];
  for (let nowMs = fromMs; nowMs <= toMs; nowMs += 10) taken.push(...advances.take(nowMs));
  return taken;
}

test("who is quick and does not answer is named once, who answers is not", () => {
  const advances = new Advances<Moved>();
  const [silent, quick] = [{ movedAtMs: 0 }, { movedAtMs: 0 }];
  for (const flow of [silent, quick]) advances.asked(0, flow);
  quick.movedAtMs = 20;
  advances.answered(20, quick);
  assert.deepEqual(takenBy(advances, 0, 90), [silent]);
  assert.deepEqual(
    takenBy(advances, 100, 150),
    [quick],
    "nothing came of it after its first bytes",
  );
});

test("a body that moves keeps what was paid for it", () => {
  const advances = new Advances<Moved>();
  const flow = { movedAtMs: 0 };
  advances.granted(0, flow);
  for (let nowMs = 0; nowMs <= 500; nowMs += 10) {
    if (nowMs % 50 === 0) flow.movedAtMs = nowMs;
    assert.deepEqual([...advances.take(nowMs)], [], `${nowMs}`);
  }
  assert.deepEqual(takenBy(advances, 510, 610), [flow]);
});

test("after we stood still nothing is taken back before there was time to read", () => {
  const advances = new Advances<Moved>();
  const flow = { movedAtMs: 0 };
  advances.granted(0, flow);
  assert.deepEqual([...advances.take(0)], []);
  assert.deepEqual([...advances.take(300)], []);
  assert.deepEqual([...advances.take(310)], [flow]);
});
