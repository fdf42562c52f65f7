/**
 * Reads pages a few at a time, and serves sockets in between.
 *
 * Reading a page takes up to half a millisecond. During a hundred pages in a row no socket would be served, and that
 * part of the limit would be lost. The fetch loop bounds the number of waiting pages.
 */

import type { Clock } from "../../base/clock.ts";

/** Time in milliseconds for which pages are read before sockets are served. */
const TURN_MS = 0.3;
/** Most pages that are read before sockets are served. */
const TURN_PAGES_MAX = 8;

export class PageSlices {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  next(): Promise<void> {
    return new Promise((goOn) => {
      this.#waiting.push(goOn);
      if (this.#waiting.length === 1) this.#arm();
    });
  }

  #arm(): void {
    this.#clock.soon(() => this.#read(this.#clock.nowMs() + TURN_MS, TURN_PAGES_MAX));
  }

  #read(untilMs: number, pagesMax: number): void {
    this.#waiting.shift()?.();
    if (this.#waiting.length === 0) return;
    // By then that page has been read.
    queueMicrotask(() => {
      if (pagesMax > 1 && this.#clock.nowMs() < untilMs) this.#read(untilMs, pagesMax - 1);
      else this.#arm();
    });
  }
}
