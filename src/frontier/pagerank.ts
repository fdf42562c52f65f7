/**
 * PageRank of a finished graph (Brin and Page 1998): how often a random surfer is on each page, who follows links
 * at random and sometimes jumps to any page.
 *
 * Links of a page count alike; a repeated link counts as often as it occurs. From a page without links the
 * surfer jumps. Power iteration: the rank of a page is divided among its targets, and the rest
 * is spread over all pages, so the ranks add up to 1 in every sweep.
 *
 * O(links) per sweep; each sweep shrinks the change at least by the damping, so 1e-9 takes at most 130 sweeps. Two
 * vectors of 8 bytes per node besides the graph.
 */

import { assert } from "../base/assert.ts";

/** Node n links to targets[offsets[n]] … targets[offsets[n + 1] - 1]. */
export interface LinkGraph {
  readonly offsets: ArrayLike<number>;
  readonly targets: ArrayLike<number>;
}

interface RankOptions {
  /** Probability that the surfer follows a link instead of jumping. */
  readonly damping: number;
  /** The iteration ends when a sweep changes the ranks by less than this in total. */
  readonly changeMax: number;
  readonly sweepsMax: number;
}

export const RANK_OPTIONS: RankOptions = { damping: 0.85, changeMax: 1e-9, sweepsMax: 200 };

export function pageRank(graph: LinkGraph, options: RankOptions = RANK_OPTIONS): Float64Array {
  const nodes = graph.offsets.length - 1;
  assert(nodes >= 0, "a graph has one more offset than nodes");
  let ranks = new Float64Array(nodes).fill(1 / nodes);
  let next = new Float64Array(nodes);
  for (let sweep = 0; sweep < options.sweepsMax; sweep++) {
    const delivered = deliver(graph, ranks, next, options.damping);
    const floor = (1 - delivered) / nodes;
    let change = 0;
    for (let node = 0; node < nodes; node++) {
      const rank = (next[node] as number) + floor;
      change += Math.abs(rank - (ranks[node] as number));
      next[node] = rank;
    }
    [ranks, next] = [next, ranks];
    if (change < options.changeMax) break;
    next.fill(0);
  }
  return ranks;
}

/** Passes rank along all links; returns how much was passed. */
function deliver(
  { offsets, targets }: LinkGraph,
  ranks: Float64Array,
  next: Float64Array,
  damping: number,
): number {
  let delivered = 0;
  for (let node = 0; node < ranks.length; node++) {
    const first = offsets[node] as number;
    const behind = offsets[node + 1] as number;
    if (first === behind) continue;
    const passed = damping * (ranks[node] as number);
    const share = passed / (behind - first);
    for (let link = first; link < behind; link++) {
      const target = targets[link] as number;
      next[target] = (next[target] as number) + share;
    }
    delivered += passed;
  }
  return delivered;
}
