/**
 * Has pages read one at a time, with a look at the line after each.
 *
 * Reading a page takes half a millisecond. A hundred answers that are there at once would be read in one go,
 * and for that long no socket would be served: what a limit lets come in that time is lost to it, and what
 * comes all the same has been asked for blindly. So under a limit a page waits until the line has been served
 * since the last one was read. How many wait is bounded by the fetch loop, as for all that is not yet noted.
 */

import type { Clock } from "../base/clock.ts";

export class PageTurns {
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
    this.#clock.soon(() => {
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#arm();
    });
  }
}
