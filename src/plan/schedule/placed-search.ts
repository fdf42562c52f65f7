/**
 * Selects an order where places are scarce, least rates bind or starting takes time.
 *
 * With deadlines that is hard already for one place (least rates make sites indivisible), so the
 * result is only the best of several orders with a known rationale.
 */

import type { Objective, PlanTask } from "../plan.ts";
import { orderBy } from "./radix-sort.ts";
import { placedFinishes, placedWorkOf, placesOf } from "./placed-schedule.ts";
import { isBetter, type Score, scoreOf } from "./score.ts";
import { backwardOrder, orderByUrgency, smithOrder } from "./orders.ts";
import { byDeadlineDescending } from "./level-schedule.ts";
import { withDeadlines, workOf, type Work } from "./columns.ts";

interface PlacedFound {
  readonly order: Int32Array;
  readonly squeezed: boolean;
  readonly score: Score;
}

/** For when starting and waiting take time too: the same deadlines, earlier. */
const SHARES_OF_DEADLINES = [0.99, 0.97, 0.95, 0.9, 0.8, 0.6];

export function searchPlaced(task: PlanTask, objective: Objective): PlacedFound {
  const work = placedWorkOf(task);
  const places = placesOf(task);
  let best: PlacedFound | undefined;
  for (const order of ordersFor(workOf(task)))
    for (const squeezed of task.rateMinBps > 0 ? [false, true] : [false]) {
      const score = scoreOf(work, placedFinishes(work, places, { order, squeezed }), objective);
      if (best === undefined || isBetter(score, best.score)) best = { order, squeezed, score };
    }
  return best as PlacedFound;
}

function ordersFor(work: Work): Int32Array[] {
  const { bytes, capBps, weight, count } = work;
  const aloneOf = (site: number): number => (bytes[site] as number) / (capBps[site] as number);
  const orders = [
    smithOrder(work),
    orderBy(count, (site) => (bytes[site] as number) / (weight[site] as number)),
    orderBy(count, (site) => aloneOf(site) / (weight[site] as number)),
    orderBy(count, (site) => -aloneOf(site)),
  ];
  const dated = byDeadlineDescending(work);
  if (dated.length === 0) return orders;
  orders.push(orderByUrgency(work));
  for (const share of SHARES_OF_DEADLINES) {
    const deadlineSeconds = work.deadlineSeconds.map((deadline) => deadline * share);
    orders.push(backwardOrder(withDeadlines(work, deadlineSeconds), dated));
  }
  return orders;
}
