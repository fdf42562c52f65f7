import assert from "node:assert/strict";
import { test } from "node:test";
import { sleep } from "../base/clock.ts";
import { randomFrom } from "../base/random.ts";
import { SimClock, SimulationStuck } from "./sim-clock.ts";

test("callbacks run in the order of their times, and in the order of scheduling at the same time", async () => {
  const clock = new SimClock(0, 0);
  const events: string[] = [];
  clock.after(20, () => events.push(`c at ${clock.nowMs()}`));
  clock.after(10, () => events.push(`a at ${clock.nowMs()}`));
  clock.after(10, () => events.push(`b at ${clock.nowMs()}`));
  await clock.runUntilIdle();
  assert.deepEqual(events, ["a at 10", "b at 10", "c at 20"]);
});

test("chains of promises settle before time advances", async () => {
  const clock = new SimClock(0, 0);
  const events: number[] = [];
  const walk = async (): Promise<void> => {
    for (let hop = 0; hop < 50; hop++) await Promise.resolve();
    events.push(clock.nowMs());
    clock.after(1, () => events.push(clock.nowMs()));
  };
  clock.after(5, () => void walk());
  clock.after(6, () => events.push(-clock.nowMs()));
  await clock.runUntilIdle();
  assert.deepEqual(events, [5, -6, 6]);
});

test("cancelled and forgotten callbacks do not run", async () => {
  const clock = new SimClock();
  clock.after(1, assert.fail)();
  clock.after(2, assert.fail);
  clock.forget();
  await clock.runUntilIdle();
  assert.equal(clock.events, 0);
});

test("a day of sleep takes no real time", async () => {
  const clock = new SimClock();
  const start = clock.nowMs();
  await clock.runUntil(sleep(clock, 86_400_000));
  assert.equal(clock.nowMs() - start, 86_400_000);
});

test("waiting for a promise that never settles is detected", async () => {
  const clock = new SimClock();
  clock.after(10, () => {});
  await assert.rejects(clock.runUntil(new Promise(() => {})), SimulationStuck);
});

test("the error of a failed goal is thrown", async () => {
  const clock = new SimClock();
  const goal = sleep(clock, 10).then(() => assert.fail("planted"));
  await assert.rejects(clock.runUntil(goal), /planted/);
});

test("a jump of the wall clock does not affect timers", async () => {
  const clock = new SimClock(1_000_000_000, 0);
  clock.after(10, () => clock.jumpWall(-500_000_000));
  await clock.runFor(20);
  assert.equal(clock.nowMs(), 20);
  assert.equal(clock.wallMs(), 500_000_020);
});

test("sleeping tasks from one seed wake in the same order every time", async () => {
  for (let seed = 1; seed <= 10; seed++)
    assert.equal(await sleepers(seed), await sleepers(seed), `seed ${seed}`);
});

/** Ten tasks that sleep at random, and the times at which each woke. */
async function sleepers(seed: number): Promise<string> {
  const clock = new SimClock();
  const random = randomFrom(seed);
  const events: string[] = [];
  const runTask = async (name: number): Promise<void> => {
    for (let day = 0; day < 20; day++) {
      await sleep(clock, random.next() * 100);
      events.push(`${name}@${clock.nowMs()}`);
    }
  };
  await clock.runUntil(Promise.all(Array.from({ length: 10 }, (_, name) => runTask(name))));
  return events.join();
}
