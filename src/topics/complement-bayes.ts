/**
 * The complement Naive Bayes of Rennie, Shih, Teevan and Karger ("Tackling the poor assumptions of Naive Bayes
 * text classifiers", 2003), as weights for pages given as vectors.
 *
 * The weight of a word for a topic is - log of its share in all pages of the *other* topics; a page counts with
 * its vector of length one instead of its plain counts. The other topics have many pages, so the weights of a
 * small topic rest on much text too. The mean over the topics is subtracted, which changes no comparison.
 */

import type { Vectors } from "./page-vector.ts";

const SMOOTHING = 0.02;

export interface Shape {
  readonly rows: number;
  readonly topics: number;
}

/** Weights by row and topic. */
export function complementWeights(
  vectors: Vectors,
  topicOf: Int32Array,
  { rows, topics }: Shape,
): Float32Array {
  const sums = sumsByTopic(vectors, topicOf, { rows, topics });
  const totals = new Float64Array(topics);
  for (const [place, value] of sums.entries())
    totals[place % topics] = (totals[place % topics] as number) + value;
  const total = totals.reduce((sum, value) => sum + value, 0);
  const weights = new Float32Array(sums.length);
  const logs = new Float64Array(topics);
  for (let from = 0; from < sums.length; from += topics) {
    let all = 0;
    let mean = 0;
    for (let topic = 0; topic < topics; topic++) all += sums[from + topic] as number;
    for (let topic = 0; topic < topics; topic++) {
      const elsewhere = all - (sums[from + topic] as number) + SMOOTHING;
      const log = -Math.log(elsewhere / (total - (totals[topic] as number) + SMOOTHING * rows));
      logs[topic] = log;
      mean += log / topics;
    }
    for (let topic = 0; topic < topics; topic++)
      weights[from + topic] = (logs[topic] as number) - mean;
  }
  return weights;
}

/** All pages of each topic added up, by row and topic. */
export function sumsByTopic(
  { starts, rows, values }: Vectors,
  topicOf: Int32Array,
  shape: Shape,
): Float64Array {
  const sums = new Float64Array(shape.rows * shape.topics);
  for (const [page, topic] of topicOf.entries()) {
    for (let at = starts[page] as number; at < (starts[page + 1] as number); at++) {
      const place = (rows[at] as number) * shape.topics + topic;
      sums[place] = (sums[place] as number) + (values[at] as number);
    }
  }
  return sums;
}
