import assert from "node:assert/strict";
import { test } from "node:test";
import { SimClock } from "../lab/sim-clock.ts";
import type { Report } from "./messages.ts";
import { JoinQueue } from "./join-queue.ts";

async function pass(clock: SimClock, ms: number): Promise<void> {
  await clock.runUntil(new Promise<void>((resolve) => void clock.after(ms, resolve)));
}

function report(epochKnown: number): Report {
  return { epochKnown } as unknown as Report;
}

test("nodes that arrive within half a second join together, once", async () => {
  const clock = new SimClock();
  const queue = new JoinQueue(clock);
  queue.add("a", report(0));
  await pass(clock, 400);
  queue.add("b", report(7));
  assert.equal(queue.takeIfDue(), undefined);
  await pass(clock, 100);
  assert.ok(queue.hasVeterans);
  assert.deepEqual(queue.takeIfDue(), { names: ["a", "b"], veterans: ["b"], epochKnown: 7 });
  assert.ok(queue.isEmpty && !queue.hasVeterans);
  await pass(clock, 1_000);
  assert.equal(queue.takeIfDue(), undefined);
});

test("the time without joining nodes counts from the last one heard", async () => {
  const clock = new SimClock();
  const queue = new JoinQueue(clock);
  await pass(clock, 300);
  queue.heard();
  await pass(clock, 200);
  assert.equal(queue.quietMs, 200);
});
