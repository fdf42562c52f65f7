/**
 * The list schedule: the first site of an order gets as much rate as it can take, the next what is
 * left, and so on.
 *
 * No usable rate is idle, and no site stops once it has started. For sites without caps or
 * deadlines the order by bytes / weight makes this exact (Smith 1956). With caps, it suffices to
 * search orders if the conjecture of Beaumont, Bonichon, Eyraud-Dubois and Marchal holds
 * (Minimizing Weighted Mean Completion Time for Malleable Tasks Scheduling, 2012): that some list
 * schedule has the least weighted sum. O(n log n).
 */

import { SiteHeap } from "./index-heap.ts";
import type { Track } from "./recorder.ts";
import type { Work } from "./columns.ts";

/** Finish time of each site; the rates are recorded if there is a track. */
export function listFinishes(work: Work, order: Int32Array, track?: Track): Float64Array {
  const { bytes, capBps, rateBps } = work;
  const finishes = new Float64Array(work.count);
  const full = new SiteHeap(work.count);
  let nowSeconds = 0;
  let freeBps = rateBps;
  let next = 0;
  let partial = -1;
  let partialBps = 0;
  let partialBytes = 0;
  for (;;) {
    // Give free rate to the site below its cap before those that have none.
    while (freeBps > 0) {
      if (partial < 0) {
        while (next < order.length && bytes[order[next] as number] === 0) next++;
        if (next === order.length) break;
        partial = order[next++] as number;
        partialBps = 0;
        partialBytes = bytes[partial] as number;
      }
      const cap = capBps[partial] as number;
      if (cap - partialBps > freeBps) {
        partialBps += freeBps;
        freeBps = 0;
        track?.set(partial, nowSeconds, partialBps);
        break;
      }
      freeBps -= cap - partialBps;
      track?.set(partial, nowSeconds, cap);
      finishes[partial] = nowSeconds + partialBytes / cap;
      full.put(partial, finishes[partial] as number);
      partial = -1;
    }
    const firstSeconds = full.firstKey;
    const partialSeconds =
      partial < 0 ? Number.POSITIVE_INFINITY : nowSeconds + partialBytes / partialBps;
    if (partialSeconds < firstSeconds) {
      nowSeconds = partialSeconds;
      finishes[partial] = nowSeconds;
      track?.set(partial, nowSeconds, undefined);
      freeBps += partialBps;
      partial = -1;
    } else if (full.size > 0) {
      if (partial >= 0)
        partialBytes = Math.max(0, partialBytes - partialBps * (firstSeconds - nowSeconds));
      nowSeconds = firstSeconds;
      const first = full.take() as number;
      track?.set(first, nowSeconds, undefined);
      freeBps += capBps[first] as number;
    } else return finishes;
    // When no site runs any more, the rounding errors of the sums are reset.
    if (full.size === 0 && partial < 0) freeBps = rateBps;
  }
}
