/**
 * Searches several collections as if they were one.
 *
 * A word that is rare in one collection and common in another would weigh differently in each, and
 * their scores could not be compared. So all are asked first how many pages have each term and how
 * long their pages are, and then every page is scored by the numbers of all together: exactly as in
 * one index of everything. Pages with the same content are shown once. Where a topic is asked for,
 * collections that are devoted to it count for up to twice as much.
 */

import { Heap } from "../base/heap.ts";
import { type Facets, topicFacet } from "./search-facets.ts";
import { Matches, pagesWithFacet, type Scored, type Weights } from "./search-match.ts";
import type { Query } from "./search-query.ts";
import type { FoundPage, IndexReader } from "./search-reader.ts";

export interface Collection {
  readonly folder: string;
  readonly index: IndexReader;
}

export interface Result {
  readonly page: FoundPage;
  readonly collection: Collection;
  readonly score: number;
  /** Where the same content was found too, among the best. */
  readonly copies: readonly { readonly url: string; readonly folder: string }[];
}

export interface Found {
  /** Pages that match, copies counted each. */
  readonly total: number;
  readonly results: readonly Result[];
}

export interface Wish {
  readonly query: Query;
  readonly facets: Facets;
  readonly countMax: number;
}

/** Copies of each other may be among the best: so more are looked at than shown. */
const CANDIDATES_PER_RESULT = 5;
const CANDIDATES_MIN = 50;

export function search(collections: readonly Collection[], wish: Wish): Found {
  const { query, facets, countMax } = wish;
  const matched = collections.map((collection) => ({
    collection,
    matches: new Matches(collection.index, query, facets),
  }));
  const weights = weightsOf(matched, query);
  const best = new Best(Math.max(CANDIDATES_MIN, CANDIDATES_PER_RESULT * countMax));
  for (const { collection, matches } of matched) {
    const favour = favourOf(collection, facets.topic);
    for (const { id, score } of matches.scored(weights))
      best.offer({ collection, id, score: score * favour });
  }
  const total = matched.reduce((sum, { matches }) => sum + matches.total, 0);
  return { total, results: withoutCopies(best.inOrder(), countMax) };
}

interface Candidate extends Scored {
  readonly collection: Collection;
}

/** The best so many candidates; of equals those that came first. */
class Best {
  readonly #worstFirst = new Heap<Candidate>((a, b) => a.score - b.score || b.id - a.id);
  readonly #countMax: number;
  #floor = -Infinity;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  offer(candidate: Candidate): void {
    if (this.#worstFirst.size >= this.#countMax) {
      if (candidate.score <= this.#floor) return;
      this.#worstFirst.pop();
    }
    this.#worstFirst.push(candidate);
    if (this.#worstFirst.size === this.#countMax) this.#floor = this.#worstFirst.peek()?.score ?? 0;
  }

  inOrder(): Candidate[] {
    const worstFirst: Candidate[] = [];
    for (let next = this.#worstFirst.pop(); next !== undefined; next = this.#worstFirst.pop())
      worstFirst.push(next);
    return worstFirst.toReversed();
  }
}

function weightsOf(
  matched: readonly { readonly collection: Collection; readonly matches: Matches }[],
  query: Query,
): Weights {
  let [pages, words] = [0, 0];
  for (const { collection } of matched) {
    pages += collection.index.pages;
    words += collection.index.words;
  }
  const terms = query.wanted.map((_, term) => {
    const pagesWith = matched.reduce((sum, { matches }) => sum + (matches.pagesWith[term] ?? 0), 0);
    return weightOf(pagesWith, pages);
  });
  return { terms, wordsPerPage: Math.max(1, words / Math.max(1, pages)) };
}

/** What a term is worth by BM25: the more the fewer pages have it, and never nothing. */
export function weightOf(pagesWith: number, pages: number): number {
  return Math.log(1 + Math.max(0, pages - pagesWith + 0.5) / (pagesWith + 0.5));
}

function favourOf({ index }: Collection, topic: string | undefined): number {
  if (topic === undefined || index.pages === 0) return 1;
  return 1 + pagesWithFacet(index, topicFacet(topic)) / index.pages;
}

function withoutCopies(candidates: readonly Candidate[], countMax: number): Result[] {
  const byDigest = new Map<string, Result & { copies: { url: string; folder: string }[] }>();
  for (const { collection, id, score } of candidates) {
    const page = collection.index.page(id);
    if (page === undefined) continue;
    const key = Buffer.from(page.digest).toString("latin1");
    const first = byDigest.get(key);
    if (first !== undefined) first.copies.push({ url: page.url, folder: collection.folder });
    else if (byDigest.size < countMax) byDigest.set(key, { page, collection, score, copies: [] });
  }
  return [...byDigest.values()];
}
