import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "../base/clock.ts";
import { LaterTurns } from "./later-turns.ts";

/** A clock whose time passes only in work and in pauses. */
class WorkClock implements Clock {
  atMs = 0;
  nowMs = (): number => this.atMs;
  wallMs = (): number => this.atMs;
  after(delayMs: number, callBack: () => void): () => void {
    let isDue = true;
    queueMicrotask(() => {
      if (!isDue) return;
      this.atMs += delayMs;
      callBack();
    });
    return () => (isDue = false);
  }
  soon(callBack: () => void): void {
    this.after(0, callBack);
  }
}

test("pieces run one at a time, in order, and take a tenth of the time", async () => {
  const clock = new WorkClock();
  const turns = new LaterTurns(clock, new AbortController().signal);
  const begun: number[] = [];
  const works = [10, 20, 30].map((ms) =>
    turns.take(() => {
      begun.push(clock.atMs);
      clock.atMs += ms;
    }),
  );
  await Promise.all(works);
  assert.deepEqual(begun, [0, 100, 300]);
});

test("a piece that fails fails alone, and after the end there are no pauses", async () => {
  const clock = new WorkClock();
  const end = new AbortController();
  const turns = new LaterTurns(clock, end.signal);
  const failed = turns.take(() => {
    clock.atMs += 1;
    throw new Error("no room");
  });
  let begunMs = 0;
  const next = turns.take(() => {
    begunMs = clock.atMs;
    clock.atMs += 5;
  });
  await assert.rejects(failed, /no room/);
  await next;
  assert.equal(begunMs, 10);
  end.abort();
  await turns.take(() => (clock.atMs += 7));
  await turns.take(() => (clock.atMs += 7));
  assert.ok(clock.atMs <= 15 + 45 + 14);
});
