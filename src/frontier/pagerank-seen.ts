/**
 * PageRank of the pages a crawl has seen, updated while it grows: the order in which Cho, Garcia-Molina and Page (1998)
 * find important pages first.
 *
 * Nodes are the crawl's ids of URLs. A crawled page adds its links; a page that is only known is a node without
 * links. When the links have grown by 5 % since the last refresh, the ranks are refreshed by power
 * iteration from their current values, in slices: `step` does a bounded amount of work and may be called
 * whenever there is time. Until then a new page's votes are added to its targets at once, so that newly
 * found pages have useful ranks.
 *
 * A rank of 1 is the mean of all pages seen. Rank that flows to unknown pages (another process's, or beyond
 * `nodesMax`), and that of pages without links, is spread evenly over all.
 *
 * Promises, held by tests: after enough steps the ranks are those of `pagerank.ts` for the same graph; no
 * step exceeds the requested work; memory is at most 20 bytes × `nodesMax` + `linkBytesMax` + 4 MB, of which only
 * the used part is touched. Refreshing visits each link a few hundred times, spread over the whole crawl.
 */

import { assert } from "../base/assert.ts";
import { type Flow, LinkLog, LOG_FIRST, TARGETS_MAX } from "./pagerank-log.ts";

interface SeenRanksLimits {
  /** Pages with larger ids have the score of a page without links to it. */
  readonly nodesMax: number;
  /** 4 for each link and 16 for each page with links. Once it is used up, links of later pages are ignored. */
  readonly linkBytesMax: number;
}

const DAMPING = 0.85;
const GROWTH_MIN = 0.05;
/** The mean change of a rank, as a share of the mean rank, at which a refresh ends. */
const CHANGE_MAX = 1e-3;
/** Each sweep changes 0.85 of what the previous one did, so this many suffice from any start. */
const SWEEPS_MAX = 50;

type Phase = "rest" | "flow" | "settle";

export class SeenRanks {
  readonly #limits: SeenRanksLimits;
  readonly #log: LinkLog;
  readonly #flow: Flow;
  /** Nodes are the ids below this. */
  #nodes = 0;
  /** The rank of a node without links to it. */
  #floor = 1 - DAMPING;
  #phase: Phase = "rest";
  /** The next index in the log, or the next node to settle. */
  #at = 0;
  #settleNodes = 0;
  #change = 0;
  #sweeps = 0;
  #linksPut = 0;
  #linksAtRefresh = 0;

  constructor(limits: SeenRanksLimits) {
    const { nodesMax, linkBytesMax } = limits;
    this.#limits = limits;
    this.#log = new LinkLog({ nodesMax, wordsMax: Math.floor(linkBytesMax / 4) });
    const ranks = new Float64Array(nodesMax);
    this.#flow = { ranks, next: new Float64Array(nodesMax), damping: DAMPING, delivered: 0 };
  }

  /** The number of known pages, up to `nodesMax`. */
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
   * Stores the links of a crawled page, each target once; replaces its earlier links. A page does not vote for
   * itself.
   *
   * `elsewhere` is the number of its further links, to pages without an id here: they take their votes along.
   */
  putLinks(fromId: number, toIds: readonly number[], elsewhere = 0): void {
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
    this.#extendTo(newest);
    const votes = Math.max(1, toIds.length - ownLinks + elsewhere);
    if (!this.#log.put(fromId, votes, targets)) return;
    this.#linksPut += targets.length;
    const { ranks } = this.#flow;
    const vote = (DAMPING * (ranks[fromId] as number)) / votes;
    for (const target of targets) ranks[target] = (ranks[target] as number) + vote;
  }

  /** The rank of a page, also of one without any links to it so far. */
  scoreOf(id: number): number {
    return id < this.#nodes ? (this.#flow.ranks[id] as number) : this.#floor;
  }

  /** Processes about `workMax` links or nodes; a page is not divided. Returns true while there is more to do. */
  step(workMax: number): boolean {
    assert(workMax > 0, "a step has work to do");
    if (this.#phase === "rest" && !this.#begin()) return false;
    if (this.#phase === "flow") this.#flowOn(workMax);
    else this.#settleOn(workMax);
    return this.#phase !== "rest";
  }

  #begin(): boolean {
    if (this.#linksPut <= this.#linksAtRefresh * (1 + GROWTH_MIN)) return false;
    this.#linksAtRefresh = this.#linksPut;
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

  /** Replaces the ranks by those received in this sweep. */
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

  #extendTo(id: number): void {
    if (id < this.#nodes) return;
    this.#flow.ranks.fill(this.#floor, this.#nodes, id + 1);
    this.#nodes = id + 1;
  }
}
