/**
 * Scores a link in a focused crawl before it is fetched: the probability that its page is on topic, or leads
 * to pages on topic.
 *
 * Four features of a link are known: the probability that the linking page is on topic, the words of the anchor,
 * the words in the URL, and the share of pages of that site that were on topic so far. Their log odds are added, as in
 * a logistic regression. The weight of a word starts with the classifier's model and is learned from every fetched
 * page, by gradient descent with a step for each word that shrinks with use (AdaGrad: Duchi, Hazan, Singer 2011).
 * The weight of a site is its record.
 *
 * The parts common to all links, a constant and the weight of the linking page, are not learned: queued links keep
 * the score of the time they were found, and a shifting scale would put old ones before better new ones (on
 * the links of Wikipedia for Schools that cost a tenth of the harvest).
 *
 * Words are hashed into 65,536 slots for anchors and as many for URLs, and the records of the 65,536 sites used
 * last are kept: about 5 MB in all, for a crawl of any length.
 */

import { assert } from "../base/assert.ts";
import type { Trained } from "./trained.ts";
import { termOf } from "./tokens.ts";

export interface LinkFeatures {
  /** Probability that the linking page is on topic, 0 to 1. */
  readonly fromProbability: number;
  /** In lower case, as are `urlWords`. */
  readonly anchorWords: readonly string[];
  readonly urlWords: readonly string[];
  readonly siteKey: string;
}

const PLACES = 65_536;
const SITES_MAX = 65_536;
/** Words read of one anchor or URL; further words add nothing. */
const WORDS_MAX = 32;
/** Probabilities are clamped to EDGE … 1 - EDGE. */
const EDGE = 0.01;
const STEP = 0.3;
/** Factor on a model's weights, which are margins of a whole page, for a single word. */
const PRIOR_WEIGHT = 2;
/** Pages at the crawl's mean that a site's record starts with. */
const SITE_PRIOR_PAGES = 4;
/** An off-topic page counts as this part of the value expected of its links. */
const LEAD_DISCOUNT = 0.5;

interface SiteRecord {
  pages: number;
  onTopic: number;
}

/** The weight of a term for the topic in the classifier's model. */
type WordPrior = (term: number) => number;

export class Focus {
  readonly #weights = new Float32Array(2 * PLACES);
  readonly #squares = new Float32Array(2 * PLACES).fill(1);
  readonly #sites = new Map<string, SiteRecord>();
  readonly #prior: WordPrior;
  #pages = 1;
  #onTopic = 0.1;

  /** With a trained model and the index of a topic in it, words have weights from the start. */
  constructor(topic: number, trained?: Trained) {
    this.#prior = trained === undefined ? () => 0 : priorOf(trained, topic);
  }

  /** The share of pages on topic so far: the estimate for a link without known features. */
  get base(): number {
    return this.#onTopic / this.#pages;
  }

  /** The probability that the page behind a link is on topic or leads there. */
  score(link: LinkFeatures): number {
    return sigmoid(this.#logitOf(link));
  }

  /**
   * Learns from the page of a link. For a page that was not on topic `leads` is the value expected of its own
   * links, 0 to 1, because pages that lead to the topic are worth fetching too.
   */
  learn(link: LinkFeatures, wasOnTopic: boolean, leads = 0): void {
    assert(leads >= 0 && leads <= 1, "the value expected of links is a probability");
    const worth = wasOnTopic ? 1 : LEAD_DISCOUNT * leads;
    const error = this.score(link) - worth;
    const share = error / Math.max(1, Math.min(WORDS_MAX, link.anchorWords.length));
    for (const word of link.anchorWords.slice(0, WORDS_MAX))
      this.#move(anchorPlace(termOf(word)), share);
    const part = error / Math.max(1, Math.min(WORDS_MAX, link.urlWords.length));
    for (const word of link.urlWords.slice(0, WORDS_MAX)) this.#move(urlPlace(termOf(word)), part);
    this.#remember(link.siteKey, wasOnTopic);
  }

  #logitOf(link: LinkFeatures): number {
    return (
      logit(link.fromProbability) +
      this.#siteLogit(link.siteKey) +
      this.#wordsOf(link.anchorWords, anchorPlace) +
      this.#wordsOf(link.urlWords, urlPlace)
    );
  }

  /** The mean weight of the words, so that long anchors do not dominate. */
  #wordsOf(words: readonly string[], placeOf: (term: number) => number): number {
    const count = Math.min(WORDS_MAX, words.length);
    let sum = 0;
    for (let index = 0; index < count; index++) {
      const term = termOf(words[index] as string);
      sum += (this.#weights[placeOf(term)] as number) + this.#prior(term);
    }
    return sum / Math.max(1, count);
  }

  /** Log odds of this site less those of all pages; 0 for a new site. */
  #siteLogit(siteKey: string): number {
    const record = this.#sites.get(siteKey);
    if (record === undefined) return 0;
    const { base } = this;
    const here = (record.onTopic + SITE_PRIOR_PAGES * base) / (record.pages + SITE_PRIOR_PAGES);
    return logit(here) - logit(base);
  }

  #remember(siteKey: string, wasOnTopic: boolean): void {
    const record = this.#sites.get(siteKey) ?? { pages: 0, onTopic: 0 };
    record.pages += 1;
    if (wasOnTopic) record.onTopic += 1;
    this.#pages += 1;
    if (wasOnTopic) this.#onTopic += 1;
    // Reinserted at the end, so that the first entry is always the one used longest ago.
    this.#sites.delete(siteKey);
    this.#sites.set(siteKey, record);
    if (this.#sites.size <= SITES_MAX) return;
    for (const oldest of this.#sites.keys()) {
      this.#sites.delete(oldest);
      break;
    }
  }

  #move(place: number, slope: number): void {
    const squares = (this.#squares[place] as number) + slope * slope;
    this.#squares[place] = squares;
    this.#weights[place] = (this.#weights[place] as number) - (STEP * slope) / Math.sqrt(squares);
  }
}

/** A word's weight for the topic above the mean of all topics, times its rarity. */
function priorOf({ table, weights, rarity, topics }: Trained, topic: number): WordPrior {
  const width = topics.length;
  return (term) => {
    const row = table.find(term);
    if (row < 0) return 0;
    let sum = 0;
    for (let other = 0; other < width; other++) sum += weights[row * width + other] as number;
    const above = (weights[row * width + topic] as number) - sum / width;
    return PRIOR_WEIGHT * above * (rarity[row] ?? 1);
  };
}

function anchorPlace(term: number): number {
  return Math.imul(term, 0x9e3779b1) >>> 16;
}

function urlPlace(term: number): number {
  return PLACES + anchorPlace(term);
}

function logit(probability: number): number {
  const believed = Math.min(1 - EDGE, Math.max(EDGE, probability));
  return Math.log(believed / (1 - believed));
}

function sigmoid(value: number): number {
  return 1 / (1 + Math.exp(-value));
}
