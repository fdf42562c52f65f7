/**
 * Who has been made to wait, and for what: for the rate of all, for that of their own site, or for nothing any more.
 *
 * O(1) everything, but for O(waiting for their site) a look, and what turns cost.
 */

import { type PacedFlow, wholeBytesOf } from "./paced-flow.ts";
import type { SiteAccounts } from "./site-accounts.ts";
import { shownBps } from "./stock.ts";
import { Turns } from "./turns.ts";

/** How much a download takes before it is another's turn. */
const TURN_SECONDS = 0.05;
const TURN_BYTES_MIN = 16_384;

export class Waiting {
  /** For the rate of all. */
  readonly turns = new Turns<PacedFlow>();
  /** For their own site's: nobody else's turn, and no sign of plenty. */
  readonly #held = new Set<PacedFlow>();
  /** For nothing: it has become known that all the rest of them comes in unread. */
  readonly #ending = new Set<PacedFlow>();
  readonly #sites: SiteAccounts;
  readonly #rateBps: () => number;

  constructor(sites: SiteAccounts, rateBps: () => number) {
    this.#sites = sites;
    this.#rateBps = rateBps;
  }

  get size(): number {
    return this.turns.size + this.#held.size + this.#ending.size;
  }

  /** Whether it waits for any rate. */
  has(flow: PacedFlow): boolean {
    return this.turns.has(flow) || this.#held.has(flow);
  }

  isHeld(flow: PacedFlow): boolean {
    return this.#held.has(flow);
  }

  /** Whether it is the turn of one that does not wait yet, and its site has something. */
  goesFirst(nowMs: number, flow: PacedFlow): boolean {
    return this.turns.goesFirst(flow) && this.#sites.mayRead(nowMs, flow);
  }

  add(nowMs: number, flow: PacedFlow): void {
    if (this.#sites.mayRead(nowMs, flow))
      this.turns.add(flow, staysInTurn(nowMs, flow, this.#rateBps()));
    else this.#held.add(flow);
  }

  letEnd(flow: PacedFlow): void {
    this.delete(flow);
    this.#ending.add(flow);
  }

  delete(flow: PacedFlow): void {
    this.turns.delete(flow);
    this.#held.delete(flow);
    this.#ending.delete(flow);
  }

  /** One that waits for nothing. */
  takeEnding(): PacedFlow | undefined {
    const flow = this.#ending.values().next().value;
    if (flow !== undefined) this.#ending.delete(flow);
    return flow;
  }

  /** Those whose site has something again wait for their turn like the others. */
  look(nowMs: number): void {
    for (const flow of this.#held) {
      if (!this.#sites.mayRead(nowMs, flow)) continue;
      this.#held.delete(flow);
      this.turns.add(flow, staysInTurn(nowMs, flow, this.#rateBps()));
    }
  }

  /** The one whose turn it is, of a site that has something. */
  takeFirst(nowMs: number): PacedFlow | undefined {
    for (let flow = this.turns.first(); flow !== undefined; flow = this.turns.first()) {
      this.turns.delete(flow);
      if (this.#sites.mayRead(nowMs, flow)) return flow;
      this.#held.add(flow);
    }
    return undefined;
  }

  /** When somebody may go on, if the rate of all has something at that time. */
  nextAtMs(nowMs: number, rateAtMs: () => number): number {
    if (this.#ending.size > 0) return nowMs;
    let atMs = this.turns.size > 0 ? rateAtMs() : Infinity;
    for (const flow of this.#held)
      atMs = Math.min(atMs, this.#sites.mayReadAtMs(nowMs, flow) ?? nowMs);
    return atMs;
  }
}

/**
 * Whether it goes on before those that have not begun theirs: a window that is neither read nor filled
 * disturbs nobody, and many that are read in turn fill up in waves. Who needs no more than a turn has one
 * at once.
 */
function staysInTurn(nowMs: number, flow: PacedFlow, rateBps: number): boolean {
  const turnBytes = Math.max(TURN_BYTES_MIN, TURN_SECONDS * rateBps);
  if (wholeBytesOf(flow) - flow.receivedBytes <= turnBytes) return true;
  if (flow.receivedBytes - flow.turnFromBytes < turnBytes) return flow.turnSinceMs !== undefined;
  flow.shownBps = shownBps(nowMs, flow);
  flow.turnSinceMs = undefined;
  return false;
}
