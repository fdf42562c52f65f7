import assert from "node:assert/strict";
import { test } from "node:test";
import { Aims } from "./early-targets.ts";
import { planBeforehand } from "./first-plan.ts";
import { anyWishes, cappedTask, seeds } from "../capped-task.suite.ts";
import { slackFor } from "./slack.ts";
import { isFeasible } from "../feasible/feasible.ts";
import { planOptimal } from "../optimum/optimal.ts";
import type { PlanTask, SitePlan, SiteTask } from "../plan.ts";
import { SteadyPlanner } from "./hysteresis.ts";

const SLACK = slackFor({ sizes: true, speeds: true });
const STEP_SECONDS = 2;

/** 10 MB at 1 MB/s, due after so many seconds. */
function due(...deadlines: readonly (number | undefined)[]): PlanTask {
  return {
    sites: deadlines.map((deadlineSeconds, index) => ({
      key: `s${index}`,
      bytes: 10e6,
      deadlineSeconds,
      capBps: Infinity,
      weight: 1,
    })),
    rateBps: 1e6,
    sitesMax: Infinity,
    rateMinBps: 0,
    startupSeconds: 0,
  };
}

function decided(task: PlanTask): Aims {
  const aims = new Aims();
  aims.decide(task, planBeforehand(task, SLACK, "min-sum").aims, SLACK);
  return aims;
}

/** What is left of a task some time later, if it went as planned. */
function restOf(task: PlanTask, planned: readonly SitePlan[], seconds: number): PlanTask {
  const sites = task.sites.flatMap((site, index): SiteTask[] => {
    const { segments, finishSeconds } = planned[index] as SitePlan;
    if (finishSeconds <= seconds) return [];
    let { bytes } = site;
    for (const { fromSeconds, toSeconds, rateBps } of segments)
      bytes -= rateBps * Math.max(0, Math.min(toSeconds, seconds) - fromSeconds);
    const { deadlineSeconds } = site;
    return [
      {
        ...site,
        bytes,
        deadlineSeconds: deadlineSeconds === undefined ? undefined : deadlineSeconds - seconds,
      },
    ];
  });
  return { ...task, sites };
}

test("1: what is left of a task that went as planned has the aims it had", () => {
  let seen = 0;
  for (const seed of seeds(60)) {
    const task = cappedTask(seed, { ...anyWishes(seed, 8), dated: 0.6 });
    const { aims, plan, late } = planBeforehand(task, SLACK, "min-sum");
    if (late.length > 0 || aims === task) continue;
    const kept = decided(task);
    const rest = restOf(task, plan.sites, STEP_SECONDS);
    const before = new Map(aims.sites.map(({ key, deadlineSeconds }) => [key, deadlineSeconds]));
    for (const { key, deadlineSeconds } of kept.of(rest)[0]?.sites ?? []) {
      if (deadlineSeconds === undefined) continue;
      seen += 1;
      const off = deadlineSeconds + STEP_SECONDS - (before.get(key) ?? 0);
      assert.ok(Math.abs(off) < 0.01, `seed ${seed}: ${key} ${off} s later`);
    }
  }
  assert.ok(seen > 20, `${seen}`);
});

test("1: so a site that waits for its deadline is done when it was first said to be", () => {
  // The far one is put off as long as its deadline allows; with a part of the time left it would be later.
  const [far, other] = due(100, undefined).sites as [SiteTask, SiteTask];
  const task = {
    ...due(),
    sites: [
      { ...far, bytes: 80e6 },
      { ...other, bytes: 17e6 },
    ],
  };
  const first = planBeforehand(task, SLACK, "min-sum").plan.sites;
  const [rest] = decided(task).of(restOf(task, first, 10));
  assert.ok(rest !== undefined);
  const later = planOptimal(rest, "min-sum").plan.sites;
  for (const [index, { finishSeconds }] of later.entries())
    assert.ok(Math.abs(finishSeconds + 10 - (first[index]?.finishSeconds ?? 0)) < 1e-6);
});

