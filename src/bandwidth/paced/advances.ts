/**
 * Who was paid for in advance and does not bring it: quick servers that do not answer, and bodies that stand still.
 *
 * What they keep, others could have: it is taken back, and they pay when it comes.
 *
 * O(1) everything.
 */

import { QUICK_MS } from "./departures.ts";
import { Reminders } from "./reminders.ts";

/** A body that brings nothing for so long stands still. */
export const STILL_MS = 100;
/** Longer than this between two looks, although one was due every 10 ms: it is we who stood still. */
const WE_STOOD_STILL_MS = 30;

/** A download as whoever pays in advance knows it. */
export interface AdvancedFlow {
  /** When anything of it came last, or it was last let go on. */
  readonly movedAtMs: number;
}

export class Advances<F extends AdvancedFlow> {
  readonly #unanswered = new Reminders<F>(QUICK_MS);
  readonly #unmoved = new Reminders<F>(STILL_MS);
  #lookedAtMs = 0;

  asked(nowMs: number, flow: F): void {
    this.#unanswered.add(nowMs, flow);
  }

  answered(nowMs: number, flow: F): void {
    this.#unanswered.delete(flow);
    this.#unmoved.add(nowMs, flow);
  }

  granted(nowMs: number, flow: F): void {
    this.#unmoved.add(nowMs, flow);
  }

  delete(flow: F): void {
    this.#unanswered.delete(flow);
    this.#unmoved.delete(flow);
  }

  /** Those from whom it is to be taken back now. */
  *take(nowMs: number): Generator<F> {
    const sinceMs = nowMs - this.#lookedAtMs;
    this.#lookedAtMs = nowMs;
    // What came while we stood still has not been read yet, so it looks as if nothing had.
    if (sinceMs > WE_STOOD_STILL_MS) return;
    yield* this.#unanswered.take(nowMs);
    for (const flow of this.#unmoved.take(nowMs))
      if (nowMs - flow.movedAtMs < STILL_MS) this.#unmoved.add(flow.movedAtMs, flow);
      else yield flow;
  }
}
