/** Small collections for tests: pages given as words, and pages drawn from topics that overlap. */

import { below, type Random } from "../base/random.ts";
import { Bag } from "./bag.ts";
import { Examples } from "./examples.ts";
import { Tokens } from "./tokens.ts";

/** `[topic, text]` pairs as examples. */
export function examplesOf(pages: readonly (readonly [topic: string, text: string])[]): Examples {
  const examples = new Examples();
  const tokens = new Tokens();
  const bag = new Bag();
  for (const [topic, text] of pages) {
    tokens.takeText(Buffer.from(text));
    bag.take(tokens);
    examples.add(examples.topicNamed(topic), bag);
  }
  return examples;
}

export function bagOf(text: string): Bag {
  const tokens = new Tokens();
  tokens.takeText(Buffer.from(text));
  const bag = new Bag();
  bag.take(tokens);
  return bag;
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const COMMON = "the of and to in is that for it with as was on by this from are which".split(" ");
const WORDS_PER_TOPIC = 30;

/** A word of one topic only; topics have no word in common. */
function ownWord(topic: number, index: number): string {
  return `q${LETTERS[topic]}${LETTERS[index % 26]}${LETTERS[Math.floor(index / 26)]}`;
}

/** A page of English function words and topic words; `ownShare` of the latter are of its topic, the rest of any. */
export function drawnText(random: Random, topic: number, topics: number, ownShare = 0.3): string {
  return Array.from({ length: 80 + below(random, 80) }, () => {
    if (random.next() < 0.5) return COMMON[below(random, COMMON.length)];
    const from = random.next() < ownShare ? topic : below(random, topics);
    return ownWord(from, below(random, WORDS_PER_TOPIC));
  }).join(" ");
}

export function drawnPages(
  random: Random,
  pagesPerTopic: number,
  topics = 3,
): [topic: string, text: string][] {
  return Array.from({ length: topics * pagesPerTopic }, (_, page) => {
    const topic = page % topics;
    return [`topic ${LETTERS[topic]}`, drawnText(random, topic, topics)];
  });
}
