/**
 * Improves an order by local search: neighbours change places, sites move to where they help.
 *
 * The orders that are tried follow from the task alone, and their number from the caller's count,
 * so a slow machine gets the same result as a fast one.
 */

import { below, randomFrom } from "../../base/random.ts";
import { isBetter, type Score } from "./score.ts";

/** Far moves per site in each pass. */
const JUMPS = 2;
const KICKS = 3;
const KICK_STEPS = 3;

export interface Found {
  readonly order: Int32Array;
  readonly score: Score;
}

/** The order passed to `score` changes afterwards; `mayGoOn` is called before each try. */
export function improved(
  start: Found,
  score: (order: Int32Array, best: Score) => Score,
  mayGoOn: () => boolean,
): Found {
  const count = start.order.length;
  if (count < 2) return start;
  const random = randomFrom(count);
  const place = () => below(random, count);
  let best = descended(start, score, mayGoOn, place);
  // Where no single step helps, several at once may lead to a better order.
  for (let kick = 0; kick < KICKS && mayGoOn(); kick++) {
    const order = best.order.slice();
    for (let step = 0; step < KICK_STEPS; step++) move(order, place(), place());
    const found = descended({ order, score: score(order, best.score) }, score, mayGoOn, place);
    if (isBetter(found.score, best.score)) best = found;
  }
  return best;
}

/** Applies improvements until there are none. */
function descended(
  start: Found,
  score: (order: Int32Array, best: Score) => Score,
  mayGoOn: () => boolean,
  anyPlace: () => number,
): Found {
  const order = start.order.slice();
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
  for (let hasGained = true; hasGained;) {
    hasGained = false;
    for (let place = 0; place + 1 < order.length && mayGoOn(); place++)
      if (attempt(place, place + 1)) hasGained = true;
    // Swaps of neighbours alone do not move a site far.
    for (let jump = 0; jump < JUMPS * order.length && mayGoOn(); jump++)
      if (attempt(anyPlace(), anyPlace())) hasGained = true;
  }
  return { order, score: best };
}

/** Moves the site at one place to another. */
function move(order: Int32Array, from: number, to: number): void {
  const site = order[from] as number;
  if (from < to) order.copyWithin(from, from + 1, to + 1);
  else order.copyWithin(to + 1, to, from);
  order[to] = site;
}
