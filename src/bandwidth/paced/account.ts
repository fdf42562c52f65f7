/**
 * A rate as an account: bytes are earned by time and spent by what comes.
 *
 * What is not spent is lost beyond a small burst, so silence saves nothing up for a flood. What is
 * lost at once, because our own program stood still, or because what was paid for did not come and was
 * given back, is remembered up to a twentieth of a second and made good a little at a time: the mean comes
 * out even, and no second spills.
 *
 * Promise: spent by any moment <= burst + rate * time + what was spent without asking, and that is
 * earned back before anything else is granted.
 *
 * O(1) everything.
 */

import { assert } from "../../base/assert.ts";
import { Gauge } from "./gauge.ts";
import { LastSecond } from "./last-second.ts";

/** How much faster losses are made good, and how much of them is remembered, in seconds. */
const CATCH_UP_SHARE = 0.02;
const LOSS_SECONDS_MAX = 0.05;
/** Nobody reads on who could wait, once the last second has had so much of the rate; */
const SECOND_SHARE_MAX = 1.015;
/** and nobody begins: a little later, since readers would leave nothing for those who have not begun. */
const SECOND_SHARE_MAX_BEGIN = 1.02;
/** What packets add varies by so much, and unsettles nothing. */
const SAME_RATE_SHARE = 0.05;
/** Of what was missed, no more than this part of a second is paid for at a time. */
const MISSED_SHARE_MAX = 0.1;

export class Account {
  #rateBps: number;
  #burstBytes: number;
  #balanceBytes = 0;
  #lostBytes = 0;
  #unusedBytes = 0;
  #second = new LastSecond();
  #spentBytes = 0;
  readonly #gauge = new Gauge();
  #atMs: number;

  constructor(nowMs: number, rateBps: number, burstBytes: number) {
    assert(rateBps > 0 && burstBytes >= 0, "an account earns something");
    this.#rateBps = rateBps;
    this.#burstBytes = burstBytes;
    this.#atMs = nowMs;
  }

  get rateBps(): number {
    return this.#rateBps;
  }

  setRate(nowMs: number, rateBps: number, burstBytes: number): void {
    assert(rateBps > 0 && burstBytes >= 0, "an account earns something");
    this.#accrue(nowMs);
    const isOther = Math.abs(rateBps / this.#rateBps - 1) > SAME_RATE_SHARE;
    if (isOther) {
      // What was saved or owed at the old rate would be a flood or a drought at the new one.
      const scale = Math.min(1, rateBps / this.#rateBps);
      this.#balanceBytes = Math.min(burstBytes, this.#balanceBytes * scale);
      this.#lostBytes = 0;
      this.#second = new LastSecond();
    }
    this.#rateBps = rateBps;
    this.#burstBytes = burstBytes;
  }

  /** What was earned and lost because nobody spent it, since this was last asked. */
  takeUnused(): number {
    const bytes = this.#unusedBytes;
    this.#unusedBytes = 0;
    return bytes;
  }

  balanceBytes(nowMs: number): number {
    this.#accrue(nowMs);
    return this.#balanceBytes;
  }

  /** What was spent beyond what has been earned. */
  owedBytes(nowMs: number): number {
    return Math.max(0, -this.balanceBytes(nowMs));
  }

  /** Whether there is anything to spend for somebody who could wait. */
  hasSome(nowMs: number): boolean {
    return this.balanceBytes(nowMs) > 0 && !this.#isSecondFull(nowMs);
  }

  /** When there will be. */
  hasSomeAtMs(nowMs: number): number {
    return this.#isSecondFull(nowMs) ? this.#second.changesAtMs(nowMs) : this.hasAtMs(1);
  }

  /** Whether something may begin that cannot be refused once it is under way, and needs such a balance. */
  mayBegin(nowMs: number, neededBytes: number): boolean {
    return (
      this.balanceBytes(nowMs) > neededBytes && !this.#isSecondFull(nowMs, SECOND_SHARE_MAX_BEGIN)
    );
  }

  #isSecondFull(nowMs: number, shareMax = SECOND_SHARE_MAX): boolean {
    return this.#second.bytes(nowMs) > shareMax * this.#rateBps;
  }

  /**
   * Spends, or gives back when negative; the balance may go below zero. What is given back beyond the burst was
   * earned a moment ago and is no saving: it is made good like other losses.
   */
  spend(bytes: number): void {
    this.#spentBytes += bytes;
    if (!this.#gauge.isRead) this.#second.add(this.#atMs, bytes);
    this.#take(bytes);
  }

  /**
   * What the line has carried in all, by its own counters, of which the last second is known by them from now on; and what
   * was spent ahead and has not come. Where it carried more than was spent, that is paid for now. undefined:
   * nobody can tell any more.
   */
  carried(nowMs: number, lineBytes: number | undefined, aheadBytes: number): void {
    this.#accrue(nowMs);
    if (this.#gauge.isRead !== (lineBytes !== undefined)) this.#second = new LastSecond();
    const read = this.#gauge.read(nowMs, lineBytes, this.#spentBytes - aheadBytes);
    if (read === undefined) return;
    this.#second.add(nowMs, read.cameBytes);
    const mostBytes = MISSED_SHARE_MAX * this.#rateBps;
    this.#take(Math.max(-mostBytes, Math.min(mostBytes, read.missedBytes)));
  }

  #take(bytes: number): void {
    this.#balanceBytes -= bytes;
    const over = this.#balanceBytes - this.#burstBytes;
    // Where the line is read, what it carried in the last second keeps that from spilling, and nothing need be lost.
    if (over <= 0 || this.#gauge.isRead) return;
    this.#balanceBytes = this.#burstBytes;
    this.#remember(over);
  }

  /** When the balance will have come to this; the past when it has. */
  hasAtMs(bytes: number): number {
    return this.#atMs + ((bytes - this.#balanceBytes) * 1000) / this.#rateBps;
  }

  #accrue(nowMs: number): void {
    const wasShort = this.#balanceBytes < this.#burstBytes / 2;
    const earned = (Math.max(0, nowMs - this.#atMs) * this.#rateBps) / 1000;
    this.#atMs = Math.max(this.#atMs, nowMs);
    const made = Math.min(this.#lostBytes, earned * CATCH_UP_SHARE);
    this.#lostBytes -= made;
    const room = Math.max(0, this.#burstBytes - this.#balanceBytes);
    const over = earned + made - room;
    this.#balanceBytes += Math.min(earned + made, room);
    if (over <= 0) return;
    this.#unusedBytes += over;
    // Nobody stood still who had more than enough all the time: there was nothing to spend it on. Where the line is
    // read, also that can be made good, since no second has more than its part.
    if (wasShort || this.#gauge.isRead) this.#remember(over);
  }

  #remember(bytes: number): void {
    this.#lostBytes = Math.min(this.#lostBytes + bytes, LOSS_SECONDS_MAX * this.#rateBps);
  }
}

/** An account at a new rate: what it owes or has is kept, as far as the new burst holds it. */
export function atRate(
  nowMs: number,
  account: Account | undefined,
  rateBps: number,
  burstShare: number,
): Account {
  const burstBytes = rateBps * burstShare;
  if (account === undefined) return new Account(nowMs, rateBps, burstBytes);
  account.setRate(nowMs, rateBps, burstBytes);
  return account;
}
