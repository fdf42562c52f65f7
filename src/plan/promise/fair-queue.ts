/**
 * Keeps sites to the rates a plan gave them, without ever leaving the line idle: says who goes first.
 *
 * A plan's rates are hopes: a server gives less than foreseen, another one more. So a rate is no
 * ceiling here but a claim, and there are three kinds. A site that is to have all its server gives goes
 * before the others, in the plan's order, whatever that comes to. A site with a part of what it could
 * take has a clock of its own that runs forward by the seconds its bytes would take at its rate, and
 * whose clock is behind goes first (start-time fair queueing, Goyal, Vin and Cheng 1996). Sites
 * without a rate come after all of these, in the plan's order: what is left over is lent to them at
 * once. And because nobody can plan for a server that was never asked, a claim may have a head start:
 * so many requests come before everything else.
 *
 * Promises, each held by a test in `shares.test.ts`:
 *   1. sites with a part, that can all take more, get bytes in proportion to their rates;
 *   2. a site without a rate goes before none that has one, and a site with all it can take after none
 *      but those before it in the plan and those with a head start;
 *   3. who could not use its share for a while does not keep others waiting for it later.
 *
 * O(1) a question; O(sites) for a new plan.
 */

import { assert } from "../../base/assert.ts";

export interface Claim {
  readonly siteId: number;
  /** What the plan gives it now; 0 for nothing but what others leave, Infinity for all it can take. */
  readonly rateBps: number;
  /** So many requests come before everything else. */
  readonly headStart: number;
  /** All it can take of what those before it leave: that tells nothing of its server. */
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

/** How far behind a site's clock may fall: so long, at most, it goes before all others to catch up. */
const BEHIND_SECONDS_MAX = 0.5;
/** Where ranks of each kind begin; clocks lie between, places are added. */
const HEAD_START = -2e9;
const ALL_IT_CAN = -1e9;
const WITHOUT_RATE = 1e12;
const UNPLANNED = 2e12;

export class Shares {
  readonly #shares = new Map<number, Share>();
  /** The clock of whoever was served last. */
  #nowSeconds = 0;
  #runningMax = Infinity;

  /** Takes a new plan: claims in the order in which leftover goes to them, at most so many at once. */
  set(claims: readonly Claim[], runningMax = Infinity): void {
    const before = new Map(this.#shares);
    this.#shares.clear();
    this.#runningMax = runningMax;
    for (const [place, { siteId, rateBps, headStart, isRest = false }] of claims.entries()) {
      assert(rateBps >= 0, "a rate is never negative");
      // A claim that is only now begun starts where the others are.
      const known = before.get(siteId);
      const clockSeconds = known?.rateBps ? known.clockSeconds : this.#nowSeconds;
      this.#shares.set(siteId, { rateBps, place, clockSeconds, headStart, isRest });
    }
  }

  /** Counts bytes that were asked for, or came beyond that; less than nothing when fewer came. */
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

  /** Whether nobody's share holds the site back: what it gets now is what its server gives. */
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
