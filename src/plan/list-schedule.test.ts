import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { anyWishes, cappedTask, seeds } from "./capped-task.suite.ts";
import { deadlinesToKeep } from "./late.ts";
import { guardedFinishes } from "./guarded-schedule.ts";
import { listFinishes } from "./list-schedule.ts";
import { taskOf } from "./paper-task.suite.ts";
import { auditPlan } from "./plan-audit.ts";
import type { PlanTask, SiteTask } from "./plan.ts";
import { scoreOf } from "./score.ts";
import { Track } from "./track.ts";
import { withDeadlines, type Work, workOf } from "./work.ts";

function site(bytes: number, capBps: number, deadlineSeconds?: number): SiteTask {
  return { key: `${bytes}`, bytes, capBps, deadlineSeconds, weight: 1 };
}

function shuffled(seed: number, count: number): Int32Array {
  const random = randomFrom(seed);
  const order = Int32Array.from({ length: count }, (_, index) => index);
  for (let place = count - 1; place > 0; place--) {
    const other = below(random, place + 1);
    [order[place], order[other]] = [order[other] as number, order[place] as number];
  }
  return order;
}

test("the next gets what the first leaves, and more when the first is done", () => {
  const task: PlanTask = { ...taskOf(3, []), sites: [site(4, 2), site(8, 3), site(1, 1)] };
  const track = new Track(3, 0);
  // 0 to 2 s: 2 and 1; then 6 bytes at 3; then the last.
  assert.deepEqual([...listFinishes(workOf(task), Int32Array.of(0, 1, 2), track)], [2, 4, 5]);
  const { sites } = track.plan(task);
  assert.deepEqual(sites[1]?.segments, [
    { fromSeconds: 0, toSeconds: 2, rateBps: 1 },
    { fromSeconds: 2, toSeconds: 4, rateBps: 3 },
  ]);
});

test("under guard the order holds until a deadline needs the rate", () => {
  const task: PlanTask = { ...taskOf(2, []), sites: [site(10, 2), site(4, 1, 6), site(1, 2, 6)] };
  const work = workOf(task);
  const order = Int32Array.of(0, 1, 2);
  // The slow one must begin at 2 s; what is left is the first's until the small one needs it too.
  const finishes = [...guardedFinishes(work, order)].map(
    (seconds) => Math.round(seconds * 1e6) / 1e6,
  );
  assert.deepEqual(finishes, [7.5, 6, 6]);
});

test("whatever the order, the guard keeps all deadlines and stays out of the way otherwise", () => {
  const counts = { same: 0, guarded: 0 };
  for (const seed of seeds(500)) {
    const task = cappedTask(seed, { ...anyWishes(seed, 40), dated: 0.7 });
    const given = workOf(task);
    const work: Work = withDeadlines(given, deadlinesToKeep(given));
    const order = shuffled(seed, work.count);
    const track = new Track(work.count, 0);
    const finishes = guardedFinishes(work, order, track);
    assert.equal(scoreOf(work, finishes, "min-sum")[0], 0, `seed ${seed}`);
    assert.deepEqual(auditPlan(task, track.plan(task)), [], `seed ${seed}`);
    const listed = listFinishes(work, order);
    const isKept = scoreOf(work, listed, "min-sum")[0] === 0;
    counts[isKept ? "same" : "guarded"]++;
    if (!isKept) continue;
    for (const [index, seconds] of listed.entries())
      assert.ok(Math.abs(seconds - (finishes[index] as number)) <= 1e-6 * seconds, `seed ${seed}`);
  }
  assert.ok(counts.same > 50 && counts.guarded > 50, JSON.stringify(counts));
});
