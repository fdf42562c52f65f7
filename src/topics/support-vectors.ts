/**
 * Linear support vector machines: for each topic the plane that separates its pages from all others.
 *
 * Each machine minimises ½|w|² + C Σ max(0, 1 - y w·x)², by dual coordinate descent (Hsieh, Chang, Lin, Keerthi,
 * Sundararajan, "A dual coordinate descent method for large-scale linear SVM", 2008, Algorithm 1 with the L2
 * loss): it sets one page's multiplier at a time to its optimum with all others fixed, in an order shuffled for each
 * pass. The bias is an additional feature that all pages have. The order comes from a fixed seed, so the
 * same examples give the same weights on every machine. A pass is linear in the terms of all pages.
 */

import { below, type Random, randomFrom } from "../base/random.ts";
import type { Shape } from "./complement-bayes.ts";
import type { Vectors } from "./page-vector.ts";

/** C, the cost of a page on the wrong side. */
const COST = 1;
const PASSES_MAX = 100;
/** Training ends when the largest and the smallest projected gradient of a pass differ by at most this. */
const TOLERANCE = 0.1;
const SEED = 1;

export interface Planes {
  /** By row and topic. */
  readonly weights: Float32Array;
  readonly bias: Float32Array;
}

export function supportVectors(
  vectors: Vectors,
  topicOf: Int32Array,
  { rows, topics }: Shape,
): Planes {
  const weights = new Float32Array(rows * topics);
  const bias = new Float32Array(topics);
  const squares = squaresOf(vectors);
  for (let topic = 0; topic < topics; topic++) {
    const signs = Float64Array.from(topicOf, (own) => (own === topic ? 1 : -1));
    const machine = new Machine(vectors, signs, squares, rows);
    machine.train(randomFrom(SEED + topic));
    bias[topic] = machine.bias;
    for (let row = 0; row < rows; row++)
      weights[row * topics + topic] = machine.weights[row] as number;
  }
  return { weights, bias };
}

/** |x|² of each page, including its bias feature. */
function squaresOf({ starts, values }: Vectors): Float64Array {
  const squares = new Float64Array(starts.length - 1).fill(1);
  for (let page = 0; page < squares.length; page++) {
    for (let at = starts[page] as number; at < (starts[page + 1] as number); at++)
      squares[page] = (squares[page] as number) + (values[at] as number) ** 2;
  }
  return squares;
}

/** One topic against the others. */
class Machine {
  readonly weights: Float64Array;
  bias = 0;
  readonly #vectors: Vectors;
  readonly #signs: Float64Array;
  readonly #squares: Float64Array;
  readonly #multipliers: Float64Array;

  constructor(vectors: Vectors, signs: Float64Array, squares: Float64Array, rows: number) {
    this.#vectors = vectors;
    this.#signs = signs;
    this.#squares = squares;
    this.#multipliers = new Float64Array(signs.length);
    this.weights = new Float64Array(rows);
  }

  train(random: Random): void {
    const order = Int32Array.from({ length: this.#signs.length }, (_, page) => page);
    for (let pass = 0; pass < PASSES_MAX; pass++) {
      shuffle(order, random);
      let steepest = -Infinity;
      let least = Infinity;
      for (const page of order) {
        const slope = this.#move(page);
        steepest = Math.max(steepest, slope);
        least = Math.min(least, slope);
      }
      if (steepest - least <= TOLERANCE) return;
    }
  }

  /** Sets one multiplier to its optimum; returns the projected gradient before that. */
  #move(page: number): number {
    const { starts, rows, values } = this.#vectors;
    const { weights } = this;
    const start = starts[page] as number;
    const end = starts[page + 1] as number;
    const sign = this.#signs[page] as number;
    const multiplier = this.#multipliers[page] as number;
    let dot = this.bias;
    for (let at = start; at < end; at++)
      dot += (weights[rows[at] as number] as number) * (values[at] as number);
    const slope = sign * dot - 1 + multiplier / (2 * COST);
    if (multiplier === 0 && slope >= 0) return 0;
    const curvature = (this.#squares[page] as number) + 1 / (2 * COST);
    const moved = Math.max(0, multiplier - slope / curvature);
    const step = (moved - multiplier) * sign;
    this.#multipliers[page] = moved;
    this.bias += step;
    for (let at = start; at < end; at++) {
      const row = rows[at] as number;
      weights[row] = (weights[row] as number) + step * (values[at] as number);
    }
    return slope;
  }
}

/** Fisher and Yates. */
function shuffle(order: Int32Array, random: Random): void {
  for (let last = order.length - 1; last > 0; last--) {
    const other = below(random, last + 1);
    const page = order[last] as number;
    order[last] = order[other] as number;
    order[other] = page;
  }
}
