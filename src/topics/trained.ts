/**
 * The common result of training: a table of terms, and one weight for each term and topic. Each method's file
 * describes how a page's score follows from the weights.
 */

import type { TermCounts } from "./bag.ts";
import type { Examples } from "./examples.ts";
import type { TermTable } from "./term-table.ts";

export interface Trained {
  readonly topics: readonly string[];
  readonly table: TermTable;
  /** By row and topic: `weights[row * topics.length + topic]`. */
  readonly weights: Float32Array;
  /** By row: how rare the term is; empty where the method does not use it. */
  readonly rarity: Float32Array;
  /** By topic: the score of a page without known terms. */
  readonly bias: Float32Array;
}

export interface Method {
  readonly train: (examples: Examples, pages: Int32Array) => Trained;
  /** Writes one number for each topic into `scores`; the highest wins. */
  readonly score: (trained: Trained, page: TermCounts, scores: Float64Array) => void;
}
