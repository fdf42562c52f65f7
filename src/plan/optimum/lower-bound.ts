/**
 * A sum of weighted finishing times that no schedule can be below, and the order that its prices suggest.
 *
 * Prices of the line's time (`prices.ts`) are changed until demand fits: where more bytes would have
 * come by a moment than the line can bring, the price must fall faster there, and slower where fewer
 * would. This is ascent along subgradients with Polyak's steps (1969); the best on the way is kept.
 * Beside it stands the sum of Smith's orders, without caps, which is exact for that: with deadlines where
 * all weights are equal, else without.
 *
 * Sites by the start they choose at these prices are a good order to crawl them in. At the best prices many do not care
 * when they start, and choose badly for all together; so their mean starts on the way there are another one. Of many sites a part
 * speaks for all while prices are sought; the bound itself asks every one. O(n log n) with a given
 * number of steps.
 */

import { listFinishes } from "../schedule/list-schedule.ts";
import { neverRising } from "./never-rising.ts";
import { orderBy } from "../schedule/radix-sort.ts";
import { backwardOrder } from "../schedule/orders.ts";
import { Prices } from "./prices.ts";
import { type SmoothPrices, steppedBound } from "./stepped-prices.ts";
import { columnOf, reordered, type Work } from "../schedule/columns.ts";

export interface Bound {
  readonly sumSeconds: number;
  /** When each site would begin at the prices of the bound. */
  readonly starts: Float64Array;
  /** In the mean of all prices that were tried towards the end; undefined where none were. */
  readonly meanStarts?: Float64Array;
  /** Undefined when there is nothing to be bought. */
  readonly prices: SmoothPrices | undefined;
}

const KNOTS = 160;
const SITES_ASKED_MAX = 1500;
/** Steps become shorter when so many of them have brought nothing. */
const PATIENCE = 3;
const STEP_MIN = 1e-3;
/** How much of the last direction stays in the next one. */
const MOMENTUM = 0.5;

/** After so many steps towards better prices. */
export function lowerBoundOf(work: Work, steps: number): Bound {
  const { bytes, weight, count } = work;
  const bySize = orderBy(count, (site) => (bytes[site] as number) / (weight[site] as number));
  const finishes = listFinishes(work, bySize);
  // The least without caps: by size, or with deadlines by the backward rule, exact for equal weights.
  const isEqual = weight.every((value) => value === weight[0]);
  const smithSeconds = smithSum(work, isEqual ? backwardOrder(work) : bySize);
  const knots = knotsOf(finishes);
  if (knots.length < 2)
    return { sumSeconds: smithSeconds, starts: new Float64Array(count), prices: undefined };
  const prices = new Prices(work, knots);
  prices.set(bestFalls(knots, ...someOf(work, bySize, finishes), steps));
  const sumSeconds = Math.max(smithSeconds, prices.boundSumSeconds);
  return { sumSeconds, starts: prices.starts, prices };
}

/** With deadlines, the bound after so many steps more, once a schedule is known: the sum that it reaches is the goal. */
export function raisedBound(work: Work, bound: Bound, steps: number, goalSeconds: number): Bound {
  const isDated = work.deadlineSeconds.some((seconds) => seconds < Number.POSITIVE_INFINITY);
  if (!isDated || steps === 0 || bound.prices === undefined) return bound;
  const { sumSeconds, starts, meanStarts } = steppedBound(work, bound.prices, steps, goalSeconds);
  if (sumSeconds <= bound.sumSeconds) return { ...bound, meanStarts };
  return { ...bound, sumSeconds, starts, meanStarts };
}

function smithSum({ bytes, weight, rateBps }: Work, bySize: Int32Array): number {
  let sum = 0;
  let nowSeconds = 0;
  for (const site of bySize) {
    nowSeconds += (bytes[site] as number) / rateBps;
    sum += (weight[site] as number) * nowSeconds;
  }
  return sum;
}

/** Half of them where sites end, half of them evenly. */
function knotsOf(finishes: Float64Array): Float64Array {
  const sorted = finishes.toSorted();
  const endSeconds = sorted.at(-1) ?? 0;
  const knots = [0];
  for (let part = 1; part <= KNOTS / 2; part++) {
    knots.push(sorted[Math.ceil((part * 2 * sorted.length) / KNOTS) - 1] as number);
    knots.push((endSeconds * part * 2) / KNOTS);
  }
  const apart = endSeconds * 1e-9;
  return Float64Array.from(knots)
    .sort()
    .filter((knot, index, all) => index === 0 || knot - (all[index - 1] as number) > apart);
}

