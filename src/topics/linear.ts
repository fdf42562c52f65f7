/**
 * Our own classifier: a linear support vector machine for each topic against all others, on the words of
 * a page as a vector of length one (TF-IDF, repetition damped).
 *
 * Each machine minimises ½|w|² + C Σ max(0, 1 - y w·x)², by dual coordinate descent (Hsieh, Chang, Lin,
 * Keerthi, Sundararajan, "A dual coordinate descent method for large-scale linear SVM", 2008, Algorithm 1
 * with the L2 loss): one page's multiplier at a time is moved to where it is best with all others held,
 * in an order that is drawn anew in each round. The bias is one more feature that all pages have.
 * The order comes from a fixed seed, so the same examples give the same weights on every machine.
 *
 * Among what was measured (pairs of words, Naive Bayes mixed in, other C, other idf) nothing else was better
 * on all three collections; docs/decisions/014-topics.md has the figures. A round is linear in the terms of all pages.
 */

import { below, type Random, randomFrom } from "../base/random.ts";
import type { TermCounts } from "./bag.ts";
import type { Examples } from "./examples.ts";
import { damped, rarityOf, scoreVector, type Vectors, vectorsOf } from "./page-vector.ts";
import type { Method, Trained } from "./trained.ts";
import { vocabularyOf } from "./vocabulary.ts";

/** C, the price of a page on the wrong side. */
const PRICE = 1;
const ROUNDS_MAX = 100;
/** Done when the steepest descent left in a round differs by no more than this from the least. */
const TOLERANCE = 0.1;
const SEED = 1;

export const linear: Method = { train, score };

function train(examples: Examples, pages: Int32Array): Trained {
  const vocabulary = vocabularyOf(examples, pages);
  const rarity = rarityOf(vocabulary);
  const vectors = vectorsOf(examples, pages, vocabulary, { rarity, repetition: damped });
  const width = examples.topics.length;
  const weights = new Float32Array(vocabulary.table.size * width);
  const bias = new Float32Array(width);
  const squares = squaresOf(vectors);
  for (let topic = 0; topic < width; topic++) {
    const signs = Float64Array.from(pages, (page) => (examples.topicOf(page) === topic ? 1 : -1));
    const machine = new Machine(vectors, signs, squares, vocabulary.table.size);
    machine.train(randomFrom(SEED + topic));
    bias[topic] = machine.bias;
    for (let row = 0; row < vocabulary.table.size; row++)
      weights[row * width + topic] = machine.weights[row] as number;
  }
  return { topics: examples.topics, table: vocabulary.table, weights, rarity, bias };
}

function score(trained: Trained, page: TermCounts, scores: Float64Array): void {
  scoreVector(trained, page, damped, scores);
}

/** |x|² of each page, with its bias. */
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
    for (let round = 0; round < ROUNDS_MAX; round++) {
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

  /** Moves one multiplier to its best place; answers how far it was from it, as a projected slope. */
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
    const slope = sign * dot - 1 + multiplier / (2 * PRICE);
    if (multiplier === 0 && slope >= 0) return 0;
    const curvature = (this.#squares[page] as number) + 1 / (2 * PRICE);
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
