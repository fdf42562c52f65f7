import assert from "node:assert/strict";
import { test } from "node:test";
import { FullThread } from "./full-thread.ts";

const FULL = { busyShare: 1, delayedShare: 0.1, share: 0.8 };

test("a thread that is full for five seconds, with a limit that is not, is told of once", () => {
  const thread = new FullThread();
  const told = Array.from({ length: 20 }, () => thread.look(FULL));
  assert.deepEqual(told.indexOf("thread"), 4);
  assert.equal(told.filter(Boolean).length, 1);
});

test("the machine is the cause where the thread waits for a processor, and every such second counts", () => {
  for (const [delayedShare, cause] of [
    [0.2, "thread"],
    [0.4, "machine"],
  ] as const) {
    const thread = new FullThread();
    const answers = Array.from({ length: 8 }, () => thread.look({ ...FULL, delayedShare }));
    assert.deepEqual(answers.filter(Boolean), [cause]);
    assert.equal(thread.seconds, 8);
    thread.look({ ...FULL, share: 0.95 });
    assert.equal(thread.seconds, 8);
  }
});

test("a thread that waits for a processor a third of its time is starved, though it runs little", () => {
  const thread = new FullThread();
  for (let second = 0; second < 6; second++)
    thread.look({ busyShare: 0.5, delayedShare: 0.35, share: 0.6 });
  for (let second = 0; second < 6; second++)
    thread.look({ busyShare: 0.5, delayedShare: 0.2, share: 0.6 });
  assert.equal(thread.seconds, 6);
});

test("nothing is told where the limit is filled, where there is time left, or of a moment", () => {
  for (const other of [
    { ...FULL, share: 0.99 },
    { ...FULL, busyShare: 0.5 },
  ]) {
    const thread = new FullThread();
    for (let second = 0; second < 40; second++)
      assert.equal(thread.look(second % 5 === 4 ? other : FULL), undefined);
  }
});
