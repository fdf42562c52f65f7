/**
 * PageRank of what a crawl has seen, kept fresh while it grows: the order in which Cho, Garcia-Molina and Page (1998)
 * find important pages first.
 *
 * Nodes are the crawl's own numbers of URLs. A crawled page brings its links; a page that is only known of is a
 * node without. When the links have grown by a twentieth since the last time, the ranks are made anew by
 * power iteration from where they stand, in slices: `step` does a bounded piece and may be called
 * whenever there is time. Until then a new page's votes are added to its targets at once, so that a page
 * just found has a rank that says something.
 *
 * A rank of 1 is the mean of all that was seen. Rank that flows to pages not known here (another process's,
 * or beyond `nodesMax`), and that of pages without links, is spread evenly over all.
 *
 * Promises, held by tests: after enough steps the ranks are those of `pagerank.ts` for the same graph; no
 * step does more than asked; memory is at most 20 bytes × `nodesMax` + `linkBytesMax` + 4 MB, of which only what is
 * used is touched. Refreshing costs some hundred times going along each link, spread over the whole crawl.
 */

import { assert } from "../base/assert.ts";
import { type Flow, LinkLog, LOG_FIRST, TARGETS_MAX } from "./pagerank-log.ts";

export interface SeenRanksLimits {
  /** Pages with larger numbers have the score of a page that nobody links to. */
  readonly nodesMax: number;
  /** 4 for each link and 16 for each page with links. When they are used up, later pages bring none. */
  readonly linkBytesMax: number;
}

const DAMPING = 0.85;
const GROWTH_MIN = 0.05;
/** The mean change of a rank, as a share of the mean rank, at which a refresh is over. */
const CHANGE_MAX = 1e-3;
/** One more brings 0.85 of what the last one brought, so this many are enough from anywhere. */
const SWEEPS_MAX = 50;

type Phase = "rest" | "flow" | "settle";

export class SeenRanks {
  readonly #limits: SeenRanksLimits;
  readonly #log: LinkLog;
  readonly #flow: Flow;
  /** Nodes are the numbers below this. */
  #nodes = 0;
  /** What a node has that nobody links to. */
  #floor = 1 - DAMPING;
  #phase: Phase = "rest";
  /** The next place in the log, or the next node to settle. */
  #at = 0;
  #settleNodes = 0;
  #change = 0;
  #sweeps = 0;
  #linksNoted = 0;
  #linksFresh = 0;

  constructor(limits: SeenRanksLimits) {
    const { nodesMax, linkBytesMax } = limits;
    this.#limits = limits;
    this.#log = new LinkLog({ nodesMax, wordsMax: Math.floor(linkBytesMax / 4) });
    const ranks = new Float64Array(nodesMax);
    this.#flow = { ranks, next: new Float64Array(nodesMax), damping: DAMPING, delivered: 0 };
  }

  /** Numbers of pages known of, as far as there was room. */
  get nodes(): number {
    return this.#nodes;
  }

  get links(): number {
    return this.#log.links;
  }

  get bytes(): number {
    return this.#log.bytes + 2 * this.#flow.ranks.byteLength;
  }

  /**
   * The links of a page that has been crawled, each target once; what was known of it before is forgotten. A
   * page does not vote for itself.
   *
   * `elsewhere` is how many more it has, to pages that have no number here: they take their votes along.
   */
  noteLinks(fromId: number, toIds: readonly number[], elsewhere = 0): void {
    const { nodesMax } = this.#limits;
    if (fromId >= nodesMax) return;
    let ownLinks = 0;
    let newest = fromId;
    const targets: number[] = [];
    for (const id of toIds) {
      if (id === fromId) ownLinks += 1;
      else if (id < nodesMax && targets.length < TARGETS_MAX) targets.push(id);
      if (id < nodesMax && id > newest) newest = id;
    }
    this.#know(newest);
    const votes = Math.max(1, toIds.length - ownLinks + elsewhere);
    if (!this.#log.put(fromId, votes, targets)) return;
    this.#linksNoted += targets.length;
    const { ranks } = this.#flow;
    const vote = (DAMPING * (ranks[fromId] as number)) / votes;
    for (const target of targets) ranks[target] = (ranks[target] as number) + vote;
  }

  /** A new page may be asked about before anything links to it. */
  scoreOf(id: number): number {
    return id < this.#nodes ? (this.#flow.ranks[id] as number) : this.#floor;
  }

  /**
   * Goes along at most so many links or nodes, about: a page is not divided. True while there is more to do.
   */
  step(workMax: number): boolean {
    assert(workMax > 0, "a step does something");
    if (this.#phase === "rest" && !this.#begin()) return false;
    if (this.#phase === "flow") this.#flowOn(workMax);
    else this.#settleOn(workMax);
    return this.#phase !== "rest";
  }

  #begin(): boolean {
    if (this.#linksNoted <= this.#linksFresh * (1 + GROWTH_MIN)) return false;
    this.#linksFresh = this.#linksNoted;
    this.#sweeps = 0;
    this.#beginSweep();
    return true;
  }

  #beginSweep(): void {
    this.#phase = "flow";
    this.#at = LOG_FIRST;
    this.#flow.delivered = 0;
  }

  #flowOn(workMax: number): void {
    this.#at = this.#log.flow(this.#at, workMax, this.#flow);
    if (this.#at < this.#log.end) return;
    this.#phase = "settle";
    this.#at = 0;
    this.#change = 0;
    this.#settleNodes = this.#nodes;
    this.#floor = (this.#nodes - this.#flow.delivered) / this.#nodes;
  }

  /** What has come is the new rank. */
  #settleOn(workMax: number): void {
    const { ranks, next } = this.#flow;
    const behind = Math.min(this.#settleNodes, this.#at + workMax);
    for (let node = this.#at; node < behind; node++) {
      const rank = (next[node] as number) + this.#floor;
      this.#change += Math.abs(rank - (ranks[node] as number));
      ranks[node] = rank;
      next[node] = 0;
    }
    this.#at = behind;
    if (behind < this.#settleNodes) return;
    this.#sweeps += 1;
    const isSettled = this.#change <= CHANGE_MAX * this.#settleNodes || this.#sweeps >= SWEEPS_MAX;
    if (isSettled) this.#phase = "rest";
    else this.#beginSweep();
  }

  #know(id: number): void {
    if (id < this.#nodes) return;
    this.#flow.ranks.fill(this.#floor, this.#nodes, id + 1);
    this.#nodes = id + 1;
  }
}
