/**
 * Pages with known topics, as input of training: for each page its distinct terms and their counts, all pages
 * one after the other in three long arrays.
 *
 * 6 bytes for each distinct term of a page: 100,000 pages of 250 different words take 150 MB.
 */

import { assert } from "../base/assert.ts";
import type { TermCounts } from "./bag.ts";

const TERMS_INITIAL = 65_536;
const PAGES_INITIAL = 1024;

export class Examples {
  count = 0;
  #topics: string[];
  #terms = new Int32Array(TERMS_INITIAL);
  #counts = new Uint16Array(TERMS_INITIAL);
  #ends = new Int32Array(PAGES_INITIAL);
  #topicOf = new Int32Array(PAGES_INITIAL);

  constructor(topics: readonly string[] = []) {
    this.#topics = [...topics];
  }

  get topics(): readonly string[] {
    return this.#topics;
  }

  get terms(): Int32Array {
    return this.#terms;
  }

  get counts(): Uint16Array {
    return this.#counts;
  }

  /** Index of a page's first term; its terms end where those of the next page begin. */
  start(page: number): number {
    return page === 0 ? 0 : (this.#ends[page - 1] as number);
  }

  topicOf(page: number): number {
    return this.#topicOf[page] as number;
  }

  /** The terms of one page. */
  page(page: number): TermCounts {
    const start = this.start(page);
    const end = this.start(page + 1);
    const terms = this.#terms.subarray(start, end);
    return { terms, counts: this.#counts.subarray(start, end), count: end - start };
  }

  /** The index of a topic, which is added if it is new. */
  topicNamed(name: string): number {
    const known = this.#topics.indexOf(name);
    if (known >= 0) return known;
    return this.#topics.push(name) - 1;
  }

  /** Sorts the topics by name, so that their order does not depend on that of the examples. */
  sortTopics(): void {
    const before = this.#topics;
    this.#topics = before.toSorted((a, b) => (a < b ? -1 : 1));
    const places = before.map((name) => this.#topics.indexOf(name));
    for (let page = 0; page < this.count; page++)
      this.#topicOf[page] = places[this.topicOf(page)] as number;
  }

  add(topic: number, bag: TermCounts): void {
    assert(topic >= 0 && topic < this.#topics.length, "an example has one of the topics");
    const start = this.start(this.count);
    const end = start + bag.count;
    while (end > this.#terms.length) this.#growTerms();
    if (this.count === this.#ends.length) this.#growPages();
    this.#terms.set(bag.terms.subarray(0, bag.count), start);
    this.#counts.set(bag.counts.subarray(0, bag.count), start);
    this.#ends[this.count] = end;
    this.#topicOf[this.count] = topic;
    this.count += 1;
  }

  #growTerms(): void {
    const terms = new Int32Array(this.#terms.length * 2);
    const counts = new Uint16Array(this.#counts.length * 2);
    terms.set(this.#terms);
    counts.set(this.#counts);
    this.#terms = terms;
    this.#counts = counts;
  }

  #growPages(): void {
    const ends = new Int32Array(this.#ends.length * 2);
    const topicOf = new Int32Array(this.#topicOf.length * 2);
    ends.set(this.#ends);
    topicOf.set(this.#topicOf);
    this.#ends = ends;
    this.#topicOf = topicOf;
  }
}

/** Number of these pages by topic. */
export function pagesByTopic(examples: Examples, pages: Int32Array): Int32Array {
  const counts = new Int32Array(examples.topics.length);
  for (const page of pages) {
    const topic = examples.topicOf(page);
    counts[topic] = (counts[topic] as number) + 1;
  }
  return counts;
}

/** The indices of all pages. */
export function allPages(examples: Examples): Int32Array {
  return Int32Array.from({ length: examples.count }, (_, page) => page);
}

/** Pages sorted by topic, so that every nth of them is a fair sample of each topic. */
export function byTopic(examples: Examples, pages: Int32Array): Int32Array {
  return pages.slice().sort((a, b) => examples.topicOf(a) - examples.topicOf(b) || a - b);
}
