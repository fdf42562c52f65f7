/** Orders of sites with a known rationale. */

import { byDeadlineDescending } from "./level-schedule.ts";
import { orderBy } from "./radix-sort.ts";
import { SiteHeap } from "./index-heap.ts";
import type { Work } from "./columns.ts";

/**
 * Smith's order (1956): by bytes / weight, and with deadlines by his backward rule. Exact without
 * caps, either without deadlines or with equal weights.
 */
export function smithOrder(work: Work): Int32Array {
  const { bytes, weight, deadlineSeconds, count } = work;
  if (deadlineSeconds.some((seconds) => seconds < Number.POSITIVE_INFINITY))
    return backwardOrder(work);
  return orderBy(count, (site) => (bytes[site] as number) / (weight[site] as number));
}

/**
 * By bytes × √cap / weight: a site of a low cap leaves most of the line to others, so it starts
 * earlier than its size alone would say. Between Smith's order and one by the caps alone; found by
 * trying exponents (decision 032).
 */
export function narrowFirstOrder({ bytes, capBps, weight, count }: Work): Int32Array {
  return orderBy(
    count,
    (site) =>
      ((bytes[site] as number) * Math.sqrt(capBps[site] as number)) / (weight[site] as number),
  );
}

/**
 * The least spare time first: with very many sites of small caps this keeps nearly all deadlines.
 */
export function orderByUrgency(work: Work): Int32Array {
  const { bytes, capBps, deadlineSeconds, count } = work;
  return orderBy(
    count,
    (site) =>
      Math.min(deadlineSeconds[site] as number, Number.MAX_VALUE) -
      (bytes[site] as number) / (capBps[site] as number),
  );
}

/**
 * Smith's backward rule: the last is the largest of those whose deadline lets them be last, and so
 * on towards the front.
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
