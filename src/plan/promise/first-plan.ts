/**
 * The plan that is told beforehand and with which a crawl begins: made in one place, so that both are the same.
 *
 * Many orders come to nearly the same in the sum, and which of them is found hangs on the last digits of what
 * was asked. So a crawl asks exactly what `weir plan --as-crawled` asks, and goes on from the order it gets.
 */

import { mostSlack, type Slack, withSlack } from "./slack.ts";
import { withKeptDeadlines } from "../feasible/give-up.ts";
import { type OptimalPlan, planOptimal } from "../optimum/optimal.ts";
import type { Objective, PlanTask } from "../plan.ts";

export interface Beforehand extends OptimalPlan {
  /** The task with its deadlines as early as they are aimed at, without those that cannot be kept. */
  readonly aims: PlanTask;
}

/** With more sites than this the order is not improved by trying. */
const SITES_TO_TRY_MAX = 5000;

export function planBeforehand(task: PlanTask, wanted: Slack, objective: Objective): Beforehand {
  // A deadline that cannot be kept takes nothing from what is kept in hand before the others.
  const kept = withKeptDeadlines(task);
  const slack = mostSlack(kept, wanted, 0);
  const aims = slack === undefined ? kept : withSlack(kept, slack);
  const planned = planWell(aims, objective);
  return { aims, ...planned, feasible: planned.feasible && kept === task };
}

/** As well as can be done in the time that somebody waits for an answer. */
export function planWell(task: PlanTask, objective: Objective): OptimalPlan {
  return planOptimal(task, objective, task.sites.length > SITES_TO_TRY_MAX ? "quick" : "full");
}
