/**
 * The pages of one index that match a query, and how much each speaks of what is wanted.
 *
 * Every term is looked up once in every segment; which pages have all of them, and none that is not
 * wanted, is counted in an array over the segment's pages. Scores are left to whoever knows how
 * common the terms are in all collections. Linear in the places of the terms.
 */

import { type Facets, requiredFacets } from "./search-facets.ts";
import {
  inARow,
  type Mentions,
  mentionsIn,
  mentionsOf,
  NO_MENTIONS,
  placesIn,
} from "./search-places.ts";
import type { Query, Term } from "./search-query.ts";
import type { IndexReader, SegmentReader } from "./search-reader.ts";
import { LETTERS_MAX, type WordName } from "./search-segment.ts";
import { WordScanner } from "./search-words.ts";

/** How BM25 weighs (Robertson and Zaragoza 2009): what a term is worth, and how long pages are. */
export interface Weights {
  /** Of each wanted term. */
  readonly terms: readonly number[];
  readonly wordsPerPage: number;
}

export interface Scored {
  /** The id of the page's URL. */
  readonly id: number;
  /** Higher is better. */
  readonly score: number;
}

const K1 = 1.2;
const B = 0.75;
const EXCLUDED = 255;

export class Matches {
  /** Pages that match in all respects. */
  readonly total: number;
  /** Of each wanted term: how many pages have it. */
  readonly pagesWith: readonly number[];
  readonly #segments: readonly MatchedSegment[];

  constructor(index: IndexReader, query: Query, facets: Facets) {
    const wanted = query.wanted.map(wordsOf);
    const unwanted = query.unwanted.map(wordsOf);
    const required = requiredFacets(facets);
    this.#segments = index.explaining(() =>
      index.segments.map((segment) => matchSegment(segment, { wanted, unwanted, required })),
    );
    this.total = this.#segments.reduce((sum, { total }) => sum + total, 0);
    this.pagesWith = wanted.map((_, term) =>
      this.#segments.reduce((sum, { pagesWith }) => sum + (pagesWith[term] ?? 0), 0),
    );
  }

  *scored(weights: Weights): Generator<Scored> {
    for (const segment of this.#segments) yield* scoresIn(segment, weights);
  }
}

interface TermWords {
  readonly names: readonly WordName[];
  /** The letters that the last one only begins with; undefined when it is whole. */
  readonly beginning: Uint8Array | undefined;
}

interface Wanted {
  readonly wanted: readonly TermWords[];
  readonly unwanted: readonly TermWords[];
  readonly required: readonly WordName[];
}

interface MatchedSegment {
  readonly docs: Uint32Array;
  readonly mentions: readonly Mentions[];
  /** How many of the wanted terms and facets each page has, or `EXCLUDED`. */
  readonly has: Uint8Array;
  readonly needed: number;
  readonly total: number;
  readonly pagesWith: readonly number[];
}

/** A term may be several words, whatever was typed: low-dam is a phrase too. */
function wordsOf({ text, isPrefix }: Term): TermWords {
  const scanner = new WordScanner();
  scanner.scan(Buffer.from(text));
  const names = Array.from({ length: scanner.count }, (_, word) => ({
    high: scanner.high[word] as number,
    low: scanner.low[word] as number,
  }));
  if (!isPrefix || scanner.count === 0) return { names, beginning: undefined };
  const letters = new Uint8Array(LETTERS_MAX);
  const length = scanner.letters(scanner.count - 1, letters, LETTERS_MAX);
  return { names, beginning: letters.subarray(0, length) };
}

/** How many pages have this facet. */
export function pagesWithFacet(index: IndexReader, facet: WordName): number {
  let pages = 0;
  for (const segment of index.segments)
    pages += livingIn(segment, mentionsIn(segment.places(facet) ?? new Uint8Array(0)));
  return pages;
}

function matchSegment(
  segment: SegmentReader,
  { wanted, unwanted, required }: Wanted,
): MatchedSegment {
  const { docs } = segment;
  const has = new Uint8Array(docs.length / 2);
  const mentions = wanted.map((term) => mentionsFor(segment, term));
  const facets = required.map((name) => mentionsIn(segment.places(name) ?? new Uint8Array(0)));
  // A page is counted on only while it has had everything so far.
  for (const [before, list] of [...mentions, ...facets].entries())
    for (let at = 0; at < list.count; at++) {
      const doc = list.docs[at] as number;
      if (has[doc] === before) has[doc] = before + 1;
    }
  for (const list of unwanted.map((term) => mentionsFor(segment, term)))
    for (let at = 0; at < list.count; at++) has[list.docs[at] as number] = EXCLUDED;
  const needed = mentions.length + facets.length;
  let total = 0;
  for (let doc = 0; doc < has.length; doc++)
    if (has[doc] === needed && docs[2 * doc] !== 0) total += 1;
  const pagesWith = mentions.map((list) => livingIn(segment, list));
  return { docs, mentions, has, needed, total, pagesWith };
}

function mentionsFor(segment: SegmentReader, { names, beginning }: TermWords): Mentions {
  const [only] = names;
  if (only === undefined) return NO_MENTIONS;
  const isOne = names.length === 1;
  if (isOne && beginning === undefined)
    return mentionsIn(segment.places(only) ?? new Uint8Array(0));
  const lists = names.map((name, at) => {
    const isBegun = beginning !== undefined && at === names.length - 1;
    if (isBegun) return segment.placesBeginning(beginning);
    const places = segment.places(name);
    return places === undefined ? [] : [places];
  });
  if (lists.some((list) => list.length === 0)) return NO_MENTIONS;
  return mentionsOf(inARow(lists.map(placesIn)));
}

function livingIn({ docs }: SegmentReader, list: Mentions): number {
  let living = 0;
  for (let at = 0; at < list.count; at++)
    if (docs[2 * (list.docs[at] as number)] !== 0) living += 1;
  return living;
}

function* scoresIn(segment: MatchedSegment, weights: Weights): Generator<Scored> {
  const { docs, mentions, has, needed, total } = segment;
  if (total === 0) return;
  const scores = new Float64Array(has.length);
  for (const [term, list] of mentions.entries()) {
    const weight = weights.terms[term] ?? 0;
    for (let at = 0; at < list.count; at++) {
      const doc = list.docs[at] as number;
      if (has[doc] !== needed) continue;
      const often = list.weights[at] as number;
      const length = (docs[2 * doc + 1] as number) / weights.wordsPerPage;
      scores[doc] =
        (scores[doc] as number) + (weight * often * (K1 + 1)) / (often + K1 * (1 - B + B * length));
    }
  }
  for (let doc = 0; doc < has.length; doc++) {
    const id = docs[2 * doc] as number;
    if (has[doc] === needed && id !== 0) yield { id, score: scores[doc] as number };
  }
}
