import assert from "node:assert/strict";
import { test } from "node:test";
import { cappedTask, permutations, seeds } from "../capped-task.suite.ts";
import { guardedFinishes, watchFor } from "../schedule/guarded-schedule.ts";
import { keepsDeadlines } from "../feasible/feasible.ts";
import { lowerBoundOf } from "./lower-bound.ts";
import { taskOf } from "../papers/paper-task.suite.ts";
import { scoreOf } from "../schedule/score.ts";
import { workOf } from "../schedule/columns.ts";

test("without caps and deadlines the bound is Smith's sum", () => {
  assert.equal(lowerBoundOf(workOf(taskOf(1, [[3], [1], [2]]))), 1 + 3 + 6);
});

test("on a line wide enough for all sites the bound is the sum of their times alone", () => {
  const [site] = taskOf(1, [[10]]).sites;
  assert.ok(site !== undefined);
  const sites = [
    { ...site, capBps: 1 },
    { ...site, capBps: 2 },
  ];
  assert.equal(lowerBoundOf(workOf({ ...taskOf(3, []), sites })), 10 + 5);
});

test("no order of few sites has a sum below the bound, and the best is less than twice as high", () => {
  let looked = 0;
  for (const seed of seeds(150)) {
    const wishes = { count: 5, weighted: seed % 2 === 0, dated: (seed % 3) / 4 };
    const work = workOf(cappedTask(seed, { ...wishes, caps: [0.1, 1] }));
    if (!keepsDeadlines(work)) continue;
    const watch = watchFor(work, work.deadlineSeconds.filter(Number.isFinite).sort());
    let least = Infinity;
    for (const order of permutations(work.count)) {
      const [late, , sum] = scoreOf(work, guardedFinishes(work, order, watch), "min-sum");
      assert.equal(late, 0, `seed ${seed}`);
      least = Math.min(least, sum);
    }
    const bound = lowerBoundOf(work);
    assert.ok(least >= bound * (1 - 1e-9), `seed ${seed}: ${least} below ${bound}`);
    assert.ok(least < 2 * bound, `seed ${seed}: ${least} far above ${bound}`);
    looked += 1;
  }
  assert.ok(looked > 100, `${looked}`);
});
