/**
 * Searches a good order where places are scarce, least rates bind or starting takes time.
 *
 * With deadlines that is hard already for one place (least rates make sites indivisible), so the
 * result is only the best of those tried: several orders with a known rationale, then local search
 * from the best.
 */

import { improved, type Found } from "./local-search.ts";
import type { Objective, PlanTask } from "../plan.ts";
import { placedFinishes, placedWorkOf, placesOf } from "./placed-schedule.ts";
import { isBetter, type Score, scoreOf } from "./score.ts";
import { cautiousOrders, type Effort, ordersToTry } from "./orders.ts";
import { workOf, type Work } from "./columns.ts";

interface PlacedFound extends Found {
  readonly squeezed: boolean;
}

/** Limit of site-steps, so that 600 sites take less than a tenth of a second. */
const STEPS_MAX = 200_000;

export function searchPlaced(
  task: PlanTask,
  objective: Objective,
  effort: Effort,
  hint?: Int32Array,
): PlacedFound {
  const work = placedWorkOf(task);
  const free = workOf(task);
  const orders = [...ordersToTry(free, effort), ...cautiousOrders(free)];
  if (hint !== undefined) orders.push(hint);
  let best: PlacedFound | undefined;
  for (const squeezed of task.rateMinBps > 0 ? [false, true] : [false]) {
    const found = { ...bestOf(task, { work, objective, effort, orders, squeezed }), squeezed };
    if (best === undefined || isBetter(found.score, best.score)) best = found;
  }
  return best as PlacedFound;
}

interface Search {
  readonly work: Work;
  readonly objective: Objective;
  readonly effort: Effort;
  readonly orders: readonly Int32Array[];
  readonly squeezed: boolean;
}

function bestOf(task: PlanTask, { work, objective, effort, orders, squeezed }: Search): Found {
  const places = placesOf(task);
  let steps = 0;
  const score = (order: Int32Array): Score => {
    steps += work.count;
    return scoreOf(work, placedFinishes(work, places, { order, squeezed }), objective);
  };
  let best: Found | undefined;
  for (const order of orders) {
    const found = { order, score: score(order) };
    if (best === undefined || isBetter(found.score, best.score)) best = found;
  }
  const start = best as Found;
  return effort === "quick" ? start : improved(start, score, () => steps < STEPS_MAX);
}
