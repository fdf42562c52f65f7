/**
 * Turns for work that can wait: one piece at a time, and at most a tenth of the crawl's thread.
 *
 * A page of 8 MiB can hold 500,000 links, whose admission takes seconds. Forty such pages at once would leave little
 * time for the requests of other sites.
 */

import { type Clock, sleep } from "../base/clock.ts";

/** The pause after a piece, in multiples of the time that it took. */
const PAUSE_PER_WORK = 9;

export class LaterTurns {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #last: Promise<void> = Promise.resolve();

  /** Once the signal is aborted, there are no pauses. */
  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Does the work when its turn has come. */
  async take(work: () => void): Promise<void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    const startedMs = this.#clock.nowMs();
    try {
      work();
    } finally {
      const pauseMs = PAUSE_PER_WORK * (this.#clock.nowMs() - startedMs);
      void sleep(this.#clock, pauseMs, this.#signal).then(resolve);
    }
  }
}
