/**
 * Weir's own classifier: support vector machines and complement Naive Bayes on the same vectors, added up to one
 * set of weights.
 *
 * The two make different errors. Bayes helps on short or mixed pages (posts, terms of use) and harms on long,
 * well-edited ones (an encyclopedia). So its share is chosen by a trial: a quarter of the examples is held out, both
 * are trained on the rest, and the share with the most correct topics wins. Both are weights of the same words, so
 * a page costs no more than with one of them. Words are weighted by TF-IDF with damped repetition.
 *
 * No variant that was measured (pairs of words, other values of C, other idf) was better on all three
 * collections; docs/decisions/014-topics.md has the figures.
 */

import type { TermCounts } from "./bag.ts";
import { complementWeights } from "./complement-bayes.ts";
import { byTopic, type Examples } from "./examples.ts";
import { damped, rarityOf, scoreVector, vectorsOf } from "./page-vector.ts";
import { supportVectors } from "./support-vectors.ts";
import type { Method, Trained } from "./trained.ts";
import { vocabularyOf } from "./vocabulary.ts";

/** Candidate shares of Bayes; the first of the best ones is used. */
const SHARES = [0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.2];
/** One of this many examples is held out to choose the share. */
const HOLD_OUT_EVERY = 4;

export const linear: Method = { train, score };

/** Both sets of weights, not yet added. */
interface Parts {
  readonly planes: Trained;
  readonly complement: Float32Array;
}

function train(examples: Examples, pages: Int32Array): Trained {
  const share = bestShare(examples, pages);
  const parts = trainParts(examples, pages);
  return mixed(parts, share);
}

function score(trained: Trained, page: TermCounts, scores: Float64Array): void {
  scoreVector(trained, page, damped, scores);
}

function trainParts(examples: Examples, pages: Int32Array): Parts {
  const vocabulary = vocabularyOf(examples, pages);
  const { table } = vocabulary;
  const rarity = rarityOf(vocabulary);
  const vectors = vectorsOf(examples, pages, vocabulary, { rarity, repetition: damped });
  const topicOf = Int32Array.from(pages, (page) => examples.topicOf(page));
  const shape = { rows: table.size, topics: examples.topics.length };
  const { weights, bias } = supportVectors(vectors, topicOf, shape);
  const complement = complementWeights(vectors, topicOf, shape);
  return { planes: { topics: examples.topics, table, weights, rarity, bias }, complement };
}

/** Support vectors plus `share` of the Bayes weights. */
function mixed({ planes, complement }: Parts, share: number): Trained {
  if (share === 0) return planes;
  const weights = planes.weights.map(
    (weight, place) => weight + share * (complement[place] as number),
  );
  return { ...planes, weights };
}

function bestShare(examples: Examples, pages: Int32Array): number {
  const ordered = byTopic(examples, pages);
  const held = ordered.filter((_, index) => index % HOLD_OUT_EVERY === 0);
  const parts = trainParts(
    examples,
    ordered.filter((_, index) => index % HOLD_OUT_EVERY !== 0),
  );
  let best = 0;
  let mostRight = -1;
  for (const share of SHARES) {
    const right = rightOn(examples, held, mixed(parts, share));
    if (right <= mostRight) continue;
    mostRight = right;
    best = share;
  }
  return best;
}

/** Number of these pages that get their own topic. */
function rightOn(examples: Examples, pages: Int32Array, trained: Trained): number {
  const scores = new Float64Array(examples.topics.length);
  let right = 0;
  for (const page of pages) {
    score(trained, examples.page(page), scores);
    if (scores.indexOf(Math.max(...scores)) === examples.topicOf(page)) right += 1;
  }
  return right;
}
