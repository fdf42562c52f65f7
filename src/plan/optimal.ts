/**
 * The default planner: rates that change over time, so that deadlines are kept when any schedule keeps
 * them, and then everything is done by the least time, or the sum of waiting is small.
 */

import { endingBy, leastEndSeconds } from "./feasible.ts";
import { guardedFinishes } from "./guarded-schedule.ts";
import { deadlinesToKeep } from "./late.ts";
import { listFinishes } from "./list-schedule.ts";
import { type Found, improved } from "./local-search.ts";
import { lowerBoundOf } from "./lower-bound.ts";
import { ordersToTry } from "./orders.ts";
import { placedFinishes, placesOf } from "./placed-schedule.ts";
import { type Effort, placedWorkOf, searchPlaced } from "./placed-search.ts";
import { isLate, type Objective, type Plan, type PlanTask, type SitePlan } from "./plan.ts";
import { isBetter, scoreOf } from "./score.ts";
import { Track } from "./track.ts";
import { hasPlaces, withDeadlines, type Work, workOf } from "./work.ts";

export interface LateSite {
  readonly key: string;
  readonly deadlineSeconds: number;
  readonly finishSeconds: number;
}

export interface OptimalPlan {
  readonly plan: Plan;
  readonly feasible: boolean;
  /** Sites in the order in which leftover rate goes to them, indexes into `task.sites`. */
  readonly order: readonly number[];
  readonly late: readonly LateSite[];
  /** No schedule has a smaller Σ weight × finish. */
  readonly lowerBoundSumSeconds: number;
}

interface Planned {
  readonly plan: Plan;
  readonly order: Int32Array;
}

/** Site-steps that may be spent on trying, so that 600 sites stay below a tenth of a second. */
const STEPS_MAX = 200_000;

export function planOptimal(
  task: PlanTask,
  objective: Objective,
  effort: Effort = "full",
): OptimalPlan {
  const { plan, order } = hasPlaces(task)
    ? planPlaced(task, objective, effort)
    : planFree(task, objective, effort);
  const late = lateOf(task, plan);
  const startupSeconds = task.sites.reduce(
    (sum, { weight }) => sum + weight * task.startupSeconds,
    0,
  );
  return {
    plan,
    feasible: late.length === 0,
    order: [...order],
    late,
    lowerBoundSumSeconds: lowerBoundOf(workOf(task)) + startupSeconds,
  };
}

function planPlaced(task: PlanTask, objective: Objective, effort: Effort): Planned {
  const { order, squeezed } = searchPlaced(task, objective, effort);
  const track = new Track(task.sites.length, 0);
  placedFinishes(placedWorkOf(task), placesOf(task), { order, squeezed }, track);
  return { plan: track.plan(task), order };
}

/** As many at once as there are, at any rate. */
function planFree(task: PlanTask, objective: Objective, effort: Effort): Planned {
  const given = workOf(task);
  const kept = withDeadlines(given, deadlinesToKeep(given));
  const work = objective === "min-max" ? endingBy(kept, leastEndSeconds(kept)) : kept;
  const listed = bestList(work, effort);
  const track = new Track(work.count, task.startupSeconds);
  if (listed.score[0] === 0) {
    listFinishes(work, listed.order, track);
    return { plan: track.plan(task), order: listed.order };
  }
  const order = ordersToTry(work)[0] as Int32Array;
  guardedFinishes(work, order, track);
  return { plan: track.plan(task), order };
}

function bestList(work: Work, effort: Effort): Found {
  const score = (order: Int32Array) => scoreOf(work, listFinishes(work, order), "min-sum");
  let best: Found | undefined;
  for (const order of ordersToTry(work)) {
    const found = { order, score: score(order) };
    if (best === undefined || isBetter(found.score, best.score)) best = found;
  }
  return effort === "quick"
    ? (best as Found)
    : improved(best as Found, score, STEPS_MAX / work.count);
}

function lateOf({ sites }: PlanTask, plan: Plan): LateSite[] {
  const late: LateSite[] = [];
  for (const [index, site] of sites.entries()) {
    const { finishSeconds } = plan.sites[index] as SitePlan;
    if (site.deadlineSeconds !== undefined && isLate(site, finishSeconds))
      late.push({ key: site.key, deadlineSeconds: site.deadlineSeconds, finishSeconds });
  }
  return late;
}
