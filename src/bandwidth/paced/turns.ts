/**
 * Whose turn it is to read on: who waits, in the order they came, those in the middle of their turn before
 * the others; or, with ranks, the lowest first.
 *
 * O(1) without ranks, O(waiting) with them.
 */

import type { Flow, RankOf } from "../controller.ts";

export class Turns<F extends Flow> {
  readonly #inTurn = new Set<F>();
  readonly #waiting = new Set<F>();
  #rankOf: RankOf | undefined;

  get size(): number {
    return this.#inTurn.size + this.#waiting.size;
  }

  setOrder(rankOf: RankOf | undefined): void {
    this.#rankOf = rankOf;
  }

  has(flow: F): boolean {
    return this.#inTurn.has(flow) || this.#waiting.has(flow);
  }

  add(flow: F, isInTurn: boolean): void {
    (isInTurn ? this.#inTurn : this.#waiting).add(flow);
  }

  delete(flow: F): void {
    this.#inTurn.delete(flow);
    this.#waiting.delete(flow);
  }

  first(): F | undefined {
    if (this.#rankOf === undefined)
      return this.#inTurn.values().next().value ?? this.#waiting.values().next().value;
    let first: F | undefined;
    let rank = Infinity;
    for (const waiting of [this.#inTurn, this.#waiting])
      for (const flow of waiting) {
        const own = this.#rankOf(flow.siteId);
        if (own >= rank) continue;
        first = flow;
        rank = own;
      }
    return first;
  }

  /** Whether it is the turn of one that does not wait yet. */
  goesFirst({ siteId }: F): boolean {
    const first = this.first();
    if (first === undefined) return true;
    return this.#rankOf !== undefined && this.#rankOf(siteId) < this.#rankOf(first.siteId);
  }

  /** Whether somebody waits whose turn comes before the site's. */
  isBefore(siteId: number): boolean {
    const first = this.#rankOf === undefined ? undefined : this.first();
    return first !== undefined && this.#rankOf !== undefined
      ? this.#rankOf(first.siteId) < this.#rankOf(siteId)
      : false;
  }

  /** The flows of which none ranks behind the site: their turn comes no later than its own. */
  *notBehind(siteId: number, flows: Iterable<F>): Generator<F> {
    const rank = this.#rankOf?.(siteId) ?? Infinity;
    for (const flow of flows) if ((this.#rankOf?.(flow.siteId) ?? 0) <= rank) yield flow;
  }

  get isRanked(): boolean {
    return this.#rankOf !== undefined;
  }
}
