/**
 * Searches several collections as if they were one.
 *
 * FTS5 scores a page by BM25, with the rarity of each term in its own file. A word that is common in one
 * collection and rare in another would get different weights, and their scores could not be compared. So
 * each term is scored separately, and its score is scaled from its rarity in the file to its rarity in all
 * collections together. Pages with equal content are shown once. If a topic is requested, a collection
 * devoted to it counts for up to twice as much.
 */

import type { FoundPage, IndexReader, Row } from "./index-reader.ts";
import { matchOf, matchOfTerm, type Query } from "./query.ts";

export interface Collection {
  readonly folder: string;
  readonly index: IndexReader;
}

export interface Facets {
  readonly site: string | undefined;
  readonly language: string | undefined;
  readonly topic: string | undefined;
}

export interface Result {
  readonly page: FoundPage;
  readonly collection: Collection;
  readonly score: number;
  /** Other pages with the same content, among the candidates. */
  readonly copies: readonly { readonly url: string; readonly folder: string }[];
}

export interface Found {
  /** Matching pages, including copies. */
  readonly total: number;
  readonly results: readonly Result[];
}

export interface Search {
  readonly query: Query;
  readonly facets: Facets;
  readonly countMax: number;
}

/** Candidates read for each result shown, since some are copies of others. */
const CANDIDATES_PER_RESULT = 5;
/** Weights of a word in the title, in the URL and in the text. */
const WEIGHTS = "4, 2, 1";
/** FTS5's rarity of a term that is in more than half of the pages (SQLite documentation, bm25). */
const RARITY_MIN = 1e-6;

export function search(collections: readonly Collection[], request: Search): Found {
  const terms = request.query.wanted.flat().map(matchOfTerm);
  const counts = collections.map(({ index }) => terms.map((term) => pagesWith(index, term)));
  const pages = sum(collections.map(({ index }) => index.pages));
  const rarities = terms.map((_, term) =>
    rarityOf(sum(counts.map((own) => own[term] ?? 0)), pages),
  );
  let total = 0;
  const candidates: Candidate[] = [];
  for (const [at, collection] of collections.entries()) {
    const { index } = collection;
    const favour = favourOf(index, request.facets.topic);
    const scales = terms.map((_, term) => {
      const own = rarityInFile(counts[at]?.[term] ?? 0, index.pages);
      return (favour * (rarities[term] ?? 0)) / own;
    });
    const rows = scoredRows(index, request, { terms, scales });
    total += Number(rows[0]?.["total"] ?? 0);
    for (const { id, score } of rows)
      candidates.push({ collection, id: Number(id), score: Number(score) });
  }
  candidates.sort((a, b) => b.score - a.score || a.id - b.id);
  return { total, results: withoutCopies(candidates, request.countMax) };
}

interface Candidate {
  readonly collection: Collection;
  readonly id: number;
  readonly score: number;
}

interface Scoring {
  /** FTS5 expressions of the wanted terms, and the factor on the score of each. */
  readonly terms: readonly string[];
  readonly scales: readonly number[];
}

/** The best matches of one collection, each row with the total number of matches. */
function scoredRows(index: IndexReader, request: Search, { terms, scales }: Scoring): Row[] {
  const { conditions, values } = facetConditions(request.facets);
  const join = conditions.length === 0 ? "" : "JOIN page ON page.id = words.rowid";
  const parts = terms.map(
    (_, term) =>
      `SELECT rowid AS id, $scale${term} * bm25(words, ${WEIGHTS}) AS score FROM words
       WHERE words MATCH $term${term} AND +rowid IN (SELECT id FROM matched)`,
  );
  const sql = `
    WITH matched AS MATERIALIZED (
      SELECT words.rowid AS id FROM words ${join}
      WHERE ${["words MATCH $match", ...conditions].join(" AND ")}),
    scored AS MATERIALIZED (${parts.join(" UNION ALL ")})
    SELECT id, -sum(score) AS score, (SELECT count(*) FROM matched) AS total
    FROM scored GROUP BY id ORDER BY 2 DESC, id LIMIT $most`;
  const scoring = terms.flatMap((term, at) => [
    [`term${at}`, term] as const,
    [`scale${at}`, scales[at] ?? 0] as const,
  ]);
  const most = CANDIDATES_PER_RESULT * request.countMax;
  return index.rows(sql, {
    match: matchOf(request.query),
    most,
    ...values,
    ...Object.fromEntries(scoring),
  });
}

function facetConditions({ site, language, topic }: Facets): {
  readonly conditions: readonly string[];
  readonly values: Readonly<Record<string, string>>;
} {
  const conditions: string[] = [];
  const values: Record<string, string> = {};
  const require = (name: string, value: string, condition: string): void => {
    conditions.push(condition);
    values[name] = value;
  };
  // A host includes its subdomains: example.org also finds www.example.org.
  if (site !== undefined)
    require("site", hostNamed(site), "('.' || page.host) LIKE ('%.' || $site)");
  if (language !== undefined)
    require("language", language, "(page.language || '-') LIKE ($language || '-%')");
  if (topic !== undefined) require("topic", topic, "page.topic = $topic COLLATE NOCASE");
  return { conditions, values };
}

/** The host of `example.org`, `https://example.org` or `https://example.org/a`. */
function hostNamed(site: string): string {
  const text = site.trim().toLowerCase();
  const parsed = URL.parse(text.includes("://") ? text : `http://${text}`);
  return parsed?.hostname ?? text;
}

function pagesWith(index: IndexReader, match: string): number {
  const sql = "SELECT count(*) AS count FROM words WHERE words MATCH $match";
  return Number(index.rows(sql, { match })[0]?.["count"] ?? 0);
}

/** The weight of a term in BM25: the fewer pages have it, the greater; never zero. */
export function rarityOf(pagesWithTerm: number, pages: number): number {
  return Math.log(1 + Math.max(0, pages - pagesWithTerm + 0.5) / (pagesWithTerm + 0.5));
}

/** The rarity that FTS5's bm25() multiplies by. */
function rarityInFile(pagesWithTerm: number, pages: number): number {
  const rarity = Math.log((pages - pagesWithTerm + 0.5) / (pagesWithTerm + 0.5));
  return rarity > 0 ? rarity : RARITY_MIN;
}

function favourOf(index: IndexReader, topic: string | undefined): number {
  if (topic === undefined || index.pages === 0) return 1;
  const sql = "SELECT count(*) AS count FROM page WHERE topic = $topic COLLATE NOCASE";
  return 1 + Number(index.rows(sql, { topic })[0]?.["count"] ?? 0) / index.pages;
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

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
