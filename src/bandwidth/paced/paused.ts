/**
 * Downloads whose reading is paused, by cause: the limit, their site's limit, or none any more.
 *
 * For the limit they take turns: a download that is being read goes on until it has had 50 ms of the limit, or until
 * its end. Two hundred downloads that are read a few kilobytes each in turn fill and empty their windows in waves.
 * With ranks, the lowest rank goes first.
 *
 * O(1) without ranks, O(paused) with them; O(paused for their site) for each look at these.
 */

import type { RankOf } from "../controller.ts";
import type { SiteBalances } from "./balance.ts";
import { type Download, speedBps, wholeBytesOf } from "./download.ts";

/** Bytes that a download reads in its turn, in seconds at the limit. */
const TURN_SECONDS = 0.05;

export class Paused {
  /** Paused for the limit, within their turn and between turns. */
  readonly #inTurn = new Set<Download>();
  readonly #queue = new Set<Download>();
  /** Paused for their site's limit. */
  readonly #held = new Set<Download>();
  /** May go on: their rest arrives in any case. */
  readonly #ending = new Set<Download>();
  readonly #sites: SiteBalances;
  readonly #rateBps: () => number;
  #rankOf: RankOf | undefined;

  constructor(sites: SiteBalances, rateBps: () => number) {
    this.#sites = sites;
    this.#rateBps = rateBps;
  }

  get size(): number {
    return this.sizeForLimit + this.#held.size + this.#ending.size;
  }

  get sizeForLimit(): number {
    return this.#inTurn.size + this.#queue.size;
  }

  get rankOf(): RankOf | undefined {
    return this.#rankOf;
  }

  setOrder(rankOf: RankOf | undefined): void {
    this.#rankOf = rankOf;
  }

  has(flow: Download): boolean {
    return this.isForLimit(flow) || this.#held.has(flow);
  }

  isForLimit(flow: Download): boolean {
    return this.#inTurn.has(flow) || this.#queue.has(flow);
  }

  isHeld(flow: Download): boolean {
    return this.#held.has(flow);
  }

  /** Whether a download that is not paused may read before those that are. */
  goesFirst(nowMs: number, flow: Download): boolean {
    if (!this.#sites.mayRead(nowMs, flow)) return false;
    const first = this.#first();
    return first === undefined || this.#ranksBefore(flow.siteId, first.siteId);
  }

  /** Whether a paused download ranks before all of this site. */
  isBefore(siteId: number): boolean {
    const first = this.#rankOf === undefined ? undefined : this.#first();
    return first !== undefined && this.#ranksBefore(first.siteId, siteId);
  }

  add(nowMs: number, flow: Download): void {
    if (!this.#sites.mayRead(nowMs, flow)) this.#held.add(flow);
    else if (this.#staysInTurn(nowMs, flow)) this.#inTurn.add(flow);
    else this.#queue.add(flow);
  }

  letEnd(flow: Download): void {
    this.delete(flow);
    this.#ending.add(flow);
  }

  delete(flow: Download): void {
    for (const flows of [this.#inTurn, this.#queue, this.#held, this.#ending]) flows.delete(flow);
  }

  takeEnding(): Download | undefined {
    const flow = this.#ending.values().next().value;
    if (flow !== undefined) this.#ending.delete(flow);
    return flow;
  }

  /** Downloads whose site has room again take turns like the others. */
  look(nowMs: number): void {
    for (const flow of this.#held) {
      if (!this.#sites.mayRead(nowMs, flow)) continue;
      this.#held.delete(flow);
      this.add(nowMs, flow);
    }
  }

  /** The download whose turn it is, of a site that has room. */
  takeFirst(nowMs: number): Download | undefined {
    for (let flow = this.#first(); flow !== undefined; flow = this.#first()) {
      this.delete(flow);
      if (this.#sites.mayRead(nowMs, flow)) return flow;
      this.#held.add(flow);
    }
    return undefined;
  }

  /** When a download may go on, if the limit has room at `rateAtMs`. */
  nextAtMs(nowMs: number, rateAtMs: () => number): number {
    if (this.#ending.size > 0) return nowMs;
    let atMs = this.sizeForLimit > 0 ? rateAtMs() : Infinity;
    for (const flow of this.#held) atMs = Math.min(atMs, this.#sites.mayReadAtMs(nowMs, flow));
    return atMs;
  }

  #first(): Download | undefined {
    let first = this.#inTurn.values().next().value ?? this.#queue.values().next().value;
    if (this.#rankOf === undefined || first === undefined) return first;
    for (const flows of [this.#inTurn, this.#queue])
      for (const flow of flows) if (this.#ranksBefore(flow.siteId, first.siteId)) first = flow;
    return first;
  }

  #ranksBefore(siteId: number, otherId: number): boolean {
    return this.#rankOf !== undefined && this.#rankOf(siteId) < this.#rankOf(otherId);
  }

  #staysInTurn(nowMs: number, flow: Download): boolean {
    const turnBytes = TURN_SECONDS * this.#rateBps();
    if (wholeBytesOf(flow) - flow.receivedBytes <= turnBytes) return true;
    if (flow.receivedBytes - flow.turnFromBytes < turnBytes) return flow.turnSinceMs !== undefined;
    flow.shownBps = speedBps(nowMs, flow);
    flow.turnSinceMs = undefined;
    return false;
  }
}
