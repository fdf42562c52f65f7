/**
 * Makes an order better by trying: neighbours change places, sites move to where they help.
 *
 * The number of orders that are looked at is given, and which ones follows from it alone: the same task has the
 * same answer on a slow machine and a fast one.
 */

import { below, randomFrom } from "../base/random.ts";
import { isBetter, type Score } from "./score.ts";

export interface Found {
  readonly order: Int32Array;
  readonly score: Score;
}

/** Whatever is handed to `score` may be changed afterwards. */
export function improved(
  start: Found,
  score: (order: Int32Array) => Score,
  triesMax: number,
): Found {
  const order = start.order.slice();
  let best = start.score;
  let tries = 0;
  const random = randomFrom(order.length);
  const attempt = (from: number, to: number): boolean => {
    move(order, from, to);
    tries++;
    const found = score(order);
    if (isBetter(found, best)) {
      best = found;
      return true;
    }
    move(order, to, from);
    return false;
  };
  let hasGained = true;
  while (hasGained && tries < triesMax) {
    hasGained = false;
    for (let place = 0; place + 1 < order.length && tries < triesMax; place++)
      if (attempt(place, place + 1)) hasGained = true;
    // Neighbours alone do not carry a site far.
    for (let jump = 0; jump < order.length && order.length > 2 && tries < triesMax; jump++)
      if (attempt(below(random, order.length), below(random, order.length))) hasGained = true;
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
