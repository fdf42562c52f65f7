import assert from "node:assert/strict";
import { test } from "node:test";
import {
  columnsOf,
  matrixOf,
  type MipModel,
  mipModel,
  planOfIntervals,
  simpleBound,
} from "./mip.ts";
import { finishesOf, taskOf } from "./paper-task.suite.ts";
import { auditPlan } from "../plan-audit.suite.ts";
import type { PlanTask } from "../plan.ts";

test("a site takes its share of an interval, from the end of the start-up on", () => {
  const task = taskOf(10, [[50], [80], [30, 30]], { sitesMax: 2, startupSeconds: 2 });
  const model = modelOf(task, 12);
  assert.deepEqual(
    model.sites.map(({ share }) => share),
    [0.5, 0.8, 0.3],
  );
  // 30 s hold two intervals of 12 s.
  assert.equal(model.sites[2]?.intervals, 2);
  const plan = planOfIntervals(task, model, [0, 1, 0]);
  assert.deepEqual(plan.sites[1]?.segments, [{ fromSeconds: 14, toSeconds: 24, rateBps: 8 }]);
  assert.deepEqual(finishesOf({ kind: "planned", plan }), [12, 24, 12]);
  assert.deepEqual(auditPlan(task, plan), []);
});

test("the matrix has a column for each site and interval it may use, and says the three rules", () => {
  const task = taskOf(10, [[50], [80, 10]], { sitesMax: 1 });
  const model = modelOf(task, 10);
  const matrix = matrixOf(model);
  const columns = model.intervals + 1;
  assert.equal(columnsOf(model.sites), columns);
  assert.deepEqual(Array.from(matrix.costs.slice(0, 3)), [1, 2, 3]);
  assert.equal(matrix.costs.at(-1), 1);
  // Its own row, a place of the first interval, eight tenths of its bytes.
  assert.deepEqual(Array.from(matrix.rows.slice(-3)), [1, 2, 2 + model.intervals]);
  assert.deepEqual(Array.from(matrix.values.slice(-3)), [1, 1, 0.8]);
  assert.deepEqual(Array.from(matrix.rowLower.slice(0, 3)), [1, 1, -Infinity]);
  assert.equal(matrix.starts.at(-1), 3 * columns);
});

test("by default there are about 2n / m intervals, and no fewer than ten", () => {
  const sites = Array.from({ length: 600 }, () => [100] as const);
  const many = modelOf(taskOf(100, sites, { sitesMax: 30, startupSeconds: 1 }));
  // 600 s of work in 40 intervals, and a second to start in each.
  assert.equal(many.intervalSeconds, 16);
  assert.equal(modelOf(taskOf(100, sites)).intervalSeconds, 60);
});

test("the default gives way to deadlines, to the largest site and to the least rate", () => {
  const tenths = Array.from({ length: 100 }, () => [10] as const);
  assert.equal(modelOf(taskOf(10, tenths)).intervalSeconds, 10);
  assert.equal(modelOf(taskOf(10, [...tenths, [10, 4]])).intervalSeconds, 4);
  assert.equal(modelOf(taskOf(10, [...tenths, [500]])).intervalSeconds, 50);
  assert.equal(modelOf(taskOf(10, tenths, { rateMinBps: 5 })).intervalSeconds, 2);
});

test("it says why no length of intervals will do", () => {
  const late = whyNone(taskOf(10, [[100], [10, 4]]));
  assert.match(
    late,
    /too long: site1 is due then, at 4 s; and site0 does not fit into less than 10/,
  );
  const slow = whyNone(taskOf(10, [[100], [1]], { rateMinBps: 5 }));
  assert.match(slow, /site1 would be slower than the least rate, at 0\.2 s/);
  assert.match(whyNone(taskOf(10, [[100]]), 5), /5 s is too short: site0/);
  const sites = Array.from({ length: 20_000 }, () => [1] as const);
  assert.match(whyNone(taskOf(10, sites, { sitesMax: 10 })), /more than the solver can weigh/);
});

test("the simple bound counts places and bytes, the smallest sites first", () => {
  // By places 1, 1, 2, 2; by bytes 0.2, 0.5, 1.1 and 2.0 intervals.
  const task = taskOf(10, [[90], [20], [60], [30]], { sitesMax: 2 });
  assert.equal(simpleBound(modelOf(task, 10)), 1 + 1 + 2 + 2);
  assert.equal(simpleBound(modelOf({ ...task, sitesMax: 1 }, 10)), 1 + 2 + 3 + 4);
});

test("sites with nothing left are in no column and done at once", () => {
  const task = taskOf(10, [[0], [100]]);
  const model = modelOf(task);
  assert.equal(model.sites.length, 1);
  const plan = planOfIntervals(task, model, [0]);
  assert.deepEqual(finishesOf({ kind: "planned", plan }), [0, 10]);
});

function modelOf(task: PlanTask, intervalSeconds?: number): MipModel {
  const question = mipModel(task, { intervalSeconds });
  assert.equal(question.kind, "model", JSON.stringify(question));
  return (question as Extract<typeof question, { kind: "model" }>).model;
}

function whyNone(task: PlanTask, intervalSeconds?: number): string {
  const question = mipModel(task, { intervalSeconds });
  assert.equal(question.kind, "impossible");
  return (question as Extract<typeof question, { kind: "impossible" }>).why;
}
