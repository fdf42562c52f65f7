/**
 * The default planner: an order, carried out so that every deadline is kept that can be kept.
 *
 * Deadlines that cannot be kept are dropped (`give-up.ts`). The order is the better of two: Smith's,
 * the least bytes per weight first, with deadlines by his backward rule; and one that also starts
 * narrow sites early. The guarded schedule follows it and lets a site with a deadline go first from
 * the moment on at which it needs its whole cap or the line. A search for the best order gained
 * another 0.1 % of the sum (decision 032), so there is none.
 */

import {
  earliestEndSeconds,
  endingBy,
  keepsDeadlines,
  leastEndSeconds,
} from "../feasible/feasible.ts";
import { withKeptDeadlines } from "../feasible/give-up.ts";
import { lowerBoundOf } from "./lower-bound.ts";
import { isBetter } from "../schedule/score.ts";
import { type Kept, keptSchedule } from "../schedule/kept-schedule.ts";
import { narrowFirstOrder, smithOrder } from "../schedule/orders.ts";
import { placedFinishes, placedWorkOf, placesOf } from "../schedule/placed-schedule.ts";
import { searchPlaced } from "../schedule/placed-search.ts";
import {
  isLate,
  type Objective,
  type Plan,
  type PlanTask,
  type SitePlan,
  type SiteTask,
} from "../plan.ts";
import { Track } from "../schedule/recorder.ts";
import { hasPlaces, withDeadlines, type Work, workOf } from "../schedule/columns.ts";

interface LateSite {
  readonly key: string;
  readonly deadlineSeconds: number;
  readonly finishSeconds: number;
}

export interface OptimalPlan {
  readonly plan: Plan;
  readonly feasible: boolean;
  /** Sites in the order in which they get leftover rate, as indexes into `task.sites`. */
  readonly order: readonly number[];
  readonly late: readonly LateSite[];
  /** The work with the deadlines that the plan keeps. */
  readonly work: Work;
}

interface Planned extends Pick<OptimalPlan, "plan" | "work"> {
  readonly order: Int32Array;
}

/** Sites above which the second order gains nothing. */
const SITES_TO_TRY_MAX = 200;

/** `order`: of an earlier plan, to be followed instead of Smith's. */
export function planOptimal(
  task: PlanTask,
  objective: Objective,
  order?: readonly number[],
): OptimalPlan {
  const kept = withKeptDeadlines(task);
  const planned = hasPlaces(task)
    ? planPlaced(kept, objective)
    : planFree(kept, objective, order && Int32Array.from(order));
  const late = lateOf(task, planned.plan);
  return { ...planned, feasible: late.length === 0, order: Array.from(planned.order), late };
}

/** No schedule that keeps the deadlines of this plan has a smaller Σ weight × finish. */
export function sumBoundOf(task: PlanTask, { work }: OptimalPlan): number {
  const startupSum = task.sites.reduce((sum, { weight }) => sum + weight * task.startupSeconds, 0);
  return lowerBoundOf(work) + startupSum;
}

function planPlaced(task: PlanTask, objective: Objective): Planned {
  const free = workOf(task);
  const { order, squeezed } = searchPlaced(task, objective);
  const track = new Track(free.count, 0);
  const finishes = placedFinishes(placedWorkOf(task), placesOf(task), { order, squeezed }, track);
  const deadlineSeconds = free.deadlineSeconds.map((deadline, site) =>
    isLate(task.sites[site] as SiteTask, finishes[site] as number)
      ? Number.POSITIVE_INFINITY
      : deadline,
  );
  return { plan: track.plan(task), order, work: withDeadlines(free, deadlineSeconds) };
}

/** Any number of sites at once, at any rate. */
function planFree(task: PlanTask, objective: Objective, given: Int32Array | undefined): Planned {
  const work = workToKeep(workOf(task), objective);
  let best: { readonly order: Int32Array; readonly kept: Kept } | undefined;
  for (const order of given === undefined ? ordersFor(work) : [given]) {
    const kept = keptSchedule(work, order, task.startupSeconds);
    if (best === undefined || isBetter(kept.score, best.kept.score)) best = { order, kept };
  }
  const { order, kept } = best as NonNullable<typeof best>;
  return { plan: kept.track.plan(task), order, work };
}

/** Without caps Smith's order is the other one, or better. */
function ordersFor(work: Work): Int32Array[] {
  if (work.capBps.every((capBps) => capBps >= work.rateBps)) return [smithOrder(work)];
  const isMany = work.count > SITES_TO_TRY_MAX;
  return isMany ? [smithOrder(work)] : [smithOrder(work), narrowFirstOrder(work)];
}

/**
 * For `min-max`, the work with the least end as a deadline of all sites. Its own deadlines can all
 * be kept.
 */
function workToKeep(given: Work, objective: Objective): Work {
  if (objective === "min-sum") return given;
  const wanted = endingBy(given, earliestEndSeconds(given));
  return keepsDeadlines(wanted) ? wanted : endingBy(given, leastEndSeconds(given));
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
