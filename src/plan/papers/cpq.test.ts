import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import { planCpq } from "./cpq.ts";
import {
  assertNear,
  finishesOf,
  planOf,
  randomTask,
  ratesOf,
  taskOf,
  whyNot,
} from "./paper-task.suite.ts";
import { auditPlan } from "../plan-audit.suite.ts";
import { figuresOf } from "../plan.ts";

test("the earliest deadlines go first, and a batch ends together", () => {
  const task = taskOf(10, [[100], [300, 50], [100, 40], [100]], { sitesMax: 2 });
  const answer = planCpq(task);
  // 400 bytes by 40 s, then 200 by 60 s.
  assert.deepEqual(finishesOf(answer), [60, 40, 40, 60]);
  assert.deepEqual(planOf(answer).sites[0]?.segments[0]?.fromSeconds, 40);
});

test("every batch waits for its start-up", () => {
  const answer = planCpq(taskOf(10, [[100], [100], [100]], { sitesMax: 2, startupSeconds: 3 }));
  assert.deepEqual(finishesOf(answer), [23, 23, 36]);
});

test("deadlines are not looked at once the row stands: a site can be late", () => {
  const task = taskOf(
    10,
    [
      [900, 50],
      [100, 11],
    ],
    { sitesMax: 2 },
  );
  const answer = planCpq(task);
  assert.deepEqual(finishesOf(answer), [100, 100]);
  assert.equal(figuresOf(task, planOf(answer)).lateCount, 2);
});

test("a share below the least rate is refused, and its site named", () => {
  const task = taskOf(1000, [[100, 1], [100, 2], [10_000, 3], [100]], {
    sitesMax: 2,
    rateMinBps: 20,
  });
  assert.match(whyNot(planCpq(task)), /site3 would get 10 B\/s, and the least is 20 B\/s/);
});

test("a site with nothing left takes nobody's place", () => {
  const answer = planCpq(taskOf(10, [[0], [100], [100]], { sitesMax: 2 }));
  assert.deepEqual(finishesOf(answer), [0, 20, 20]);
});

test("of any row, batches are full and lose nothing but their start-up", () => {
  for (let seed = 1; seed <= 1000; seed++) {
    const random = randomFrom(seed);
    const sitesMax = 1 + below(random, 8);
    const startupSeconds = below(random, 3);
    const task = { ...randomTask(seed, 60), sitesMax, startupSeconds };
    const answer = planCpq(task);
    assert.deepEqual(auditPlan(task, planOf(answer)), [], `seed ${seed}`);
    assert.ok(ratesOf(answer).every((rateBps) => rateBps > 0));
    const bytes = task.sites.reduce((sum, site) => sum + site.bytes, 0);
    const batches = Math.ceil(task.sites.length / sitesMax);
    const endSeconds = bytes / task.rateBps + batches * startupSeconds;
    assertNear(figuresOf(task, planOf(answer)).maxSeconds, endSeconds, `seed ${seed}`);
    const finishes = finishesOf(answer);
    assert.equal(new Set(finishes.map((at) => at.toPrecision(9))).size, batches);
    const inTurn = finishes
      .map((at, index) => [task.sites[index]?.deadlineSeconds ?? Infinity, at] as const)
      .toSorted(([due, at], [dueOther, atOther]) => due - dueOther || at - atOther);
    for (const [place, [, at]] of inTurn.entries())
      assert.ok(
        at >= (inTurn[place - 1]?.[1] ?? 0) * (1 - 1e-9),
        `seed ${seed}: ${inTurn.join(" ")}`,
      );
  }
});
