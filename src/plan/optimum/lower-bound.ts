/**
 * A sum of weighted finish times that no schedule of the work is below.
 *
 * Every site needs its bytes at its cap. And the sites of any group need the line: without caps the
 * order by bytes / weight is best for them (Smith 1956), and with deadlines and equal weights his
 * backward rule. So the sites that the line holds up more than their caps do count with the line,
 * and the others with their caps; that is a bound for every such group. O(n log n).
 */

import { backwardOrder } from "../schedule/orders.ts";
import { orderBy } from "../schedule/radix-sort.ts";
import type { Work } from "../schedule/columns.ts";

/** Times that sites which their caps hold up more are taken out of the group. */
const GROUPS = 3;

export function lowerBoundOf(work: Work): number {
  const { bytes, weight, count } = work;
  const sizeOf = (site: number): number => (bytes[site] as number) / (weight[site] as number);
  let group = orderBy(count, sizeOf);
  let best = 0;
  for (const site of group) best += (weight[site] as number) * aloneSeconds(work, site);
  const isEqual = weight.every((value) => value === weight[0]);
  if (isEqual) best = Math.max(best, lineSum(work, backwardOrder(work)));
  let outside = 0;
  for (let step = 0; step <= GROUPS; step++) {
    best = Math.max(best, outside + lineSum(work, group));
    let nowSeconds = 0;
    group = group.filter((site) => {
      nowSeconds += (bytes[site] as number) / work.rateBps;
      const alone = aloneSeconds(work, site);
      if (alone <= nowSeconds) return true;
      outside += (weight[site] as number) * alone;
      return false;
    });
  }
  return best;
}

function aloneSeconds({ bytes, capBps }: Work, site: number): number {
  return (bytes[site] as number) / (capBps[site] as number);
}

/** As if the sites in this order had the line to themselves, one after the other. */
function lineSum({ bytes, weight, rateBps }: Work, order: Int32Array): number {
  let sum = 0;
  let nowSeconds = 0;
  for (const site of order) {
    nowSeconds += (bytes[site] as number) / rateBps;
    sum += (weight[site] as number) * nowSeconds;
  }
  return sum;
}
