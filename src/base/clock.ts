/**
 * Time, as a socket: everything that waits or asks the hour is handed one of these.
 *
 * `nowMs` is monotonic and starts anywhere; delays, budgets and deadlines use only it, so that a
 * jump of the wall clock bursts nothing. `wallMs` is for what leaves the program: dates in records.
 */

import { assert } from "./assert.ts";

export interface Clock {
  nowMs(): number;
  wallMs(): number;
  /** Calls back once after `delayMs`, for Infinity never; the answer cancels it. */
  after(delayMs: number, callBack: () => void): () => void;
  /** Calls back as soon as everything has been served that is ready now. */
  soon(callBack: () => void): void;
}

/** The longest delay that `setTimeout` knows, 24.8 days: it fires after 1 ms when given a longer one. */
export const TIMER_MAX_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  after(delayMs, callBack) {
    assert(!Number.isNaN(delayMs), "a delay is a number");
    let timer: NodeJS.Timeout;
    const arm = (leftMs: number): void => {
      timer =
        leftMs <= TIMER_MAX_MS
          ? setTimeout(callBack, leftMs)
          : setTimeout(() => arm(leftMs - TIMER_MAX_MS), TIMER_MAX_MS);
    };
    arm(delayMs);
    return () => clearTimeout(timer);
  },
  soon: (callBack) => void setImmediate(callBack),
};

/** Waits, or stops waiting when the signal aborts; never throws, so loops ask the signal themselves. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const finish = (): void => {
      cancel();
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const cancel = clock.after(delayMs, finish);
    signal?.addEventListener("abort", finish, { once: true });
  });
}
