/**
 * Estimates a process's use of its rate, and whether it could use more: the basis of its next share.
 *
 * Pure. A tenth of a second with few bytes does not mean lack of work, since servers may be slow. So the estimate is the
 * higher of the last interval and of about the last second: it rises at once, and falls slowly while there is work.
 */

import type { Report } from "./messages.ts";

/** A process that uses more than this share of its rate could use more. */
const HUNGRY_SHARE = 0.85;
const USUAL_SECONDS = 1;

interface Circumstances {
  readonly limitBps: number;
  /** Downloads whose reading waits for the limit. */
  readonly waitingReaders: number;
  /** It has no work. */
  readonly isDry: boolean;
}

export class UsageEstimate {
  #bytesBefore = 0;
  #usualBps = 0;
  #lookedAtMs: number;

  constructor(nowMs: number) {
    this.#lookedAtMs = nowMs;
  }

  /** `bytes`: all received so far. */
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
