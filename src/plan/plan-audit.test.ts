import assert from "node:assert/strict";
import { test } from "node:test";
import { auditPlan } from "./plan-audit.suite.ts";
import { taskOf } from "./papers/paper-task.suite.ts";
import type { Plan, PlanTask, Segment } from "./plan.ts";

const HAS_TWO = taskOf(10, [[100], [50]]);

function plan(...sites: (readonly [from: number, to: number, rate: number])[][]): Plan {
  return {
    sites: sites.map((rows, index) => {
      const segments = rows.map(([fromSeconds, toSeconds, rateBps]): Segment => ({
        fromSeconds,
        toSeconds,
        rateBps,
      }));
      return { key: `site${index}`, segments, finishSeconds: segments.at(-1)?.toSeconds ?? 0 };
    }),
  };
}

function breach(task: PlanTask, wrong: Plan, about: RegExp): void {
  const breaches = auditPlan(task, wrong);
  assert.equal(breaches.length, 1, JSON.stringify(breaches));
  assert.match(breaches[0] ?? "", about);
}

test("a plan that keeps to its task has no breach", () => {
  assert.deepEqual(auditPlan(HAS_TWO, plan([[5, 15, 10]], [[0, 5, 10]])), []);
  assert.deepEqual(
    auditPlan(
      HAS_TWO,
      plan(
        [
          [0, 10, 5],
          [10, 15, 10],
        ],
        [[0, 10, 5]],
      ),
    ),
    [],
  );
});

test("too much at once, too few bytes and steps back are each named", () => {
  breach(HAS_TWO, plan([[0, 10, 10]], [[9, 14, 10]]), /20 B\/s at 9 s, above 10/);
  breach(HAS_TWO, plan([[5, 14, 10]], [[0, 5, 10]]), /site0: 90 bytes of 100/);
  breach(
    HAS_TWO,
    plan(
      [
        [10, 15, 10],
        [5, 10, 10],
      ],
      [[0, 5, 10]],
    ),
    /site0: a segment begins at 5/,
  );
  breach(HAS_TWO, { sites: [] }, /the plan has 0 sites/);
});

test("caps, places, least rates and start-up are held", () => {
  const capped = { ...HAS_TWO, sites: HAS_TWO.sites.map((site) => ({ ...site, capBps: 8 })) };
  breach(capped, plan([[0, 12.5, 8]], [[12.5, 17.5, 10]]), /site1: 10 B\/s, cap 8/);
  const half: Plan = plan([[0, 20, 5]], [[0, 10, 5]]);
  breach({ ...HAS_TWO, sitesMax: 1 }, half, /2 sites at 0 s, above 1/);
  assert.equal(auditPlan({ ...HAS_TWO, rateMinBps: 6 }, half).length, 2);
  breach(
    { ...HAS_TWO, startupSeconds: 2 },
    plan(
      [[2, 12, 10]],
      [
        [1, 2, 10],
        [12, 16, 10],
      ],
    ),
    /site1: runs/,
  );
  const started = plan(
    [[2, 12, 10]],
    [
      [10, 12, 0],
      [12, 17, 10],
    ],
  );
  assert.deepEqual(auditPlan({ ...HAS_TWO, startupSeconds: 2 }, started), []);
  breach({ ...HAS_TWO, startupSeconds: 2, sitesMax: 1 }, started, /2 sites/);
});
