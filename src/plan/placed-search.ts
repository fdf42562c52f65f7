/**
 * Looks for a good order where places are scarce, least rates bind or starting takes time.
 *
 * With deadlines that is hard already for one place (least rates make sites indivisible), so nothing is
 * promised but what was tried: several orders that are good for some reason, then local search from the
 * best.
 */

import { improved, type Found } from "./local-search.ts";
import type { Objective, PlanTask } from "./plan.ts";
import { placedFinishes, placesOf } from "./placed-schedule.ts";
import { isBetter, scoreOf } from "./score.ts";
import { type Effort, ordersToTry } from "./orders.ts";
import { workOf, type Work } from "./work.ts";

export interface PlacedFound extends Found {
  readonly squeezed: boolean;
}

/** Site-steps that may be spent on trying, so that 600 sites stay below a tenth of a second. */
const STEPS_MAX = 500_000;

export function searchPlaced(
  task: PlanTask,
  objective: Objective,
  effort: Effort,
  hint?: Int32Array,
): PlacedFound {
  const work = placedWorkOf(task);
  const places = placesOf(task);
  const orders = ordersToTry(work, effort);
  let best: PlacedFound | undefined;
  for (const squeezed of task.rateMinBps > 0 ? [false, true] : [false])
    for (const order of hint === undefined ? orders : [hint, ...orders]) {
      const finishes = placedFinishes(work, places, { order, squeezed });
      const score = scoreOf(work, finishes, objective);
      if (best === undefined || isBetter(score, best.score)) best = { order, score, squeezed };
    }
  const start = best as PlacedFound;
  if (effort === "quick") return start;
  const { squeezed } = start;
  let steps = 0;
  const score = (order: Int32Array) => {
    steps += work.count;
    return scoreOf(work, placedFinishes(work, places, { order, squeezed }), objective);
  };
  return { ...improved(start, score, () => steps < STEPS_MAX), squeezed };
}

/** Start-up is part of the schedule here, so it is not taken off the deadlines. */
export function placedWorkOf(task: PlanTask): Work {
  return workOf({ ...task, startupSeconds: 0 });
}
