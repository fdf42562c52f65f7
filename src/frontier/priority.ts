/**
 * Scores new URLs: of a site's queued URLs the one with the highest score is fetched first, among ties the one
 * found first.
 *
 * `breadth` prefers few links from a seed. `backlinks` prefers URLs that many pages link to (Cho,
 * Garcia-Molina and Page 1998), `pagerank` URLs that much-linked pages link to; both change while the URL
 * is queued. `topic` prefers URLs likely to be on the requested topic. A user's own function replaces them all.
 */

export const ORDERS = ["breadth", "backlinks", "pagerank", "topic"] as const;
export type Order = (typeof ORDERS)[number];

export interface Candidate {
  readonly url: string;
  readonly depth: number;
  /** The URL of the page with the link; undefined for a seed. */
  readonly from: string | undefined;
}

/** Added to the score of a URL that is requested behind all others of its site. */
const LAST = -1e9;

export function lastScore(score: number): number {
  return isLast(score) ? score : LAST + score;
}

export function isLast(score: number): boolean {
  return score < LAST / 2;
}

export type ScoreFunction = (candidate: Candidate) => number;

export const SCORES: Readonly<Record<Order, ScoreFunction>> = {
  breadth: ({ depth }) => -depth,
  // The link found first counts; later links are added when they are found.
  backlinks: () => 1,
  // Below any URL with two links to it, until its rank is known.
  pagerank: () => 0,
  // For seeds, which have no link to judge.
  topic: () => 1,
};
