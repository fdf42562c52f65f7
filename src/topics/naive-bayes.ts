/**
 * Multinomial Naive Bayes: the classifier that Chung and Clarke chose for X4.
 *
 * A topic is a distribution of words, P(w | c) = (n(w, c) + α) / (n(c) + α |V|), and the result is
 * the topic with the highest log P(c) + Σ n(w) log P(w | c) (McCallum and Nigam, "A comparison of event
 * models for Naive Bayes text classification", 1998). α = 0.1 instead of Laplace's 1: with tens of
 * thousands of words, 1 outweighs the counts of small topics (figures: docs/decisions/014-topics.md). Words that
 * are not in the training pages are ignored.
 *
 * The mean of each word's row over the topics is subtracted, which changes no comparison and keeps the
 * numbers small. A page costs one row for each of its distinct words.
 */

import type { TermCounts } from "./bag.ts";
import { type Examples, pagesByTopic } from "./examples.ts";
import type { Method, Trained } from "./trained.ts";
import { vocabularyOf } from "./vocabulary.ts";

const SMOOTHING = 0.1;

export const naiveBayes: Method = { train, score };

function train(examples: Examples, pages: Int32Array): Trained {
  const { table } = vocabularyOf(examples, pages);
  const width = examples.topics.length;
  const sums = new Float64Array(table.size * width);
  const totals = new Float64Array(width);
  const { terms, counts } = examples;
  for (const page of pages) {
    const topic = examples.topicOf(page);
    for (let at = examples.start(page); at < examples.start(page + 1); at++) {
      const place = table.find(terms[at] as number) * width + topic;
      sums[place] = (sums[place] as number) + (counts[at] as number);
      totals[topic] = (totals[topic] as number) + (counts[at] as number);
    }
  }
  const bias = Float32Array.from(pagesByTopic(examples, pages), (count) =>
    Math.log(Math.max(count, SMOOTHING) / Math.max(1, pages.length)),
  );
  const weights = logShares(sums, totals, table.size);
  return { topics: examples.topics, table, weights, rarity: new Float32Array(0), bias };
}

/** log P(w | c), less its mean over the topics. */
function logShares(sums: Float64Array, totals: Float64Array, rows: number): Float32Array {
  const width = totals.length;
  const weights = new Float32Array(sums.length);
  const logs = new Float64Array(width);
  for (let row = 0; row < rows; row++) {
    let mean = 0;
    for (let topic = 0; topic < width; topic++) {
      const seen = (sums[row * width + topic] as number) + SMOOTHING;
      const log = Math.log(seen / ((totals[topic] as number) + SMOOTHING * rows));
      logs[topic] = log;
      mean += log / width;
    }
    for (let topic = 0; topic < width; topic++)
      weights[row * width + topic] = (logs[topic] as number) - mean;
  }
  return weights;
}

function score({ table, weights, bias }: Trained, page: TermCounts, scores: Float64Array): void {
  const width = bias.length;
  const { terms, counts, count } = page;
  for (let topic = 0; topic < width; topic++) scores[topic] = bias[topic] as number;
  for (let index = 0; index < count; index++) {
    const row = table.find(terms[index] as number);
    if (row < 0) continue;
    const often = counts[index] as number;
    const from = row * width;
    for (let topic = 0; topic < width; topic++)
      scores[topic] = (scores[topic] as number) + often * (weights[from + topic] as number);
  }
}
