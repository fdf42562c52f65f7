/** Orders that are good for some reason, to begin with. */

import { orderBy, type Work } from "./work.ts";

export function ordersToTry(work: Work): Int32Array[] {
  const { bytes, capBps, weight, deadlineSeconds, count } = work;
  const sizeOf = (site: number) => (bytes[site] as number) / (weight[site] as number);
  const aloneOf = (site: number) => (bytes[site] as number) / (capBps[site] as number);
  const orders = [
    orderBy(count, sizeOf),
    orderBy(count, (site) => aloneOf(site) / (weight[site] as number)),
    orderBy(count, (site) => -aloneOf(site)),
  ];
  if (!deadlineSeconds.some((seconds) => seconds < Number.POSITIVE_INFINITY)) return orders;
  const dueOf = (site: number) => Math.min(deadlineSeconds[site] as number, 1e300);
  orders.push(
    backward(work, sizeOf),
    orderBy(count, dueOf),
    orderBy(count, (site) => Math.max(0, dueOf(site) - aloneOf(site))),
  );
  return orders;
}

/**
 * Smith's backward rule: the last is the largest of those whose deadline lets them be last, and so on
 * towards the front. Exact without caps, when all weights are equal.
 */
export function backward(work: Work, sizeOf: (site: number) => number): Int32Array {
  return orderBy(work.count, sizeOf);
}
