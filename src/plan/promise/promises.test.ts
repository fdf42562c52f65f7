import assert from "node:assert/strict";
import { test } from "node:test";
import { anyWishes, cappedTask, seeds } from "../capped-task.suite.ts";
import { isFeasible } from "../feasible/feasible.ts";
import { assertNear, taskOf } from "../papers/paper-task.suite.ts";
import type { PlanTask, SiteTask } from "../plan.ts";
import { minimumRateOf, promisesOf } from "./promises.ts";

test("the least rate is that of the busiest deadline", () => {
  const task = taskOf(1e6, [[10e6, 10], [10e6, 20], [10e6]]);
  assert.deepEqual(promisesOf(task), {
    feasible: true,
    minimumRateBps: 1e6,
    hopeless: [],
    easiestMove: undefined,
  });
  assert.equal(minimumRateOf(taskOf(5e6, [[10e6]])), 0);
});

test("a deadline that a site's own cap forbids is named, and where it would have to go", () => {
  const [first, second] = taskOf(1, [
    [10, 10],
    [10, 40],
  ]).sites as [SiteTask, SiteTask];
  const task = { ...taskOf(2, []), sites: [{ ...first, capBps: 0.5 }, second] };
  const { feasible, minimumRateBps, hopeless, easiestMove } = promisesOf(task);
  assert.deepEqual([feasible, minimumRateBps, hopeless], [false, undefined, ["site0"]]);
  assert.equal(easiestMove?.key, "site0");
  assertNear(easiestMove?.toSeconds ?? 0, 20, "site0");
});

test("the deadline to move is the one with the least extension × weight", () => {
  // Of 30 bytes, 20 fit by 20 s: the first would have to wait until 30 s, and so would the second.
  const task = taskOf(1, [
    [10, 20],
    [20, 20],
  ]);
  const heavier = {
    ...task,
    sites: [{ ...(task.sites[0] as SiteTask), weight: 3 }, task.sites[1] as SiteTask],
  };
  assert.equal(promisesOf(heavier).easiestMove?.key, "site1");
  assertNear(promisesOf(heavier).easiestMove?.toSeconds ?? 0, 30, "site1");
  // Two that cannot wait for each other: no single one is enough.
  assert.equal(
    promisesOf(
      taskOf(1, [
        [10, 5],
        [10, 5],
      ]),
    ).easiestMove,
    undefined,
  );
});

test("places count: one at a time cannot all be first, whatever the rate", () => {
  const task = taskOf(
    1000,
    [
      [10, 3],
      [10, 3],
    ],
    { sitesMax: 1, startupSeconds: 2 },
  );
  const { feasible, minimumRateBps, easiestMove } = promisesOf(task);
  assert.deepEqual([feasible, minimumRateBps], [false, undefined]);
  assertNear(easiestMove?.toSeconds ?? 0, 4.02, "either");
});

test("at the promised rate, or with the promised move, all are kept, and with less not", () => {
  let moves = 0;
  for (const seed of seeds(400)) {
    const task = cappedTask(seed, { ...anyWishes(seed, 8), dated: 0.8, tight: 0.5 });
    const { feasible, minimumRateBps, hopeless, easiestMove } = promisesOf(task);
    const about = `seed ${seed}`;
    assert.equal(feasible, isFeasible(task), about);
    assert.equal(minimumRateBps === undefined, hopeless.length > 0, about);
    if (minimumRateBps !== undefined && minimumRateBps > 0) {
      assert.ok(isFeasible({ ...task, rateBps: minimumRateBps }), about);
      assert.ok(!isFeasible({ ...task, rateBps: minimumRateBps * (1 - 1e-6) }), about);
      assert.equal(feasible, task.rateBps >= minimumRateBps * (1 - 1e-9), about);
    }
    if (easiestMove === undefined) continue;
    moves++;
    assert.ok(isFeasible(withDeadline(task, easiestMove.key, easiestMove.toSeconds)), about);
    const less = easiestMove.toSeconds * (1 - 1e-6);
    assert.ok(!isFeasible(withDeadline(task, easiestMove.key, less)), about);
  }
  assert.ok(moves > 50, `only ${moves}`);
});

function withDeadline(task: PlanTask, key: string, deadlineSeconds: number): PlanTask {
  const index = task.sites.findIndex((site) => site.key === key);
  const site = task.sites[index] as SiteTask;
  return { ...task, sites: task.sites.with(index, { ...site, deadlineSeconds }) };
}
