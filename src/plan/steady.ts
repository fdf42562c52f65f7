/**
 * Plans made one after another, of which each keeps the order of the one before unless another is better:
 * sites that come to the same must not change places all the time.
 */

import { type OptimalPlan, planOptimal } from "./optimal.ts";
import type { Objective, PlanTask } from "./plan.ts";

/** Plans are made again after this time. */
export const PLAN_SECONDS = 2;
/** With more sites than this the order is not improved by trying: a crawl stands still meanwhile. */
const SITES_TO_TRY_MAX = 20;

export class SteadyPlanner {
  readonly #objective: Objective;
  /** Sites in the order of the last plan, by their keys. */
  #order: readonly string[] = [];

  constructor(objective: Objective) {
    this.#objective = objective;
  }

  /** Goes on from an order that was found elsewhere. */
  begin(order: readonly string[]): void {
    this.#order = order;
  }

  plan(task: PlanTask): OptimalPlan {
    const effort = task.sites.length > SITES_TO_TRY_MAX ? "quick" : "full";
    const planned = planOptimal(task, this.#objective, effort, this.#orderBefore(task));
    this.#order = planned.order.map((index) => task.sites[index]?.key ?? "");
    return planned;
  }

  /** The order of the last plan, if that knew all the sites of this one. */
  #orderBefore({ sites }: PlanTask): number[] | undefined {
    const indexes = new Map(sites.map(({ key }, index) => [key, index]));
    const known = this.#order.flatMap((key) => indexes.get(key) ?? []);
    return known.length === sites.length ? known : undefined;
  }
}
