/**
 * Makes an order better by trying: neighbours change places, sites move to where they help.
 *
 * Which orders are looked at follows from the task alone, and how long from what the caller counts: on
 * a slow machine the answer is the same as on a fast one.
 */

import { below, randomFrom } from "../base/random.ts";
import { isBetter, type Score } from "./score.ts";

/** Far moves for each site and round. */
const JUMPS = 2;

export interface Found {
  readonly order: Int32Array;
  readonly score: Score;
}

/** Whatever is handed to `score` changes afterwards; `mayGoOn` is asked before each try. */
export function improved(
  start: Found,
  score: (order: Int32Array, best: Score) => Score,
  mayGoOn: () => boolean,
): Found {
  const order = start.order.slice();
  const count = order.length;
  const random = randomFrom(count);
  let best = start.score;
  const attempt = (from: number, to: number): boolean => {
    move(order, from, to);
    const found = score(order, best);
    if (isBetter(found, best)) {
      best = found;
      return true;
    }
    move(order, to, from);
    return false;
  };
  for (let hasGained = count > 1; hasGained;) {
    hasGained = false;
    for (let place = 0; place + 1 < count && mayGoOn(); place++)
      if (attempt(place, place + 1)) hasGained = true;
    // Neighbours alone do not carry a site far.
    for (let jump = 0; jump < JUMPS * count && mayGoOn(); jump++)
      if (attempt(below(random, count), below(random, count))) hasGained = true;
  }
  return { order, score: best };
}

/** Takes the site at one place out and puts it in at another. */
function move(order: Int32Array, from: number, to: number): void {
  const site = order[from] as number;
  if (from < to) order.copyWithin(from, from + 1, to + 1);
  else order.copyWithin(to + 1, to, from);
  order[to] = site;
}
