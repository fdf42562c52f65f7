/**
 * Plans made one after another, of which each keeps the order of the one before unless another is better:
 * sites that come to the same must not change places all the time.
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
  /** Sites in the order of the last plan, by their keys. */
  #order: readonly string[] = [];
  #gainSeconds = 0;

  constructor(objective: Objective) {
    this.#objective = objective;
  }

  /** Goes on from a plan that was told: to leave its order, there must be something to be gained of the whole. */
  begin(task: PlanTask, { plan, order }: OptimalPlan): void {
    const { maxSeconds, weightedSumSeconds } = figuresOf(task, plan);
    const wholeSeconds = this.#objective === "min-sum" ? weightedSumSeconds : maxSeconds;
    this.#gainSeconds = GAIN_SHARE * wholeSeconds;
    this.#order = keysIn(task, order);
  }

  plan(task: PlanTask): OptimalPlan {
    const effort = task.sites.length > SITES_TO_TRY_MAX ? "quick" : "full";
    const planned = planOptimal(task, this.#objective, effort, this.#orderBefore(task));
    this.#order = keysIn(task, planned.order);
    return planned;
  }

  /** The order of the last plan, if that knew all the sites of this one. */
  #orderBefore({ sites }: PlanTask): Incumbent | undefined {
    const indexes = new Map(sites.map(({ key }, index) => [key, index]));
    const known = this.#order.flatMap((key) => indexes.get(key) ?? []);
    if (known.length !== sites.length) return undefined;
    return { order: known, gainSeconds: this.#gainSeconds };
  }
}

function keysIn({ sites }: PlanTask, order: readonly number[]): string[] {
  return order.map((index) => sites[index]?.key ?? "");
}
