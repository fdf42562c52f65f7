import assert from "node:assert/strict";
import { test } from "node:test";
import { listFinishes } from "./list-schedule.ts";
import { taskOf } from "../papers/paper-task.suite.ts";
import type { PlanTask, SiteTask } from "../plan.ts";
import { Track } from "./recorder.ts";
import { workOf } from "./columns.ts";

function site(bytes: number, capBps: number, deadlineSeconds?: number): SiteTask {
  return { key: `${bytes}`, bytes, capBps, deadlineSeconds, weight: 1 };
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
