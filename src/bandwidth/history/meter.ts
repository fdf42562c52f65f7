/**
 * Counts received bytes by the second: what the crawl takes of the line, as it goes.
 *
 * Windows are whole seconds since the meter was made. The last minute is kept for showing; of all
 * earlier ones only what the result needs. A second is held to the highest limit in force in it.
 *
 * O(1) a count; 60 numbers.
 */

import { assert } from "../../base/assert.ts";

const KEPT_SECONDS = 60;
/** The share of the limit beyond which a second counts as over it. */
const OVER_SHARE = 1.05;

export class Meter {
  readonly #startMs: number;
  readonly #recent = new Float64Array(KEPT_SECONDS);
  #second = 0;
  #bytes = 0;
  #worstBps = 0;
  #limitBps: number | undefined;
  /** The highest limit in force since this second began; Infinity for none. */
  #heldToBps = Infinity;
  #worstShare: number | undefined;
  #secondsOver = 0;

  constructor(nowMs: number) {
    this.#startMs = nowMs;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The most bytes in any whole second so far. */
  get worstBps(): number {
    return this.#worstBps;
  }

  /** The worst second as a share of its limit; undefined when none was held to one. */
  get worstShare(): number | undefined {
    return this.#worstShare;
  }

  /** Seconds more than 5 % above their limit. */
  get secondsOver(): number {
    return this.#secondsOver;
  }

  setLimit(nowMs: number, limitBps: number | undefined): void {
    this.#advance(nowMs);
    this.#limitBps = limitBps;
    this.#heldToBps = Math.max(this.#heldToBps, limitBps ?? Infinity);
  }

  count(nowMs: number, bytes: number): void {
    assert(bytes >= 0, "bytes come, they do not go");
    this.#advance(nowMs);
    const window = this.#second % KEPT_SECONDS;
    this.#recent[window] = (this.#recent[window] as number) + bytes;
    this.#bytes += bytes;
  }

  /** Bytes in each of the last whole seconds, oldest first; at most a minute of them. */
  recentBps(nowMs: number): number[] {
    this.#advance(nowMs);
    const whole = Math.min(this.#second, KEPT_SECONDS - 1);
    return Array.from(
      { length: whole },
      (_, index) => this.#recent[(this.#second - whole + index) % KEPT_SECONDS] as number,
    );
  }

  #advance(nowMs: number): void {
    const second = Math.floor((nowMs - this.#startMs) / 1000);
    // After a long silence every window is empty, so no more than one round has to be wiped.
    const steps = Math.min(second - this.#second, KEPT_SECONDS);
    for (let step = 0; step < steps; step++) {
      const ended = this.#recent[(this.#second + step) % KEPT_SECONDS] as number;
      this.#judge(ended);
      this.#recent[(this.#second + step + 1) % KEPT_SECONDS] = 0;
    }
    if (steps > 0) {
      if (steps === KEPT_SECONDS) this.#recent.fill(0);
      this.#second = second;
    }
  }

  #judge(bytes: number): void {
    this.#worstBps = Math.max(this.#worstBps, bytes);
    if (this.#heldToBps !== Infinity) {
      const share = bytes / this.#heldToBps;
      this.#worstShare = Math.max(this.#worstShare ?? 0, share);
      if (share > OVER_SHARE) this.#secondsOver += 1;
    }
    this.#heldToBps = this.#limitBps ?? Infinity;
  }
}
