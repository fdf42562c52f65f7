/**
 * Gives a new URL its score: of a site's waiting URLs the one with the highest score goes first, and
 * among equals the one found first.
 *
 * `breadth` prefers few clicks from a seed. `backlinks` prefers what many pages link to (Cho,
 * Garcia-Molina and Page 1998), `pagerank` what much-linked pages link to; both change while the URL
 * waits. `topic` prefers what is likely to be about the topic looked for. A user's own function replaces them all.
 */

export const ORDERS = ["breadth", "backlinks", "pagerank", "topic"] as const;
export type Order = (typeof ORDERS)[number];

export interface Candidate {
  readonly url: string;
  readonly depth: number;
  /** Where the link was found; undefined for a seed. */
  readonly from: string | undefined;
}

export type ScoreFunction = (candidate: Candidate) => number;

export const SCORES: Readonly<Record<Order, ScoreFunction>> = {
  breadth: ({ depth }) => -depth,
  // The link that led here is its first; the rest are added as they are met.
  backlinks: () => 1,
  // Below what anything linked to twice has, until its rank is known.
  pagerank: () => 0,
  // Where nothing is known of a link: seeds.
  topic: () => 1,
};
