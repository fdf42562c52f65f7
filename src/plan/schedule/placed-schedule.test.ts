import assert from "node:assert/strict";
import { test } from "node:test";
import { anyWishes, cappedTask, seeds } from "../capped-task.suite.ts";
import { taskOf } from "../papers/paper-task.suite.ts";
import { placedFinishes, placesOf } from "./placed-schedule.ts";
import { placedWorkOf } from "./placed-schedule.ts";
import { auditPlan } from "../plan-audit.suite.ts";
import type { PlanTask } from "../plan.ts";
import { Track } from "./recorder.ts";

function finishes(task: PlanTask, squeezed = false): number[] {
  const order = Int32Array.from(task.sites, (_, index) => index);
  return [...placedFinishes(placedWorkOf(task), placesOf(task), { order, squeezed })];
}

test("the next has started when the first is done", () => {
  // Two places: while the first is crawled the second starts; the third starts when the first is done.
  const task = taskOf(10, [[50], [50], [50]], { sitesMax: 2, startupSeconds: 2 });
  assert.deepEqual(finishes(task), [7, 12, 17]);
  assert.deepEqual(finishes({ ...task, sitesMax: 1 }), [7, 14, 21]);
});

test("a least rate keeps a second out, or squeezes the first", () => {
  const { sites } = taskOf(10, [[70], [70]]);
  const task = {
    ...taskOf(10, [], { rateMinBps: 4 }),
    sites: sites.map((site) => Object.assign({}, site, { capBps: 7 })),
  };
  assert.deepEqual(finishes(task), [10, 20]);
  const [first, second] = finishes(task, true) as [number, number];
  assert.ok(Math.abs(first - 70 / 6) < 1e-9 && Math.abs(second - 15) < 1e-9, `${first}, ${second}`);
});

test("every order keeps to places, least rates and start-up", () => {
  for (const seed of seeds(600)) {
    const task = cappedTask(seed, anyWishes(seed, 25), {
      sitesMax: 1 + (seed % 7),
      rateMinBps: seed % 3 === 0 ? 150 : 0,
      startupSeconds: seed % 4 === 0 ? 5 : 0,
    });
    const order = Int32Array.from(task.sites, (_, index) => index);
    const track = new Track(order.length, 0);
    const line = { order, squeezed: seed % 2 === 0 };
    placedFinishes(placedWorkOf(task), placesOf(task), line, track);
    assert.deepEqual(auditPlan(task, track.plan(task)), [], `seed ${seed}`);
  }
});
