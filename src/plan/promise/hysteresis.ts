/**
 * Plans made one after another, of which each keeps the order that was told at first, or of the one before, unless
 * another is better: sites that come to the same must not change places all the time. Where the order that was
 * told had to be left for a while, as a site seemed larger than it is, it is gone back to. And where deadlines can be
 * aimed at in several ways, the one is taken by which sites are done when it was told.
 */

import { type Incumbent, type OptimalPlan, planOptimal } from "../optimum/optimal.ts";
import { figuresOf, type Objective, type PlanTask } from "../plan.ts";

/** Plans are made again after this time. */
export const PLAN_SECONDS = 2;
/** What the order of a plan that was told is left for, of all its waiting: for less where not all it promises could be kept. */
const GAIN_SHARE = 0.05;
const GAIN_SHARE_LATE = 0.02;
/** Nearer to what was told no other way to aim need come. */
const NEAR_SECONDS = 0.1;
/** With more sites than this the order is not improved by trying: a crawl stands still meanwhile. */
const SITES_TO_TRY_MAX = 20;

export class SteadyPlanner {
  readonly #objective: Objective;
  /** Sites in the order that was told and in that of the last plan, by their keys. */
  #told: readonly string[] = [];
  #last: readonly string[] = [];
  #gainSeconds = 0;
  /** When each was to be done, by the plan that was told. */
  #toldSeconds: ReadonlyMap<string, number> = new Map();

  constructor(objective: Objective) {
    this.#objective = objective;
  }

  /** Goes on from a plan that was told: to leave its order, there must be something to be gained of the whole. */
  begin(task: PlanTask, { plan, order, feasible }: OptimalPlan): void {
    const { maxSeconds, weightedSumSeconds } = figuresOf(task, plan);
    const wholeSeconds = this.#objective === "min-sum" ? weightedSumSeconds : maxSeconds;
    this.#gainSeconds = (feasible ? GAIN_SHARE : GAIN_SHARE_LATE) * wholeSeconds;
    this.#told = keysIn(task, order);
    this.#toldSeconds = new Map(plan.sites.map(({ key, finishSeconds }) => [key, finishSeconds]));
  }

  /** Of tasks that differ in their deadlines alone, so long after a plan was told. */
  plan(tasks: readonly [PlanTask, ...PlanTask[]], sinceToldSeconds = 0): OptimalPlan {
    let nearest = this.#plan(tasks[0]);
    let offSeconds = this.#offTold(nearest, sinceToldSeconds);
    for (const task of tasks.slice(1)) {
      if (offSeconds <= NEAR_SECONDS) break;
      const planned = this.#plan(task);
      const off = this.#offTold(planned, sinceToldSeconds);
      if (off < offSeconds) [nearest, offSeconds] = [planned, off];
    }
    this.#last = keysIn(tasks[0], nearest.order);
    return nearest;
  }

  /** By how much the one that is farthest off is. */
  #offTold({ plan }: OptimalPlan, sinceToldSeconds: number): number {
    let worstSeconds = 0;
    for (const { key, finishSeconds } of plan.sites) {
      const toldSeconds = this.#toldSeconds.get(key);
      if (toldSeconds === undefined) continue;
      const offSeconds = Math.abs(sinceToldSeconds + finishSeconds - toldSeconds);
      worstSeconds = Math.max(worstSeconds, offSeconds);
    }
    return worstSeconds;
  }

  #plan(task: PlanTask): OptimalPlan {
    const effort = task.sites.length > SITES_TO_TRY_MAX ? "quick" : "full";
    const before = [
      ...incumbentIn(task, this.#told, this.#gainSeconds),
      ...incumbentIn(task, this.#last, 0),
    ];
    return planOptimal(task, this.#objective, effort, before);
  }
}

/** An earlier order, if that knew all the sites of this task. */
function incumbentIn(
  { sites }: PlanTask,
  keys: readonly string[],
  gainSeconds: number,
): Incumbent[] {
  const indexes = new Map(sites.map(({ key }, index) => [key, index]));
  const order = keys.flatMap((key) => indexes.get(key) ?? []);
  return order.length === sites.length ? [{ order, gainSeconds }] : [];
}

function keysIn({ sites }: PlanTask, order: readonly number[]): string[] {
  return order.map((index) => sites[index]?.key ?? "");
}
