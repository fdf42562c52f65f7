/**
 * The default planner: rates that change over time, so that deadlines are kept when any schedule keeps
 * them, and then everything is done by the least time, or the sum of waiting is small.
 */

import {
  earliestEndSeconds,
  endingBy,
  keepsDeadlines,
  leastEndSeconds,
} from "../feasible/feasible.ts";
import { KeptSchedule } from "../schedule/kept-schedule.ts";
import { deadlinesToKeep, SITES_EXACT_MAX, withKeptDeadlines } from "../feasible/give-up.ts";
import { type Found, improved } from "./local-search.ts";
import { type Bound, lowerBoundOf, raisedBound } from "./lower-bound.ts";
import { orderBy } from "../schedule/radix-sort.ts";
import { type Effort, ordersToTry } from "../schedule/orders.ts";
import { placedFinishes, placesOf } from "../schedule/placed-schedule.ts";
import { placedWorkOf, searchPlaced } from "../schedule/placed-search.ts";
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
  /** No schedule that keeps what this plan keeps has a smaller Σ weight × finish. */
  readonly lowerBoundSumSeconds: number;
}

interface Planned {
  readonly plan: Plan;
  readonly order: Int32Array;
  readonly boundSumSeconds: number;
}

/** Sites looked at while trying, so that 600 of them stay below a tenth of a second. */
const TRIED_MAX = 200_000;
/** Sites asked while prices are sought, and how often each at least and at most. */
const ASKED_MAX = 15_000;
const [ASKED_LEAST, ASKED_MOST] = [12, 100];
/** Sites asked for a better bound where there are deadlines; with more sites it would be too seldom to help. */
const FURTHER_ASKED_MAX = 20_000;
const [FURTHER_LEAST, FURTHER_MOST] = [50, 120];

/** Sizes and speeds are not known better: sites that come to the same must not change places all the time. */
const STEADY_SHARE = 0.01;
/** Where deadlines are rounded (`kept-schedule.ts`): an end that leaves room for it is soon found. */
const END_ROOM_OF_MOST = 1.03;

/** The order of an earlier plan, which is taken unless another one is better by more than can be known, and by so much. */
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
  // Who is late in spite of all does not bind the bound either.
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

/** As many at once as there are, at any rate. */
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

/** For `min-max` with the least end as a deadline of all sites. Its own deadlines can all be kept. */
function workToKeep(given: Work, objective: Objective): Work {
  // Most often all can be kept and the end is as early as can be: one look is enough then.
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

/** The bound when a schedule is known that ends so. */
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
