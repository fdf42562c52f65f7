/**
 * Lewis's probabilistic classifier ("An evaluation of phrasal and clustered representations on a text
 * categorization task", SIGIR 1992), which is Fuhr's model of retrieval with probabilistic indexing (1989)
 * with topics in the place of queries:
 *
 *   P(C | D) = P(C) Π [ P(W=1 | C) P(W=1 | D) / P(W=1)  +  P(W=0 | C) P(W=0 | D) / P(W=0) ]
 *
 * over the words W chosen for the topic. P(W=1 | C) and P(W=1) are shares of pages that have the word.
 * P(W=1 | D), the probability that D is about the word, is Fuhr's addition; for a word that occurs n times in D
 * it is n / (n + 0.05) here, which measured better than those made of TF-IDF (docs/decisions/014-topics.md). As in
 * Lewis, each topic uses the 20,000 words with the highest expected mutual information.
 *
 * With r1 = P(W=1 | C) / P(W=1), r0 = P(W=0 | C) / P(W=0) and p = P(W=1 | D) a factor is
 * r0 (1 + p (r1 / r0 - 1)). So Σ log r0 over all chosen words is a constant of the topic, its bias, and only the
 * words of the page cost time: log(1 + p g), with g = r1 / r0 - 1 as the weight; g = 0 for words not chosen.
 */

import type { TermCounts } from "./bag.ts";
import { type Examples, pagesByTopic } from "./examples.ts";
import type { Method, Trained } from "./trained.ts";
import { type Vocabulary, vocabularyOf } from "./vocabulary.ts";

const WORDS_PER_TOPIC = 20_000;
/** Added to a count in P(W=1 | D) = n / (n + DOUBT): how doubtful a single occurrence leaves it. */
const DOUBT = 0.05;
/** Pages of the average page's word share that are added to each topic. */
const SMOOTHING = 0.5;

export const lewis: Method = { train, score };

function train(examples: Examples, pages: Int32Array): Trained {
  const vocabulary = vocabularyOf(examples, pages);
  const { table, pagesWith } = vocabulary;
  const width = examples.topics.length;
  const having = pagesHaving(examples, pages, vocabulary);
  const pagesOf = pagesByTopic(examples, pages);
  const weights = new Float32Array(having.length);
  const bias = new Float32Array(width);
  for (let topic = 0; topic < width; topic++) {
    const inside = pagesOf[topic] as number;
    let constant = Math.log(Math.max(inside, SMOOTHING) / Math.max(1, pages.length));
    for (const row of informativeWords({ vocabulary, having, topic, width, inside })) {
      const place = row * width + topic;
      // Both are above 0 and below 1, for any counts.
      const anywhere = ((pagesWith[row] as number) + SMOOTHING) / (pages.length + 1);
      const inTopic = ((having[place] as number) + SMOOTHING * anywhere) / (inside + SMOOTHING);
      const absent = (1 - inTopic) / (1 - anywhere);
      constant += Math.log(absent);
      weights[place] = inTopic / anywhere / absent - 1;
    }
    bias[topic] = constant;
  }
  return { topics: examples.topics, table, weights, rarity: new Float32Array(0), bias };
}

function pagesHaving(examples: Examples, pages: Int32Array, { table }: Vocabulary): Int32Array {
  const width = examples.topics.length;
  const having = new Int32Array(table.size * width);
  for (const page of pages) {
    const topic = examples.topicOf(page);
    for (let at = examples.start(page); at < examples.start(page + 1); at++) {
      const place = table.find(examples.terms[at] as number) * width + topic;
      having[place] = (having[place] as number) + 1;
    }
  }
  return having;
}

interface Choice {
  readonly vocabulary: Vocabulary;
  readonly having: Int32Array;
  readonly topic: number;
  readonly width: number;
  readonly inside: number;
}

/** The rows of the words with the most information about a topic. */
function informativeWords({ vocabulary, having, topic, width, inside }: Choice): Int32Array {
  const { pagesWith, pages } = vocabulary;
  const gains = Float64Array.from(pagesWith, (withWord, row) => {
    const both = having[row * width + topic] as number;
    return information(both, withWord, inside, pages);
  });
  const rows = Int32Array.from(pagesWith, (_, row) => row);
  rows.sort((a, b) => (gains[b] as number) - (gains[a] as number) || a - b);
  return rows.subarray(0, WORDS_PER_TOPIC);
}

/** Expected mutual information of "has the word" and "is of the topic", in nats. */
function information(both: number, withWord: number, inside: number, pages: number): number {
  const cell = (count: number, row: number, column: number): number =>
    count === 0 ? 0 : (count / pages) * Math.log((count * pages) / (row * column));
  const without = pages - withWord;
  const outside = pages - inside;
  return (
    cell(both, withWord, inside) +
    cell(withWord - both, withWord, outside) +
    cell(inside - both, without, inside) +
    cell(pages - withWord - inside + both, without, outside)
  );
}

function score({ table, weights, bias }: Trained, page: TermCounts, scores: Float64Array): void {
  const width = bias.length;
  const { terms, counts, count } = page;
  for (let topic = 0; topic < width; topic++) scores[topic] = bias[topic] as number;
  for (let index = 0; index < count; index++) {
    const row = table.find(terms[index] as number);
    if (row < 0) continue;
    const often = counts[index] as number;
    const share = often / (often + DOUBT);
    const from = row * width;
    for (let topic = 0; topic < width; topic++) {
      const gain = weights[from + topic] as number;
      if (gain !== 0) scores[topic] = (scores[topic] as number) + Math.log(1 + share * gain);
    }
  }
}
