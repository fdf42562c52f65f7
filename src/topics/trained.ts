/**
 * What every classifier comes to when it is trained: a table of terms, and for each term one number
 * for each topic. What a page makes of those numbers differs; each classifier's file says how.
 */

import type { TermCounts } from "./bag.ts";
import type { Examples } from "./examples.ts";
import type { TermTable } from "./term-table.ts";

export interface Trained {
  readonly topics: readonly string[];
  readonly table: TermTable;
  /** By row and topic: `weights[row * topics.length + topic]`. */
  readonly weights: Float32Array;
  /** By row: how rare the term is; empty where that does not matter. */
  readonly rarity: Float32Array;
  /** By topic: what a page without any known term gets. */
  readonly bias: Float32Array;
}

export interface Method {
  readonly train: (examples: Examples, pages: Int32Array) => Trained;
  /** One number for each topic into `scores`; the highest is the answer. */
  readonly score: (trained: Trained, page: TermCounts, scores: Float64Array) => void;
}
