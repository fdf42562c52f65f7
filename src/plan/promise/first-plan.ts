/**
 * The plan that is published before a crawl and that the crawl starts with; both are made here, so
 * that they are equal.
 */

import { type Reserve, Reserves } from "./reserves.ts";
import { withKeptDeadlines } from "../feasible/give-up.ts";
import { type OptimalPlan, planOptimal } from "../optimum/optimal.ts";
import type { Objective, PlanTask } from "../plan.ts";

export interface FirstPlan extends OptimalPlan {
  /** The task with its target deadlines, without those that cannot be kept. */
  readonly targets: PlanTask;
}

export function planFirst(
  task: PlanTask,
  reserve: Reserve,
  objective: Objective,
  reserves = new Reserves(),
): FirstPlan {
  // An impossible deadline takes nothing from the reserve of the others.
  const kept = withKeptDeadlines(task);
  const targets = reserves.targetsOf(kept, reserve) ?? kept;
  const planned = planOptimal(targets, objective);
  return { targets, ...planned, feasible: planned.feasible && kept === task };
}
