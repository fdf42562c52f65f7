/**
 * Has pages read a few at a time, with a look at the line in between.
 *
 * Reading a page takes up to half a millisecond. A hundred answers that are there at once would be read in one go,
 * and for that long no socket would be served: what a limit lets come in that time is lost to it, and what
 * comes all the same has been asked for blindly. So under a limit a page waits until the line has been served
 * since others were read for a moment: of small pages several, since serving the line takes as long as reading one
 * of them. How many wait is bounded by the fetch loop, as for all that is not yet noted.
 */

import type { Clock } from "../../base/clock.ts";

/** For so long pages are read before the line is served again; and no more than so many of them. */
const TURN_MS = 0.3;
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
