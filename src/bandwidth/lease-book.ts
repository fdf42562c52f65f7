/**
 * Lends one amount to many holders, so that together they never have more than there is.
 *
 * The amount is a rate shared by processes, or a number of pages. What was lent can be made less at any
 * time, but its holder may not know that yet. So a smaller grant frees something only when its holder has confirmed it, or when all its grants have expired on the book's clock; until then the larger one counts. What is free goes to others, never more.
 *
 * Promises, each held by a test in `lease-book.test.ts`:
 *   1. whatever is lost, repeated or late: what holders go by adds up to the total at most, once a
 *      total that was made less has been heard of;
 *   2. an unused share is lent to a holder that can use it, as soon as it has been given back.
 *
 * O(holders) a grant.
 */

import { assert } from "../base/assert.ts";

interface Grant {
  readonly number: number;
  readonly amount: number;
  readonly endsAtMs: number;
}

export interface Claim {
  readonly holder: string;
  /** The most it could use at present; Infinity for all there is. */
  readonly ceiling: number;
  /** What it needs before anybody gets more, for promises; 0 by default. */
  readonly floor?: number;
}

export class LeaseBook {
  #total: number;
  /** What each holder may go by, oldest first; the last is what it should. */
  readonly #grants = new Map<string, Grant[]>();

  constructor(total: number) {
    this.#total = total;
  }

  get total(): number {
    return this.#total;
  }

  setTotal(total: number): void {
    assert(total >= 0, "nobody owes what is lent");
    this.#total = total;
  }

  /** What it may go by at most, as far as the book can know. */
  heldBy(holder: string, nowMs: number): number {
    return this.#live(holder, nowMs).reduce((most, { amount }) => Math.max(most, amount), 0);
  }

  /** Lends as much of what is wanted as is free; answers how much. `reserved` is not free for anybody. */
  grant(
    holder: string,
    nowMs: number,
    wanted: number,
    terms: Omit<Grant, "amount"> & { readonly reserved?: number },
  ): number {
    const { number, endsAtMs, reserved = 0 } = terms;
    let others = reserved;
    for (const other of this.#grants.keys())
      if (other !== holder) others += this.heldBy(other, nowMs);
    const amount = Math.max(0, Math.min(wanted, this.#total - others));
    this.#grants.set(holder, [...this.#live(holder, nowMs), { number, endsAtMs, amount }]);
    return amount;
  }

  /** What the holder may go by in any case: beside a grant, or from before this book. */
  add(holder: string, grant: Grant): void {
    this.#grants.set(holder, [...(this.#grants.get(holder) ?? []), grant]);
  }

  /** The holder goes by this grant, so it has forgotten all before it. */
  heard(holder: string, number: number): void {
    const grants = this.#grants.get(holder);
    if (grants !== undefined)
      this.#grants.set(
        holder,
        grants.filter((grant) => grant.number >= number),
      );
  }

  /** It is known to be gone: whatever it had ends then, if not before. */
  leave(holder: string, endsAtMs: number): void {
    const grants = this.#grants.get(holder) ?? [];
    const sooner = (grant: Grant): Grant => {
      const { number, amount } = grant;
      return { number, amount, endsAtMs: Math.min(grant.endsAtMs, endsAtMs) };
    };
    this.#grants.set(holder, grants.map(sooner));
  }

  #live(holder: string, nowMs: number): Grant[] {
    return (this.#grants.get(holder) ?? []).filter(({ endsAtMs }) => endsAtMs > nowMs);
  }
}

/**
 * Divides an amount by claims: first what each needs, all alike less where that is too much; then equal
 * parts, never above what one can use; the rest is spread when all have enough, so that a holder that needs more has it in advance.
 */
export function divide(total: number, claims: readonly Claim[]): Map<string, number> {
  const floors = claims.map(({ ceiling, floor = 0 }) => Math.min(ceiling, floor));
  const needed = floors.reduce((sum, floor) => sum + floor, 0);
  const scale = needed > total ? total / needed : 1;
  const rest = claims.map(({ holder, ceiling }, index) => {
    const floor = (floors[index] as number) * scale;
    return { holder, ceiling: ceiling - floor };
  });
  const shares = divideEqually(total - needed * scale, rest);
  for (const [index, { holder }] of claims.entries())
    shares.set(holder, (shares.get(holder) ?? 0) + (floors[index] as number) * scale);
  return shares;
}

function divideEqually(total: number, claims: readonly Claim[]): Map<string, number> {
  const shares = new Map<string, number>();
  let left = total;
  let count = claims.length;
  for (const { holder, ceiling } of claims.toSorted((a, b) => a.ceiling - b.ceiling)) {
    const share = Math.min(ceiling, left / count);
    shares.set(holder, share);
    left -= share;
    count -= 1;
  }
  const spareEach = claims.length === 0 ? 0 : Math.max(0, left) / claims.length;
  for (const [holder, share] of shares) shares.set(holder, share + spareEach);
  return shares;
}
