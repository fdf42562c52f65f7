import assert from "node:assert/strict";
import { test } from "node:test";
import { sleep } from "../base/clock.ts";
import { randomFrom } from "../base/random.ts";
import { SimClock, SimulationStuck } from "./sim-clock.ts";

test("things happen in the order of their times, and of asking within one moment", async () => {
  const clock = new SimClock(0, 0);
  const story: string[] = [];
  clock.after(20, () => story.push(`c at ${clock.nowMs()}`));
  clock.after(10, () => story.push(`a at ${clock.nowMs()}`));
  clock.after(10, () => story.push(`b at ${clock.nowMs()}`));
  await clock.runUntilIdle();
  assert.deepEqual(story, ["a at 10", "b at 10", "c at 20"]);
});

test("what promises set off is over before the next moment", async () => {
  const clock = new SimClock(0, 0);
  const story: number[] = [];
  const walk = async (): Promise<void> => {
    for (let hop = 0; hop < 50; hop++) await Promise.resolve();
    story.push(clock.nowMs());
    clock.after(1, () => story.push(clock.nowMs()));
  };
  clock.after(5, () => void walk());
  clock.after(6, () => story.push(-clock.nowMs()));
  await clock.runUntilIdle();
  assert.deepEqual(story, [5, -6, 6]);
});

test("a cancelled happening does not happen, and a forgotten one neither", async () => {
  const clock = new SimClock();
  clock.after(1, assert.fail)();
  clock.after(2, assert.fail);
  clock.forget();
  await clock.runUntilIdle();
  assert.equal(clock.events, 0);
});

test("a day of sleeping passes at once", async () => {
  const clock = new SimClock();
  const start = clock.nowMs();
  await clock.runUntil(sleep(clock, 86_400_000));
  assert.equal(clock.nowMs() - start, 86_400_000);
});

test("waiting for what nobody will do is found out", async () => {
  const clock = new SimClock();
  clock.after(10, () => {});
  await assert.rejects(clock.runUntil(new Promise(() => {})), SimulationStuck);
});

test("a goal that fails hands its error on", async () => {
  const clock = new SimClock();
  const goal = sleep(clock, 10).then(() => assert.fail("planted"));
  await assert.rejects(clock.runUntil(goal), /planted/);
});

test("a jump of the wall clock moves no timer", async () => {
  const clock = new SimClock(1_000_000_000, 0);
  clock.after(10, () => clock.jumpWall(-500_000_000));
  await clock.runFor(20);
  assert.equal(clock.nowMs(), 20);
  assert.equal(clock.wallMs(), 500_000_020);
});

test("many sleepers from one seed wake in the same order every time", async () => {
  for (let seed = 1; seed <= 10; seed++)
    assert.equal(await sleepers(seed), await sleepers(seed), `seed ${seed}`);
});

/** Who woke when. */
async function sleepers(seed: number): Promise<string> {
  const clock = new SimClock();
  const random = randomFrom(seed);
  const story: string[] = [];
  const live = async (name: number): Promise<void> => {
    for (let day = 0; day < 20; day++) {
      await sleep(clock, random.next() * 100);
      story.push(`${name}@${clock.nowMs()}`);
    }
  };
  await clock.runUntil(Promise.all(Array.from({ length: 10 }, (_, name) => live(name))));
  return story.join();
}
