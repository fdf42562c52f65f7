/**
 * What single sites may take, beside what all may: an account for each that has a limit of its own.
 *
 * O(1) everything, but for O(sites) when there are too many to remember.
 */

import { type Account, atRate } from "./account.ts";

const SITES_MAX = 4096;

interface OfSite {
  readonly siteId: number;
}

export class SiteAccounts {
  readonly #burstShare: number;
  readonly #accounts = new Map<number, Account>();

  constructor(burstShare: number) {
    this.#burstShare = burstShare;
  }

  /** `busy`: the sites of downloads under way. Others have nothing to hold, and get an account again when they do. */
  setRate(
    nowMs: number,
    siteId: number,
    rateBps: number | undefined,
    busy: () => ReadonlySet<number>,
  ): void {
    if (rateBps === undefined) return void this.#accounts.delete(siteId);
    const account = this.#accounts.get(siteId);
    if (account?.rateBps === rateBps) return;
    if (account === undefined && this.#accounts.size >= SITES_MAX) this.#forgetOthers(busy());
    this.#accounts.set(siteId, atRate(nowMs, account, rateBps, this.#burstShare));
  }

  /** The most that it may take. */
  rateBps({ siteId }: OfSite): number {
    return this.#accounts.get(siteId)?.rateBps ?? Infinity;
  }

  mayRead(nowMs: number, { siteId }: OfSite): boolean {
    const account = this.#accounts.get(siteId);
    return account === undefined || account.hasSome(nowMs);
  }

  /** When it may; undefined when nothing holds it. */
  mayReadAtMs(nowMs: number, { siteId }: OfSite): number | undefined {
    return this.#accounts.get(siteId)?.hasSomeAtMs(nowMs);
  }

  spend({ siteId }: OfSite, bytes: number): void {
    this.#accounts.get(siteId)?.spend(bytes);
  }

  #forgetOthers(busy: ReadonlySet<number>): void {
    for (const siteId of this.#accounts.keys())
      if (!busy.has(siteId)) this.#accounts.delete(siteId);
  }
}
