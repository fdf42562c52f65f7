import assert from "node:assert/strict";
import { test } from "node:test";
import { planBeforehand } from "./first-plan.ts";
import { anyWishes, cappedTask, seeds } from "../capped-task.suite.ts";
import { slackFor } from "./slack.ts";
import { planOptimal } from "../optimum/optimal.ts";
import type { PlanTask, SiteTask } from "../plan.ts";
import { SteadyPlanner } from "./hysteresis.ts";

const SLACK = slackFor({ sizes: true, speeds: true });

/** Sizes that are a little different, as a running crawl finds them. */
function shaken(task: PlanTask): PlanTask {
  const sites = task.sites.map((site, index) => ({
    ...site,
    bytes: site.bytes * (index % 2 === 0 ? 1.001 : 0.999),
  }));
  return { ...task, sites };
}

test("a crawl that begins with the plan that was told keeps its order, plan after plan", () => {
  for (const seed of seeds(40)) {
    const task = cappedTask(seed, { ...anyWishes(seed, 12), dated: 0 });
    const told = planBeforehand(task, SLACK, "min-sum");
    const planner = new SteadyPlanner("min-sum");
    planner.begin(task, told);
    for (let time = 0; time < 3; time++)
      assert.deepEqual(planner.plan([shaken(task)]).order, told.order, `seed ${seed}`);
  }
});

test("what is left of a few sites is not worth leaving the order of many, a good part of all is", () => {
  const sites = [1, 2, 3, 4, 5, 6, 7, 8, 30, 31].map((mb) => ({
    key: `s${mb}`,
    bytes: mb * 1e6,
    deadlineSeconds: undefined,
    capBps: Infinity,
    weight: 1,
  }));
  const task = { sites, rateBps: 1e6, sitesMax: Infinity, rateMinBps: 0, startupSeconds: 0 };
  const planner = new SteadyPlanner("min-sum");
  planner.begin(task, planBeforehand(task, SLACK, "min-sum"));
  const [first, last] = sites.slice(8) as [PlanTask["sites"][number], PlanTask["sites"][number]];
  // Of two that are left the second has become smaller by 3 s, or by 20.
  const rest = (bytes: number): PlanTask => ({ ...task, sites: [first, { ...last, bytes }] });
  assert.deepEqual(planner.plan([rest(27e6)]).order, [0, 1]);
  assert.deepEqual(planner.plan([rest(10e6)]).order, [1, 0]);
});

test("of several ways to aim the one is taken by which sites are done when it was told", () => {
  const site = (key: string, bytes: number, deadlineSeconds?: number): SiteTask => ({
    key,
    bytes,
    deadlineSeconds,
    capBps: Infinity,
    weight: 1,
  });
  const due = (deadlineSeconds: number): PlanTask => ({
    sites: [site("short", 2e6), site("long", 10e6, deadlineSeconds)],
    rateBps: 1e6,
    sitesMax: Infinity,
    rateMinBps: 0,
    startupSeconds: 0,
  });
  const told = (deadlineSeconds: number): SteadyPlanner => {
    const planner = new SteadyPlanner("min-sum");
    planner.begin(due(deadlineSeconds), planOptimal(due(deadlineSeconds), "min-sum"));
    return planner;
  };
  const shortAfter = (planner: SteadyPlanner): number | undefined =>
    planner.plan([due(10), due(12)], 0.5).plan.sites[0]?.finishSeconds;
  assert.equal(shortAfter(told(10)), 12, "the short one was to be last");
  assert.equal(shortAfter(told(12)), 2, "the short one was to be first");
});
