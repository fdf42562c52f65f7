/**
 * The plan that is published before a crawl and that the crawl starts with; both are made here, so
 * that they are equal.
 *
 * Many orders have nearly the same sum, and which of them is found depends on the last digits of
 * the input. So a crawl plans exactly the task of `weir plan --as-crawled`, and continues with its
 * order.
 */

import { mostSlack, type Slack, withSlack } from "./slack.ts";
import { withKeptDeadlines } from "../feasible/give-up.ts";
import { type OptimalPlan, planOptimal } from "../optimum/optimal.ts";
import type { Objective, PlanTask } from "../plan.ts";

export interface Beforehand extends OptimalPlan {
  /** The task with its target deadlines, without those that cannot be kept. */
  readonly aims: PlanTask;
}

/** Sites above which the order is not improved by local search. */
const SITES_TO_TRY_MAX = 5000;

export function planBeforehand(task: PlanTask, wanted: Slack, objective: Objective): Beforehand {
  // An impossible deadline takes nothing from the reserve of the others.
  const kept = withKeptDeadlines(task);
  const slack = mostSlack(kept, wanted, 0);
  const aims = slack === undefined ? kept : withSlack(kept, slack);
  const planned = planWell(aims, objective);
  return { aims, ...planned, feasible: planned.feasible && kept === task };
}

/** The best plan within the time that a user waits for an answer. */
export function planWell(task: PlanTask, objective: Objective): OptimalPlan {
  return planOptimal(task, objective, task.sites.length > SITES_TO_TRY_MAX ? "quick" : "full");
}
