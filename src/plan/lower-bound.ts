/**
 * A sum of weighted finishing times that no schedule can be below.
 */

import { orderBy, type Work } from "./work.ts";

export function lowerBoundOf(work: Work): number {
  const { bytes, capBps, weight, rateBps, count } = work;
  const order = orderBy(count, (site) => (bytes[site] as number) / (weight[site] as number));
  let sum = 0;
  let alone = 0;
  let nowSeconds = 0;
  for (const site of order) {
    nowSeconds += (bytes[site] as number) / rateBps;
    sum += (weight[site] as number) * nowSeconds;
    alone += ((weight[site] as number) * (bytes[site] as number)) / (capBps[site] as number);
  }
  return Math.max(sum, alone);
}
