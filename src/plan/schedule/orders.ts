/** Orders with a known rationale, as starting points of the search. */

import { byDeadlineDescending } from "./level-schedule.ts";
import { orderBy } from "./radix-sort.ts";
import { SiteHeap } from "./index-heap.ts";
import { withDeadlines, type Work } from "./columns.ts";

/** Effort of the search: "quick" is for very many sites, and for plans made every few seconds. */
export type Effort = "quick" | "full";

/** Sites above which a quick search tries only the best-founded order. */
const SITES_TO_TRY_MAX = 5000;
const SHARES_OF_DEADLINES = [0.99, 0.97, 0.95, 0.9, 0.8, 0.6];

export function ordersToTry(work: Work, effort: Effort): Int32Array[] {
  const { bytes, capBps, weight, deadlineSeconds, count } = work;
  const sizeOf = (site: number) => (bytes[site] as number) / (weight[site] as number);
  const aloneOf = (site: number) => (bytes[site] as number) / (capBps[site] as number);
  const isDated = deadlineSeconds.some((seconds) => seconds < Number.POSITIVE_INFINITY);
  const orders = [isDated ? backwardOrder(work) : orderBy(count, sizeOf)];
  if (effort === "quick" && count > SITES_TO_TRY_MAX) return orders;
  if (isDated) {
    const dueOf = (site: number) => dueSeconds(work, site);
    orders.push(orderBy(count, dueOf), orderByUrgency(work));
  }
  if (effort === "full")
    orders.push(
      orderBy(count, sizeOf),
      orderBy(count, (site) => aloneOf(site) / (weight[site] as number)),
      orderBy(count, (site) => -aloneOf(site)),
    );
  return orders;
}

/**
 * The least spare time first: with very many sites of small caps this keeps nearly all deadlines.
 */
export function orderByUrgency(work: Work): Int32Array {
  const { bytes, capBps, count } = work;
  return orderBy(
    count,
    (site) => dueSeconds(work, site) - (bytes[site] as number) / (capBps[site] as number),
  );
}

function dueSeconds({ deadlineSeconds }: Work, site: number): number {
  return Math.min(deadlineSeconds[site] as number, Number.MAX_VALUE);
}

/** Smith's backward rule with earlier deadlines, for when starting and waiting take time too. */
export function cautiousOrders(work: Work): Int32Array[] {
  const dated = byDeadlineDescending(work);
  if (dated.length === 0) return [];
  return SHARES_OF_DEADLINES.map((share) => {
    const deadlineSeconds = work.deadlineSeconds.map((deadline) => deadline * share);
    return backwardOrder(withDeadlines(work, deadlineSeconds), dated);
  });
}

/**
 * Smith's backward rule (1956): the last is the largest of those whose deadline lets them be last, and
 * so on towards the front. Exact without caps when all weights are equal.
 */
export function backwardOrder(work: Work, dated = byDeadlineDescending(work)): Int32Array {
  const { bytes, weight, deadlineSeconds, rateBps, count } = work;
  const bySize = orderBy(count, (site) => (bytes[site] as number) / (weight[site] as number));
  const keys = new Int32Array(count);
  for (let place = 0; place < count; place++) keys[bySize[place] as number] = -place;
  const open = new SiteHeap(count);
  const put = (site: number) => open.put(site, keys[site] as number);
  let endSeconds = 0;
  for (let site = 0; site < count; site++) {
    endSeconds += (bytes[site] as number) / rateBps;
    if (deadlineSeconds[site] === Number.POSITIVE_INFINITY) put(site);
  }
  const order = new Int32Array(count);
  let next = 0;
  for (let place = count - 1; place >= 0; place--) {
    // If no site may be last, the one with the latest deadline is.
    const isOpen = (site: number) =>
      (deadlineSeconds[site] as number) >= endSeconds || open.size === 0;
    while (next < dated.length && isOpen(dated[next] as number)) put(dated[next++] as number);
    const last = open.take() as number;
    order[place] = last;
    endSeconds -= (bytes[last] as number) / rateBps;
  }
  return order;
}
