/**
 * Rocchio's classifier with TF-IDF, in the form of Joachims ("A probabilistic analysis of the Rocchio
 * algorithm with TFIDF for text categorization", 1997), which Chung and Clarke cite.
 *
 * Each topic is one vector: 16 times the mean of its own pages less 4 times the mean of all others, with
 * negative values set to 0, normalised to length one. A page belongs to the topic whose vector has the
 * smallest angle to its own. Terms are weighted by count times idf.
 */

import type { TermCounts } from "./bag.ts";
import { sumsByTopic } from "./complement-bayes.ts";
import { type Examples, pagesByTopic } from "./examples.ts";
import { plain, rarityOf, scoreVector, vectorsOf } from "./page-vector.ts";
import type { Method, Trained } from "./trained.ts";
import { vocabularyOf } from "./vocabulary.ts";

const FOR = 16;
const AGAINST = 4;

export const rocchio: Method = { train, score };

function train(examples: Examples, pages: Int32Array): Trained {
  const vocabulary = vocabularyOf(examples, pages);
  const rarity = rarityOf(vocabulary);
  const vectors = vectorsOf(examples, pages, vocabulary, { rarity, repetition: plain });
  const topicOf = Int32Array.from(pages, (page) => examples.topicOf(page));
  const sums = sumsByTopic(vectors, topicOf, {
    rows: vocabulary.table.size,
    topics: examples.topics.length,
  });
  const weights = prototypes(sums, pagesByTopic(examples, pages));
  const bias = new Float32Array(examples.topics.length);
  return { topics: examples.topics, table: vocabulary.table, weights, rarity, bias };
}

function prototypes(sums: Float64Array, pagesOf: Int32Array): Float32Array {
  const width = pagesOf.length;
  const pages = pagesOf.reduce((sum, count) => sum + count, 0);
  const weights = new Float32Array(sums.length);
  const squares = new Float64Array(width);
  for (let row = 0; row < sums.length; row += width) {
    let all = 0;
    for (let topic = 0; topic < width; topic++) all += sums[row + topic] as number;
    for (let topic = 0; topic < width; topic++) {
      const own = sums[row + topic] as number;
      const count = pagesOf[topic] as number;
      const meanOwn = own / Math.max(1, count);
      const meanOther = (all - own) / Math.max(1, pages - count);
      const weight = Math.max(0, FOR * meanOwn - AGAINST * meanOther);
      weights[row + topic] = weight;
      squares[topic] = (squares[topic] as number) + weight * weight;
    }
  }
  for (let place = 0; place < weights.length; place++)
    weights[place] =
      (weights[place] as number) / (Math.sqrt(squares[place % width] as number) || 1);
  return weights;
}

function score(trained: Trained, page: TermCounts, scores: Float64Array): void {
  scoreVector(trained, page, plain, scores);
}
