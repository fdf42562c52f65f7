/**
 * Time as an injected dependency: all code that waits or reads the time receives a `Clock`.
 *
 * `nowMs` is monotonic with an arbitrary start; delays, budgets and deadlines use only it, so that a
 * jump of the wall clock causes no burst. `wallMs` is for dates in output.
 */

import { assert } from "./assert.ts";

export interface Clock {
  nowMs(): number;
  wallMs(): number;
  /** Calls back once after `delayMs`, never for Infinity; the returned function cancels it. */
  after(delayMs: number, callBack: () => void): () => void;
  /** Calls back after all events that are ready now. */
  soon(callBack: () => void): void;
}

/** The longest delay of `setTimeout`, 24.8 days; it fires a longer one after 1 ms. */
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

/** Waits until the delay ends or the signal aborts; never throws, so loops must check the signal themselves. */
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
