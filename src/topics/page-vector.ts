/**
 * Pages as vectors of length one (Salton's TF-IDF): a term weighs more the more often it occurs in the page
 * and the fewer other pages have it.
 *
 * idf = ln((N + 1) / (n + 1)) + 1 for a term in n of N pages. The caller chooses the weight of repetition: `plain`,
 * the count, or `damped`, 1 + ln(count): the tenth occurrence adds less than the first.
 */

import type { TermCounts } from "./bag.ts";
import type { Examples } from "./examples.ts";
import { TERMS_MAX } from "./tokens.ts";
import type { Trained } from "./trained.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Weight of a term by its count; a page has at most TERMS_MAX terms. */
type Repetition = Float64Array;

export const plain: Repetition = Float64Array.from({ length: TERMS_MAX + 1 }, (_, count) => count);
export const damped: Repetition = Float64Array.from({ length: TERMS_MAX + 1 }, (_, count) =>
  count === 0 ? 0 : 1 + Math.log(count),
);

/** Vectors of many pages one after the other: the terms of page p are at `starts[p]` to `starts[p + 1]`. */
export interface Vectors {
  readonly starts: Int32Array;
  readonly rows: Int32Array;
  readonly values: Float64Array;
}

export function rarityOf({ pagesWith, pages }: Vocabulary): Float32Array {
  return Float32Array.from(pagesWith, (count) => Math.log((pages + 1) / (count + 1)) + 1);
}

/** Vectors of pages whose terms are all in the vocabulary. */
export function vectorsOf(
  examples: Examples,
  pages: Int32Array,
  { table }: Vocabulary,
  weighing: { readonly rarity: Float32Array; readonly repetition: Repetition },
): Vectors {
  const { terms, counts } = examples;
  const starts = new Int32Array(pages.length + 1);
  for (const [index, page] of pages.entries())
    starts[index + 1] = (starts[index] as number) + examples.start(page + 1) - examples.start(page);
  const rows = new Int32Array(starts[pages.length] as number);
  const values = new Float64Array(rows.length);
  let to = 0;
  for (const page of pages) {
    const first = to;
    let squares = 0;
    for (let at = examples.start(page); at < examples.start(page + 1); at++, to++) {
      const row = table.find(terms[at] as number);
      const often = weighing.repetition[Math.min(TERMS_MAX, counts[at] as number)] as number;
      const value = often * (weighing.rarity[row] as number);
      rows[to] = row;
      values[to] = value;
      squares += value * value;
    }
    const length = Math.sqrt(squares) || 1;
    for (let at = first; at < to; at++) values[at] = (values[at] as number) / length;
  }
  return { starts, rows, values };
}

/** bias + weights · vector, for every topic; terms not seen in training are ignored. */
export function scoreVector(
  { table, weights, rarity, bias }: Trained,
  bag: TermCounts,
  repetition: Repetition,
  scores: Float64Array,
): void {
  const width = bias.length;
  scores.fill(0);
  let squares = 0;
  for (let index = 0; index < bag.count; index++) {
    const row = table.find(bag.terms[index] as number);
    if (row < 0) continue;
    const often = repetition[Math.min(TERMS_MAX, bag.counts[index] as number)] as number;
    const value = often * (rarity[row] as number);
    squares += value * value;
    const from = row * width;
    for (let topic = 0; topic < width; topic++)
      scores[topic] = (scores[topic] as number) + value * (weights[from + topic] as number);
  }
  const length = Math.sqrt(squares) || 1;
  for (let topic = 0; topic < width; topic++)
    scores[topic] = (scores[topic] as number) / length + (bias[topic] as number);
}
