/**
 * Makes an order better by trying: neighbours change places, sites move to where they help.
 *
 * Which orders are looked at follows from the task alone, and how long from what the caller counts: on
 * a slow machine the answer is the same as on a fast one.
 */

import { below, randomFrom } from "../../base/random.ts";
import { isBetter, type Score } from "../schedule/score.ts";

/** Far moves for each site and round. */
const JUMPS = 2;
const KICKS = 3;
const KICK_STEPS = 3;

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
  const count = start.order.length;
  if (count < 2) return start;
  const random = randomFrom(count);
  const place = () => below(random, count);
  let best = descended(start, score, mayGoOn, place);
  // Where no single step helps, a few at once may lead to a better place.
  for (let kick = 0; kick < KICKS && mayGoOn(); kick++) {
    const order = best.order.slice();
    for (let step = 0; step < KICK_STEPS; step++) move(order, place(), place());
    const found = descended({ order, score: score(order, best.score) }, score, mayGoOn, place);
    if (isBetter(found.score, best.score)) best = found;
  }
  return best;
}

/** Takes what helps until nothing does. */
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
    // Neighbours alone do not carry a site far.
    for (let jump = 0; jump < JUMPS * order.length && mayGoOn(); jump++)
      if (attempt(anyPlace(), anyPlace())) hasGained = true;
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
