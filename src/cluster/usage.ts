/**
 * What a process uses of its part of the rate, and whether it could use more: what its next part is dealt by.
 *
 * Pure. A tenth of a second in which little came is no lack of work: its servers may be slow to answer. So what is used is the
 * more of the last moment and of the last second or so: it rises at once, and falls slowly while there is work.
 */

import type { Report } from "./messages.ts";

/** Above this share of its rate a process could use more. */
const HUNGRY_SHARE = 0.85;
const USUAL_SECONDS = 1;

interface Circumstances {
  readonly limitBps: number;
  /** Downloads that wait for us to read on. */
  readonly waitingReaders: number;
  /** There is nothing to do. */
  readonly isDry: boolean;
}

export class UsageEstimate {
  #bytesBefore = 0;
  #usualBps = 0;
  #lookedAtMs: number;

  constructor(nowMs: number) {
    this.#lookedAtMs = nowMs;
  }

  /** `bytes` in all have come by now. */
  look(
    nowMs: number,
    bytes: number,
    { limitBps, waitingReaders, isDry }: Circumstances,
  ): Pick<Report, "bytes" | "usedBps" | "isHungry"> {
    const seconds = (nowMs - this.#lookedAtMs) / 1000;
    const lastBps = seconds > 0 ? (bytes - this.#bytesBefore) / seconds : 0;
    this.#usualBps += Math.min(1, seconds / USUAL_SECONDS) * (lastBps - this.#usualBps);
    this.#bytesBefore = bytes;
    this.#lookedAtMs = nowMs;
    const usedBps = isDry ? lastBps : Math.max(lastBps, this.#usualBps);
    return { bytes, usedBps, isHungry: waitingReaders > 0 || usedBps > HUNGRY_SHARE * limitBps };
  }
}
