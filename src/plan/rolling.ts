/**
 * When sites are done if plans are made anew all the time, as a crawl makes them.
 *
 * A crawl keeps a part of the time left in hand, and of that there is less with every plan: what was kept for
 * a deadline far away is given to others as it comes nearer. So the first plan does not tell when sites will
 * be done. Here a plan is followed for a while, then the next is made of what is left by then, to the end.
 *
 * Promise: every byte is planned once, and no plan takes more than there is (`rolling.test.ts`).
 *
 * A hundred plans and one for each site at most, whatever time they are for.
 */

import { mostSlack, type Slack, withoutPassed, withSlack } from "./caution.ts";
import type { Objective, Plan, PlanTask, Segment, SitePlan } from "./plan.ts";
import { SteadyPlanner } from "./steady.ts";

/** Plans are made again after this time. */
export const PLAN_SECONDS = 2;
/** Of very long times not every plan is followed: what is kept in hand is a part of them, however long. */
const PLANS_MAX = 100;
/** Of sums that are rounded, so much is nothing. */
const NOTHING_SHARE = 1e-9;

interface Progress {
  readonly segments: Segment[];
  leftBytes: number;
  finishSeconds: number;
}

export function planRolling(task: PlanTask, wanted: Slack, objective: Objective): Plan {
  const planner = new SteadyPlanner(objective);
  const progress = task.sites.map(({ bytes }): Progress => ({
    segments: [],
    leftBytes: bytes,
    finishSeconds: 0,
  }));
  let stepSeconds = PLAN_SECONDS;
  let nowSeconds = 0;
  for (let made = 0; ; made++) {
    const open = [...progress.keys()].filter((index) => (progress[index]?.leftBytes ?? 0) > 0);
    if (open.length === 0) break;
    const { sites } = cautiousPlan(restOf(task, progress, open, nowSeconds), wanted, planner);
    const finishes = sites.map(({ finishSeconds }) => finishSeconds);
    stepSeconds = Math.max(stepSeconds, Math.max(...finishes) / PLANS_MAX);
    // Each plan ends with a step or with a site, and after so many the last one is followed to its end.
    const isLast = made > PLANS_MAX + task.sites.length;
    const seconds = isLast ? Infinity : Math.min(stepSeconds, ...finishes);
    for (const [at, index] of open.entries())
      follow(progress[index] as Progress, sites[at] as SitePlan, { nowSeconds, seconds });
    nowSeconds += seconds;
  }
  return {
    sites: task.sites.map(({ key }, index) => {
      const { segments, finishSeconds } = progress[index] as Progress;
      return { key, segments: joined(segments), finishSeconds };
    }),
  };
}

function cautiousPlan(rest: PlanTask, wanted: Slack, planner: SteadyPlanner): Plan {
  const slack = mostSlack(rest, wanted, 0);
  return planner.plan(slack === undefined ? rest : withSlack(rest, slack)).plan;
}

/** What is left of a task after some time. */
function restOf(
  task: PlanTask,
  progress: readonly Progress[],
  open: readonly number[],
  nowSeconds: number,
): PlanTask {
  const sites = open.map((index) => {
    const site = task.sites[index] as PlanTask["sites"][number];
    const { deadlineSeconds } = site;
    return {
      ...site,
      bytes: progress[index]?.leftBytes ?? 0,
      deadlineSeconds:
        deadlineSeconds === undefined ? undefined : Math.max(0, deadlineSeconds - nowSeconds),
    };
  });
  const startupSeconds = Math.max(0, task.startupSeconds - nowSeconds);
  return withoutPassed({ ...task, sites, startupSeconds });
}

function follow(
  of: Progress,
  { segments, finishSeconds }: SitePlan,
  { nowSeconds, seconds }: { readonly nowSeconds: number; readonly seconds: number },
): void {
  let bytes = 0;
  for (const { fromSeconds, toSeconds, rateBps } of segments) {
    const untilSeconds = Math.min(toSeconds, seconds);
    if (untilSeconds <= fromSeconds) continue;
    bytes += rateBps * (untilSeconds - fromSeconds);
    of.segments.push({
      fromSeconds: nowSeconds + fromSeconds,
      toSeconds: nowSeconds + untilSeconds,
      rateBps,
    });
  }
  const isDone = finishSeconds <= seconds * (1 + NOTHING_SHARE);
  of.leftBytes = isDone ? 0 : Math.max(NOTHING_SHARE, of.leftBytes - bytes);
  if (isDone) of.finishSeconds = nowSeconds + finishSeconds;
}

/** One stretch of time where plan after plan gave the same. */
function joined(segments: readonly Segment[]): Segment[] {
  const all: Segment[] = [];
  for (const segment of segments) {
    const last = all.at(-1);
    const isLike =
      last !== undefined &&
      Math.abs(last.toSeconds - segment.fromSeconds) <= NOTHING_SHARE * last.toSeconds &&
      Math.abs(last.rateBps - segment.rateBps) <= NOTHING_SHARE * last.rateBps;
    if (isLike) all[all.length - 1] = { ...last, toSeconds: segment.toSeconds };
    else all.push(segment);
  }
  return all;
}