test("1: who is a moment behind is not pushed aside by one that has time in hand", () => {
  // 10 MB, then 20 MB that are aimed at 0.05 s after they are to be done, two seconds before their deadline.
  const [short, long] = due(undefined, (30.05 + 0.8) / 0.95).sites as [SiteTask, SiteTask];
  const task = { ...due(), sites: [short, { ...long, bytes: 20e6 }] };
  const told = planBeforehand(task, SLACK, "min-sum");
  assert.deepEqual(
    told.plan.sites.map(({ finishSeconds }) => Math.round(finishSeconds)),
    [10, 30],
  );
  const planner = new SteadyPlanner("min-sum");
  planner.begin(task, told);
  const rest = restOf(task, told.plan.sites, 9.5);
  const behind = rest.sites.map((site) => ({
    ...site,
    bytes: site.bytes + (site.key === short.key ? 0.2e6 : 0),
  }));
  const [first, ...others] = decided(task).of({ ...rest, sites: behind });
  assert.ok(first !== undefined);
  const [shortAfter] = planner.plan([first, ...others], 9.5).plan.sites;
  assert.ok(
    Math.abs((shortAfter?.finishSeconds ?? 0) - 0.7) < 1e-6,
    `${shortAfter?.finishSeconds}`,
  );
});

test("2: who is behind has aims later by that, and none later than its deadline", () => {
  const aims = decided(due(15, 30));
  const inTime = aims.of(due(15, 30))[0]?.sites.map(({ deadlineSeconds }) => deadlineSeconds);
  assert.deepEqual(inTime, [15 * 0.95 - 0.8, 30 * 0.95 - 0.8]);
  // 10 MB by 10.5 s and 20 MB by 21 s: what was aimed at, 10 s and 18.7 s, must be 1.3 s later, and may be a little more.
  const [just, eased] = aims
    .of(due(10.5, 21))
    .map(({ sites }) => sites.map(({ deadlineSeconds = 0 }) => deadlineSeconds));
  assert.ok((just?.[1] ?? 0) >= 20 && (just?.[1] ?? 0) < 20.01, `${just}`);
  const [first = 0, second = 0] = eased ?? [];
  assert.ok(first > 10.3 && first < 10.5, `${first}`);
  assert.ok(second >= 20.25 && second < 20.26, `${second}`);
  assert.deepEqual(aims.of(due(9, 18)), []);
});

test("2: when all deadlines can be kept there is an answer that keeps them", () => {
  for (const seed of seeds(100)) {
    const task = cappedTask(seed, { ...anyWishes(seed, 8), dated: 0.6 });
    const ways = decided(task).of(task);
    assert.equal(ways.length > 0, isFeasible(task), `seed ${seed}`);
    for (const kept of ways) {
      assert.ok(isFeasible(kept), `seed ${seed}`);
      for (const [index, { deadlineSeconds = Infinity }] of kept.sites.entries())
        assert.ok(deadlineSeconds <= (task.sites[index]?.deadlineSeconds ?? Infinity));
    }
  }
});

test("a site that was not there when it was decided is not known, nor is anything once forgotten", () => {
  const aims = decided(due(15, 30));
  assert.ok(aims.knows(due(15, 30, undefined), SLACK));
  assert.ok(!aims.knows(due(15, 30, 45), SLACK));
  assert.ok(!aims.knows(due(15, 30), slackFor({ sizes: true, speeds: false })));
  aims.forget();
  assert.ok(!aims.knows(due(15, 30), SLACK));
});

test("more is kept in hand where there is more to be had, and never less", () => {
  const tight = due(10.5, 21);
  const aims = decided(tight);
  const inHand = (task: PlanTask) =>
    aims
      .of(task)
      .at(-1)
      ?.sites.map(
        ({ deadlineSeconds = 0 }, index) =>
          (task.sites[index]?.deadlineSeconds ?? 0) - deadlineSeconds,
      );
  const [, before = 0] = inHand(tight) ?? [];
  // Half of it has turned out not to be there.
  const smaller = { ...tight, sites: tight.sites.map((site) => ({ ...site, bytes: 5e6 })) };
  aims.raise(smaller, planBeforehand(smaller, SLACK, "min-sum").aims);
  const [first = 0, second = 0] = inHand(smaller) ?? [];
  assert.ok(second > before + 0.5, `${before} ${second}`);
  const later = {
    ...smaller,
    sites: smaller.sites.map((site) => ({ ...site, bytes: 1e6, deadlineSeconds: 3 })),
  };
  aims.raise(later, planBeforehand(later, SLACK, "min-sum").aims);
  assert.deepEqual(inHand(smaller), [first, second]);
});
