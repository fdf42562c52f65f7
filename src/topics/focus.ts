/**
 * The score of a link in a focused crawl: the probability that the page behind it is on topic, or leads
 * there, judged before it is fetched.
 *
 * Four things are known of a link: how sure the linking page is of the topic, the words of the anchor, the words
 * in the URL, and how often pages of that site have been on topic so far. Their log odds are added up, as in a logistic
 * regression. What words are worth begins with what the classifier's model knows of them and is learned from every
 * page that comes back, by steepest descent with a step for each word that shrinks as it is used (AdaGrad: Duchi,
 * Hazan, Singer 2011); what sites are worth is their record.
 *
 * What all links have in common, a constant and the weight of the linking page, stays as it is: links wait in a queue
 * with the score they had when they were found, and a scale that moves under them would put old ones before better new ones
 * (on the links of Wikipedia for Schools that cost a tenth of the harvest).
 *
 * Words are hashed into 65,536 places for anchors and as many for URLs, the records of at most 65,536 sites are
 * kept, the ones used last: about 5 MB in all, however long the crawl.
 */

import { assert } from "../base/assert.ts";
import type { Trained } from "./trained.ts";
import { termOf } from "./tokens.ts";

export interface LinkFeatures {
  /** How sure the linking page is of the topic, 0 to 1. */
  readonly fromProbability: number;
  /** In lower case. */
  readonly anchorWords: readonly string[];
  readonly urlWords: readonly string[];
  readonly siteKey: string;
}

const PLACES = 65_536;
const SITES_MAX = 65_536;
/** Words of one anchor or URL beyond this many say nothing new. */
const WORDS_MAX = 32;
/** Probabilities are believed no further than this. */
const EDGE = 0.01;
const STEP = 0.3;
/** What a model's weights, which are margins of a page, count for a single word. */
const PRIOR_WEIGHT = 2;
/** How many pages of unknown outcome a site begins with. */
const SITE_PRIOR_PAGES = 4;
/** A page that is not on topic itself is worth this part of what its links are. */
const LEAD_DISCOUNT = 0.5;

interface SiteRecord {
  pages: number;
  onTopic: number;
}

/** What the classifier's model knows of words: from a term to how much it speaks for the topic. */
type WordPrior = (term: number) => number;

export class Focus {
  readonly #weights = new Float32Array(2 * PLACES);
  readonly #squares = new Float32Array(2 * PLACES).fill(1);
  readonly #sites = new Map<string, SiteRecord>();
  readonly #prior: WordPrior;
  #pages = 1;
  #onTopic = 0.1;

  /** With a trained model and the number of a topic in it, words speak from the beginning. */
  constructor(topic: number, trained?: Trained) {
    this.#prior = trained === undefined ? () => 0 : priorOf(trained, topic);
  }

  /** How often a page has been on topic so far: what is true of a link of which nothing is known. */
  get base(): number {
    return this.#onTopic / this.#pages;
  }

  /** The probability that the page behind a link is on topic or leads there. */
  score(link: LinkFeatures): number {
    return sigmoid(this.#logitOf(link));
  }

  /**
   * Learns how a link turned out. For a page that was not on topic `leads` is what is expected of its own links, 0 to 1: pages
   * that lead to the topic are worth fetching too.
   */
  learn(link: LinkFeatures, wasOnTopic: boolean, leads = 0): void {
    assert(leads >= 0 && leads <= 1, "what is expected of links is a probability");
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

  /** The mean of what the words say, so that long anchors do not shout. */
  #wordsOf(words: readonly string[], placeOf: (term: number) => number): number {
    const count = Math.min(WORDS_MAX, words.length);
    let sum = 0;
    for (let index = 0; index < count; index++) {
      const term = termOf(words[index] as string);
      sum += (this.#weights[placeOf(term)] as number) + this.#prior(term);
    }
    return sum / Math.max(1, count);
  }

  /** How much likelier than elsewhere a page of this site is on topic; 0 for a new site. */
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
    // Put in again, so that the first one is always the one that was used longest ago.
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

/** How far a word's weight for the topic is above the mean of all topics, times its rarity. */
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
