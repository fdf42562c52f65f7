import assert from "node:assert/strict";
import { test } from "node:test";
import { cappedTask } from "../capped-task.suite.ts";
import { earliestEndSeconds, endingBy, keepsDeadlines } from "../feasible/feasible.ts";
import { KeptSchedule } from "./kept-schedule.ts";
import { ordersToTry } from "../schedule/orders.ts";
import { auditPlan } from "../plan-audit.suite.ts";
import { figuresOf } from "../plan.ts";
import { Track } from "../schedule/recorder.ts";
import { workOf } from "../schedule/columns.ts";

test("with more deadlines than are looked ahead to, all are kept, and the end is the earliest", () => {
  for (const count of [1500, 7000]) {
    const caps = [12 / count, 360 / count] as const;
    const task = cappedTask(1, { count, caps, dated: 1, weighted: true });
    const given = workOf(task);
    const endSeconds = earliestEndSeconds(given);
    const work = endingBy(given, endSeconds);
    assert.ok(keepsDeadlines(work), `${count} sites`);
    for (const order of ordersToTry(work, "quick")) {
      const track = new KeptSchedule(work).write(order, () => new Track(count, 0));
      const plan = track.plan(task);
      assert.deepEqual(auditPlan(task, plan), [], `${count} sites`);
      const { lateCount, maxSeconds } = figuresOf(task, plan);
      assert.equal(lateCount, 0, `${count} sites`);
      assert.ok(maxSeconds <= endSeconds * (1 + 1e-9), `${count} sites: ${maxSeconds}`);
    }
  }
});

test("what a score says of an order is what is written", () => {
  const task = cappedTask(3, { count: 120, caps: [0.05, 0.5], dated: 0.8, tight: 1.2 });
  const work = workOf(task);
  assert.ok(keepsDeadlines(work));
  for (const order of ordersToTry(work, "full")) {
    const schedule = new KeptSchedule(work);
    const [late, , sum] = schedule.score(order);
    const plan = schedule.write(order, () => new Track(work.count, 0)).plan(task);
    assert.equal(late, 0);
    const { weightedSumSeconds, lateCount } = figuresOf(task, plan);
    assert.equal(lateCount, 0);
    assert.ok(Math.abs(weightedSumSeconds - sum) <= 1e-9 * sum, `${weightedSumSeconds}, ${sum}`);
  }
});
