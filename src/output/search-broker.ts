/**
 * Searches several collections as if they were one.
 *
 * A word that is rare in one collection and common in another would weigh differently in each, and
 * their scores could not be compared. So the broker first asks all of them how many pages have each
 * term, and weighs the terms by their share of all pages together; what a page says of a term is
 * the index's own answer. Each gives its best by its own weights, several times as many as are
 * wanted, and these are weighed anew. Pages with the same content are shown once. Where a topic is
 * asked for, collections that are devoted to it count for up to twice as much.
 */

import type { Facets } from "./search-facets.ts";
import { matchOf, type Query, type Term } from "./search-query.ts";
import type { FoundPage, IndexReader, Scored } from "./search-reader.ts";

export interface Collection {
  readonly folder: string;
  readonly index: IndexReader;
}

export interface Result {
  readonly page: FoundPage;
  readonly collection: Collection;
  readonly score: number;
  /** Where the same content was found too. */
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

const CANDIDATES_PER_RESULT = 5;
const CANDIDATES_MIN = 50;
/** What SQLite gives a term that more than half of all pages have. */
const LEAST_WEIGHT = 1e-6;

export function search(collections: readonly Collection[], wish: Wish): Found {
  const match = matchOf(wish.query, wish.facets);
  const countMax = Math.max(CANDIDATES_MIN, CANDIDATES_PER_RESULT * wish.countMax);
  const together = collections.length > 1 ? frequencies(collections, wish.query.wanted) : undefined;
  const candidates: Candidate[] = [];
  let total = 0;
  for (const collection of collections) {
    total += collection.index.pagesMatching(match);
    const best = collection.index.best(match, countMax);
    const rescored = together === undefined ? best : weighed(collection, best, together);
    const favour = favourOf(collection, wish.facets.topic);
    for (const { id, score } of rescored)
      candidates.push({ collection, id, score: score * favour });
  }
  candidates.sort((a, b) => b.score - a.score);
  return { total, results: withoutCopies(candidates, wish.countMax) };
}

interface Candidate extends Scored {
  readonly collection: Collection;
}

interface Frequencies {
  readonly terms: readonly Term[];
  readonly pages: number;
  /** Of each term: pages that have it, over all collections. */
  readonly pagesWith: readonly number[];
  readonly own: ReadonlyMap<Collection, readonly number[]>;
}

function frequencies(collections: readonly Collection[], terms: readonly Term[]): Frequencies {
  const own = new Map<Collection, readonly number[]>();
  let pages = 0;
  for (const collection of collections) {
    own.set(
      collection,
      terms.map((term) => collection.index.pagesWith(term)),
    );
    pages += collection.index.pages;
  }
  const pagesWith = terms.map((_, term) =>
    own.values().reduce((sum, counts) => sum + (counts[term] ?? 0), 0),
  );
  return { terms, pages, pagesWith, own };
}

/** The same pages, with every term weighed as all collections together would. */
function weighed(collection: Collection, best: readonly Scored[], together: Frequencies): Scored[] {
  const { index } = collection;
  const ids = best.map(({ id }) => id);
  const own = together.own.get(collection) ?? [];
  const scores = new Map<number, number>(ids.map((id) => [id, 0]));
  for (const [at, term] of together.terms.entries()) {
    const ratio =
      weightOf(together.pagesWith[at] ?? 0, together.pages) / weightOf(own[at] ?? 0, index.pages);
    for (const [id, score] of index.scoresOf(term, ids))
      scores.set(id, (scores.get(id) ?? 0) + score * ratio);
  }
  return ids.map((id) => ({ id, score: scores.get(id) ?? 0 }));
}

/** The weight of a term by BM25, as SQLite works it out. */
export function weightOf(pagesWith: number, pages: number): number {
  return Math.max(LEAST_WEIGHT, Math.log((pages - pagesWith + 0.5) / (pagesWith + 0.5)));
}

function favourOf({ index }: Collection, topic: string | undefined): number {
  if (topic === undefined || index.pages === 0) return 1;
  return 1 + index.pagesOfTopic(topic) / index.pages;
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