/** Every so-many-th by size, with the line's rate in proportion. */
function someOf(
  work: Work,
  bySize: Int32Array,
  finishes: Float64Array,
): [work: Work, finishes: Float64Array] {
  if (work.count <= SITES_ASKED_MAX) return [work, finishes];
  const every = work.count / SITES_ASKED_MAX;
  const sites = Int32Array.from(
    { length: SITES_ASKED_MAX },
    (_, part) => bySize[Math.floor((part + 0.5) * every)] as number,
  );
  const some = reordered(work, sites);
  const rateBps = (work.rateBps * sumOf(some.bytes)) / sumOf(work.bytes);
  return [{ ...some, rateBps }, columnOf(finishes, sites)];
}

function sumOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function bestFalls(
  knots: Float64Array,
  work: Work,
  finishes: Float64Array,
  steps: number,
): Float64Array {
  const prices = new Prices(work, knots);
  const ascent = new Ascent(prices, weightedSum(work, finishes));
  const first = firstFalls(knots, work, finishes);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) ascent.look(first.map((fall) => fall * share));
  for (let step = 0; step < steps && ascent.stepLength > STEP_MIN; step++) ascent.step();
  return ascent.best;
}

function weightedSum({ weight }: Work, finishes: Float64Array): number {
  return finishes.reduce((sum, finish, site) => sum + finish * (weight[site] as number), 0);
}

/** As if each site ran at its cap just before it ends in the list schedule: what it is worth a byte. */
function firstFalls(knots: Float64Array, work: Work, finishes: Float64Array): Float64Array {
  const changes = new Float64Array(knots.length);
  for (let site = 0; site < work.count; site++) {
    const capBps = work.capBps[site] as number;
    const seconds = (work.bytes[site] as number) / capBps;
    if (seconds === 0) continue;
    const fall = (work.weight[site] as number) / seconds / work.rateBps;
    const end = finishes[site] as number;
    const first = knots.findIndex((knot) => knot >= end - seconds);
    const last = knots.findIndex((knot) => knot >= end);
    changes[first] = (changes[first] as number) + fall;
    if (last >= 0) changes[last] = (changes[last] as number) - fall;
  }
  let sum = 0;
  const falls = new Float64Array(knots.length - 1);
  for (let knot = 0; knot < falls.length; knot++) falls[knot] = sum += changes[knot] as number;
  return neverRising(falls, knots);
}

class Ascent {
  best: Float64Array;
  stepLength = 1;
  readonly #prices: Prices;
  readonly #goal: number;
  readonly #direction: Float64Array;
  #bestBound = Number.NEGATIVE_INFINITY;
  #inVain = 0;
  #at: Float64Array;

  constructor(prices: Prices, goal: number) {
    this.#prices = prices;
    this.#goal = goal;
    this.#direction = new Float64Array(prices.knots.length - 1);
    this.best = this.#direction;
    this.#at = this.#direction;
  }

  look(falls: Float64Array): boolean {
    this.#prices.set(falls);
    this.#at = falls;
    if (this.#prices.boundSumSeconds <= this.#bestBound + 1e-7 * this.#goal) return false;
    this.#bestBound = this.#prices.boundSumSeconds;
    this.best = falls;
    return true;
  }

  step(): void {
    const { knots, excessBytes } = this.#prices;
    let norm = 0;
    for (let knot = 0; knot < this.#direction.length; knot++) {
      const excess = ((excessBytes[knot] as number) + (excessBytes[knot + 1] as number)) / 2;
      let along = MOMENTUM * (this.#direction[knot] as number) + (1 - MOMENTUM) * excess;
      // Where the price no longer falls it cannot fall less; that must not shorten the step elsewhere.
      if (along < 0 && this.#at[knot] === 0) along = 0;
      this.#direction[knot] = along;
      norm += along * along * ((knots[knot + 1] as number) - (knots[knot] as number));
    }
    if (norm === 0) {
      this.stepLength = 0;
      return;
    }
    const missing = Math.max(this.#goal - this.#prices.boundSumSeconds, 0.01 * this.#goal);
    const length = (this.stepLength * missing) / norm;
    const next = this.#at.map((fall, knot) => fall + length * (this.#direction[knot] as number));
    if (this.look(neverRising(next, knots))) this.#inVain = 0;
    else if (++this.#inVain >= PATIENCE) this.#goBack();
  }

  #goBack(): void {
    this.stepLength /= 2;
    this.#inVain = 0;
    this.#direction.fill(0);
    this.look(this.best);
  }
}
