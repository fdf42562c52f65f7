/**
 * Keeps sites at the rates of a plan without leaving the line idle: decides which site is next.
 *
 * A plan's rates are estimates: a server delivers less or more. So a rate is no ceiling here but a claim, and there are three kinds. A site that is to have all its server gives goes
 * before the others, in the plan's order, whatever that comes to. A site with a part of what it could
 * take has a clock of its own that runs forward by the seconds its bytes would take at its rate, and the site with the earliest clock goes first (start-time fair queueing, Goyal, Vin and Cheng 1996). Sites
 * without a rate come after all of these, in the plan's order: what is left over is lent to them at
 * once. And because there is no plan for a server that was never measured, a claim may have a head start:
 * so many requests come before everything else.
 *
 * Promises, each held by a test in `fair-queue.test.ts`:
 *   1. sites with a part, that can all take more, get bytes in proportion to their rates;
 *   2. a site without a rate goes before none that has one, and a site with all it can take after none
 *      but those before it in the plan and those with a head start;
 *   3. a site that could not use its share for a while does not keep others waiting for it later.
 *
 * O(1) a question; O(sites) for a new plan.
 */

import { assert } from "../../base/assert.ts";

export interface Claim {
  readonly siteId: number;
  /** Its rate in the plan; 0 for leftovers only, Infinity for its full rate. */
  readonly rateBps: number;
  /** This many requests come before everything else. */
  readonly headStart: number;
  /** It gets what the sites before it leave, which says nothing about its server. */
  readonly isRest?: boolean;
}

interface Share {
  rateBps: number;
  /** Its place in the plan's order. */
  place: number;
  clockSeconds: number;
  headStart: number;
  isRest: boolean;
}

/**
 * How far a site's clock may fall behind: the longest time for which it precedes all others to
 * catch up.
 */
const BEHIND_SECONDS_MAX = 0.5;
/** Where ranks of each kind start; clocks are in between, places are added. */
const HEAD_START = -2e9;
const ALL_IT_CAN = -1e9;
const WITHOUT_RATE = 1e12;
const UNPLANNED = 2e12;

export class Shares {
  readonly #shares = new Map<number, Share>();
  /** The clock of the site that was served last. */
  #nowSeconds = 0;
  #runningMax = Infinity;

  /**
   * Sets a new plan: claims in the order in which they get leftover rate, at most `runningMax`
   * sites at once.
   */
  set(claims: readonly Claim[], runningMax = Infinity): void {
    const before = new Map(this.#shares);
    this.#shares.clear();
    this.#runningMax = runningMax;
    for (const [place, { siteId, rateBps, headStart, isRest = false }] of claims.entries()) {
      assert(rateBps >= 0, "a rate is never negative");
      // A new claim starts at the clock of the others.
      const known = before.get(siteId);
      const clockSeconds = known?.rateBps ? known.clockSeconds : this.#nowSeconds;
      this.#shares.set(siteId, { rateBps, place, clockSeconds, headStart, isRest });
    }
  }

  /** Counts requested bytes, or those received beyond that; negative when fewer arrived. */
  charge(siteId: number, bytes: number): void {
    const share = this.#shares.get(siteId);
    if (share === undefined || share.rateBps === 0) return;
    const beganSeconds = Math.max(share.clockSeconds, this.#nowSeconds - BEHIND_SECONDS_MAX);
    if (bytes > 0) this.#nowSeconds = Math.max(this.#nowSeconds, beganSeconds);
    share.clockSeconds = beganSeconds + bytes / share.rateBps;
  }

  /** One of its requests has ended. */
  ended(siteId: number): void {
    const share = this.#shares.get(siteId);
    if (share !== undefined) share.headStart -= 1;
  }

  /** Whether no claim limits the site: its current rate is that of its server. */
  isFree(siteId: number): boolean {
    const share = this.#shares.get(siteId);
    return (
      share !== undefined && (share.headStart > 0 || (share.rateBps === Infinity && !share.isRest))
    );
  }

  /** The lowest goes first. */
  rankOf(siteId: number): number {
    const share = this.#shares.get(siteId);
    if (share === undefined) return UNPLANNED;
    if (share.headStart > 0) return HEAD_START + share.place;
    if (share.rateBps === Infinity) return ALL_IT_CAN + share.place;
    return share.rateBps > 0 ? share.clockSeconds : WITHOUT_RATE + share.place;
  }

  /** Whether the site is among those that may be crawled at the same time. */
  mayRun(siteId: number): boolean {
    if (this.#runningMax === Infinity) return true;
    const share = this.#shares.get(siteId);
    return share !== undefined && share.place < this.#runningMax;
  }
}
