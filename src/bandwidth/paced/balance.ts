/**
 * Bytes that a rate has earned and that were not spent yet; negative when more was spent.
 *
 * At most a burst is saved, so a silence is not made up for by a flood. O(1), except that dropping balances of
 * idle sites is O(sites).
 */

import { assert } from "../../base/assert.ts";

/** Most bytes that can be saved, in seconds at the rate. */
const BURST_SECONDS = 0.03;
/** Number of sites with a limit of their own that are remembered while they have no download. */
const SITES_MAX = 4096;

export class Balance {
  readonly #burstSeconds: number;
  #rateBps: number;
  #bytes = 0;
  #atMs: number;

  constructor(nowMs: number, rateBps: number, burstSeconds = BURST_SECONDS) {
    assert(rateBps > 0, "a balance earns something");
    this.#rateBps = rateBps;
    this.#burstSeconds = burstSeconds;
    this.#atMs = nowMs;
  }

  get rateBps(): number {
    return this.#rateBps;
  }

  get burstBytes(): number {
    return this.#burstSeconds * this.#rateBps;
  }

  /** At a lower rate, savings and debts shrink in proportion: they would be a flood or a long pause. */
  setRate(nowMs: number, rateBps: number): void {
    assert(rateBps > 0, "a balance earns something");
    this.#bytes = this.bytes(nowMs) * Math.min(1, rateBps / this.#rateBps);
    this.#rateBps = rateBps;
  }

  bytes(nowMs: number): number {
    const earnedBytes = (Math.max(0, nowMs - this.#atMs) * this.#rateBps) / 1000;
    this.#atMs = Math.max(this.#atMs, nowMs);
    const mostBytes = Math.max(this.#bytes, this.burstBytes);
    this.#bytes = Math.min(mostBytes, this.#bytes + earnedBytes);
    return this.#bytes;
  }

  /** Spends bytes, or gives them back when negative. */
  spend(nowMs: number, bytes: number): void {
    this.bytes(nowMs);
    this.#bytes -= bytes;
  }

  /** When the balance is above zero. */
  positiveAtMs(): number {
    return this.#atMs + ((1 - this.#bytes) * 1000) / this.#rateBps;
  }
}

/** A balance at another rate; a new one where there was none. */
export function balanceAt(
  nowMs: number,
  balance: Balance | undefined,
  rateBps: number | undefined,
): Balance | undefined {
  if (rateBps === undefined) return undefined;
  if (balance === undefined) return new Balance(nowMs, rateBps);
  balance.setRate(nowMs, rateBps);
  return balance;
}

interface OfSite {
  readonly siteId: number;
}

/** The balances of the sites that have a limit of their own. */
export class SiteBalances {
  readonly #balances = new Map<number, Balance>();

  /** `busy`: sites with running downloads. Other sites have spent nothing lately, and may be forgotten. */
  setRate(
    nowMs: number,
    siteId: number,
    rateBps: number | undefined,
    busy: () => ReadonlySet<number>,
  ): void {
    const before = this.#balances.get(siteId);
    if (before?.rateBps === rateBps) return;
    const balance = balanceAt(nowMs, before, rateBps);
    if (balance === undefined) return void this.#balances.delete(siteId);
    if (before === undefined && this.#balances.size >= SITES_MAX) this.#forgetOthers(busy());
    this.#balances.set(siteId, balance);
  }

  /** Infinity for a site without a limit. */
  rateBps({ siteId }: OfSite): number {
    return this.#balances.get(siteId)?.rateBps ?? Infinity;
  }

  mayRead(nowMs: number, { siteId }: OfSite): boolean {
    return (this.#balances.get(siteId)?.bytes(nowMs) ?? Infinity) > 0;
  }

  mayReadAtMs(nowMs: number, { siteId }: OfSite): number {
    return this.#balances.get(siteId)?.positiveAtMs() ?? nowMs;
  }

  spend(nowMs: number, { siteId }: OfSite, bytes: number): void {
    this.#balances.get(siteId)?.spend(nowMs, bytes);
  }

  #forgetOthers(busy: ReadonlySet<number>): void {
    for (const siteId of this.#balances.keys())
      if (!busy.has(siteId)) this.#balances.delete(siteId);
  }
}
