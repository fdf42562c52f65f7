/**
 * The default planner: rates that change over time, so that deadlines are kept when any schedule
 * keeps them; then the last finish, or the sum of finish times, is minimised.
 */

import {
  earliestEndSeconds,
  endingBy,
  keepsDeadlines,
  leastEndSeconds,
} from "../feasible/feasible.ts";
import { KeptSchedule } from "./kept-schedule.ts";
import { deadlinesToKeep, SITES_EXACT_MAX, withKeptDeadlines } from "../feasible/give-up.ts";
import { type Found, improved } from "../schedule/local-search.ts";
import { type Bound, lowerBoundOf, raisedBound } from "./lower-bound.ts";
import { orderBy } from "../schedule/radix-sort.ts";
import { type Effort, ordersToTry } from "../schedule/orders.ts";
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
import { isBetter, isWorthMore, scoreOf } from "../schedule/score.ts";
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
  /** No schedule that keeps the deadlines of this plan has a smaller Σ weight × finish. */
  readonly lowerBoundSumSeconds: number;
}

interface Planned {
  readonly plan: Plan;
  readonly order: Int32Array;
  readonly boundSumSeconds: number;
}

/**
 * Limit of sites examined in local search, so that 600 of them take less than a tenth of a second.
 */
const TRIED_MAX = 200_000;
/** Limit of sites examined while prices are sought, and the least and most passes over each. */
const ASKED_MAX = 15_000;
const [ASKED_LEAST, ASKED_MOST] = [12, 100];
/**
 * The same for a better bound with deadlines; with more sites there would be too few passes to
 * help.
 */
const FURTHER_ASKED_MAX = 20_000;
const [FURTHER_LEAST, FURTHER_MOST] = [50, 120];

/**
 * Precision of sizes and speeds, as a share: nearly equal sites must not change places all the
 * time.
 */
const STEADY_SHARE = 0.01;
/** Room for rounded deadlines (`kept-schedule.ts`): an end this much later is found quickly. */
const END_ROOM_OF_MOST = 1.03;

/**
 * The order of an earlier plan, which is used unless another one is better by more than the
 * precision and by this gain.
 */
export interface Incumbent {
  readonly order: readonly number[];
  readonly gainSeconds: number;
}

export function planOptimal(
  task: PlanTask,
  objective: Objective,
  effort: Effort = "full",
  before: readonly Incumbent[] = [],
): OptimalPlan {
  const kept = withKeptDeadlines(task);
  const { plan, order, boundSumSeconds } = hasPlaces(task)
    ? planPlaced(kept, objective, effort)
    : planFree(kept, objective, effort, before);
  const late = lateOf(task, plan);
  const startupSum = task.sites.reduce((sum, { weight }) => sum + weight * task.startupSeconds, 0);
  return {
    plan,
    feasible: late.length === 0,
    order: [...order],
    late,
    lowerBoundSumSeconds: boundSumSeconds + startupSum,
  };
}

function planPlaced(task: PlanTask, objective: Objective, effort: Effort): Planned {
  const free = workOf(task);
  const kept = boundOf(withDeadlines(free, deadlinesToKeep(free)));
  const { order, squeezed } = searchPlaced(task, objective, effort, byStart(kept.starts));
  const track = new Track(free.count, 0);
  const finishes = placedFinishes(placedWorkOf(task), placesOf(task), { order, squeezed }, track);
  // A site that is late in spite of all does not bind the bound either.
  const deadlineSeconds = free.deadlineSeconds.map((deadline, site) =>
    isLate(task.sites[site] as SiteTask, finishes[site] as number)
      ? Number.POSITIVE_INFINITY
      : deadline,
  );
  return {
    plan: track.plan(task),
    order,
    boundSumSeconds: boundBelow(withDeadlines(free, deadlineSeconds), finishes, effort),
  };
}

/** Any number of sites at once, at any rate. */
function planFree(
  task: PlanTask,
  objective: Objective,
  effort: Effort,
  before: readonly Incumbent[],
): Planned {
  const work = workToKeep(workOf(task), objective);
  const schedule = new KeptSchedule(work);
  const plain = boundOf(work);
  let found = bestOf(schedule, [byStart(plain.starts), ...ordersToTry(work, effort)]);
  const bound = raisedBound(work, plain, furtherSteps(work, effort), found.score[2]);
  if (bound.meanStarts !== undefined)
    found = bestOf(schedule, [byStart(bound.starts), byStart(bound.meanStarts)], found);
  if (effort === "full")
    found = improved(
      found,
      (order, score) => schedule.score(order, score),
      () => schedule.steps < TRIED_MAX,
    );
  for (const incumbent of before) {
    const order = Int32Array.from(incumbent.order);
    const score = schedule.score(order);
    if (isWorthMore(found.score, score, STEADY_SHARE, incumbent.gainSeconds)) continue;
    found = { order, score };
    break;
  }
  const track = schedule.write(found.order, () => new Track(work.count, task.startupSeconds));
  return { plan: track.plan(task), order: found.order, boundSumSeconds: bound.sumSeconds };
}

function bestOf(schedule: KeptSchedule, orders: readonly Int32Array[], before?: Found): Found {
  let best = before;
  for (const order of orders) {
    const score = schedule.score(order, best?.score);
    if (best === undefined || isBetter(score, best.score)) best = { order, score };
  }
  return best as Found;
}

/**
 * For `min-max`, the work with the least end as a deadline of all sites. Its own deadlines can all
 * be kept.
 */
function workToKeep(given: Work, objective: Objective): Work {
  // Usually all can be kept and the end is the earliest possible: then one check is enough.
  if (objective === "min-sum") return given;
  const wanted = endingBy(given, earliestEndSeconds(given));
  if (keepsDeadlines(wanted)) return wanted;
  const room = given.count > SITES_EXACT_MAX ? END_ROOM_OF_MOST : 1;
  return endingBy(given, leastEndSeconds(given) * room);
}

function boundOf(work: Work): Bound {
  const steps = Math.floor(ASKED_MAX / work.count);
  return lowerBoundOf(work, Math.min(ASKED_MOST, Math.max(ASKED_LEAST, steps)));
}

function furtherSteps(work: Work, effort: Effort): number {
  const further = Math.floor(FURTHER_ASKED_MAX / work.count);
  return effort === "full" && further >= FURTHER_LEAST ? Math.min(FURTHER_MOST, further) : 0;
}

/** The bound, when a schedule with these finish times is known. */
function boundBelow(work: Work, finishes: Float64Array, effort: Effort): number {
  const [, , sum] = scoreOf(work, finishes, "min-sum");
  return raisedBound(work, boundOf(work), furtherSteps(work, effort), sum).sumSeconds;
}

function byStart(starts: Float64Array): Int32Array {
  return orderBy(starts.length, (site) => starts[site] as number);
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
