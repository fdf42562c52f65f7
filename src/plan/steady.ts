/**
 * Plans made one after another, of which each keeps the order that was told at first, or of the one before, unless
 * another is better: sites that come to the same must not change places all the time. Where the order that was
 * told had to be left for a while, as a site seemed larger than it is, it is gone back to.
 */

import { type Incumbent, type OptimalPlan, planOptimal } from "./optimal.ts";
import { figuresOf, type Objective, type PlanTask } from "./plan.ts";

/** Plans are made again after this time. */
export const PLAN_SECONDS = 2;
/** What the order of a plan that was told is left for, of all its waiting. */
const GAIN_SHARE = 0.02;
/** With more sites than this the order is not improved by trying: a crawl stands still meanwhile. */
const SITES_TO_TRY_MAX = 20;

export class SteadyPlanner {
  readonly #objective: Objective;
  /** Sites in the order that was told and in that of the last plan, by their keys. */
  #told: readonly string[] = [];
  #last: readonly string[] = [];
  #gainSeconds = 0;

  constructor(objective: Objective) {
    this.#objective = objective;
  }

  /** Goes on from a plan that was told: to leave its order, there must be something to be gained of the whole. */
  begin(task: PlanTask, { plan, order }: OptimalPlan): void {
    const { maxSeconds, weightedSumSeconds } = figuresOf(task, plan);
    const wholeSeconds = this.#objective === "min-sum" ? weightedSumSeconds : maxSeconds;
    this.#gainSeconds = GAIN_SHARE * wholeSeconds;
    this.#told = keysIn(task, order);
  }

  plan(task: PlanTask): OptimalPlan {
    const effort = task.sites.length > SITES_TO_TRY_MAX ? "quick" : "full";
    const before = [
      ...incumbentIn(task, this.#told, this.#gainSeconds),
      ...incumbentIn(task, this.#last, 0),
    ];
    const planned = planOptimal(task, this.#objective, effort, before);
    this.#last = keysIn(task, planned.order);
    return planned;
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
