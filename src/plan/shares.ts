/**
 * Keeps sites to the rates a plan gave them, without ever leaving the line idle: says who goes first.
 *
 * A plan's rates are hopes: a server gives less than foreseen, another one more. So a rate is no
 * ceiling here but a claim. Every site with a rate has a clock of its own that runs forward by the
 * seconds its bytes would take at that rate, and the site whose clock is behind goes first (start-time
 * fair queueing, Goyal, Vin and Cheng 1996). Sites without a rate now come after all of these, in the
 * plan's order: whatever is left over is lent to them at once.
 *
 * Promises, each held by a test in `shares.test.ts`:
 *   1. sites that can all take more get bytes in proportion to their rates;
 *   2. a site without a rate goes before none that has one;
 *   3. who could not use its share for a while does not keep others waiting for it later.
 *
 * O(1) a question; O(sites) for a new plan.
 */

import { assert } from "../base/assert.ts";

export interface Claim {
  readonly siteId: number;
  /** What the plan gives it now; 0 for nothing but what others leave. */
  readonly rateBps: number;
}

interface Share {
  rateBps: number;
  /** Its place in the plan's order. */
  place: number;
  clockSeconds: number;
}

/** How far behind a site's clock may fall: so long, at most, it goes before all others to catch up. */
const BEHIND_SECONDS_MAX = 0.5;
/** All ranks of sites with a rate are below this. */
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
    for (const [place, { siteId, rateBps }] of claims.entries()) {
      assert(rateBps >= 0, "a rate is never negative");
      // A claim that is only now begun starts where the others are.
      const known = before.get(siteId);
      const clockSeconds = known?.rateBps ? known.clockSeconds : this.#nowSeconds;
      this.#shares.set(siteId, { rateBps, place, clockSeconds });
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

  /** The lowest goes first. */
  rankOf(siteId: number): number {
    const share = this.#shares.get(siteId);
    if (share === undefined) return UNPLANNED;
    return share.rateBps > 0 ? share.clockSeconds : WITHOUT_RATE + share.place;
  }

  /** Whether the site is among those that may be crawled at the same time. */
  mayRun(siteId: number): boolean {
    if (this.#runningMax === Infinity) return true;
    const share = this.#shares.get(siteId);
    return share !== undefined && share.place < this.#runningMax;
  }
}
