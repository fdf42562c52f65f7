/**
 * What the line has carried for us, at this moment, read or not: the counters of its interface, where it is ours.
 *
 * A program knows what it has read. What lies unread, what packets add and what was sent twice is on the line all
 * the same, and its interface has counted it already. But it counts for everybody: when more came than we have read
 * and our windows can hold, others use the line too, and then it tells nothing of us at a moment.
 *
 * The past is forgotten by bytes, as in `packet-overhead.ts`. One small file a look.
 */

import { CountedSteps, type LineCounters } from "./line-counters.ts";

/** How much is remembered, and what others may have of it without disturbing. */
const MEMORY_SECONDS = 4;
const FOREIGN_SHARE_MAX = 0.05;

export class LineGauge {
  readonly #steps: CountedSteps;
  readonly #heldBytesMax: () => number;
  #ownBytes = 0;
  #payloadBytes = 0;

  /** `heldBytesMax`: what all our connections together may hold unread. */
  constructor(readCounters: () => readonly LineCounters[], heldBytesMax: () => number) {
    this.#steps = new CountedSteps(readCounters);
    this.#heldBytesMax = heldBytesMax;
  }

  /** What came since it was last asked, while we read `ownBytes`; undefined where that cannot be told. */
  take(ownBytes: number, limitBps: number): number | undefined {
    const { bytes, headerBytes, isPrompt } = this.#steps.take();
    const kept = Math.exp(-bytes / (MEMORY_SECONDS * limitBps));
    this.#ownBytes = this.#ownBytes * kept + ownBytes;
    this.#payloadBytes = this.#payloadBytes * kept + Math.max(0, bytes - headerBytes);
    if (!isPrompt) return undefined;
    const foreignBytes = this.#payloadBytes - this.#ownBytes - this.#heldBytesMax();
    return foreignBytes > FOREIGN_SHARE_MAX * this.#payloadBytes ? undefined : bytes;
  }
}
