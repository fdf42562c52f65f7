/**
 * What the line has carried for us, at this moment, read or not: the counters of its interface, where it is ours.
 *
 * A program knows what it has read. What lies unread, what packets add and what was sent twice is on the line all
 * the same, and its interface has counted it already. But it counts for everybody: when more came than we have read
 * and our windows can hold, others use the line too, and then it tells nothing of us at a moment.
 *
 * What came beyond what we read is added up, less a little for what is sent twice, so that windows that fill once
 * are soon forgiven and a neighbour who keeps taking is noticed, however little; until then we make room for it.
 * One small file a look.
 */

import { CountedSteps, type LineCounters } from "./line-counters.ts";

/** What others may have beside what we read, without disturbing. */
const FOREIGN_SHARE_MAX = 0.05;
/** Who has gone is remembered for ten times as long. */
const REMEMBERED_SECONDS = 0.5;

export class LineGauge {
  readonly #steps: CountedSteps;
  readonly #heldBytesMax: () => number;
  /** What came beyond what we read. */
  #beyondBytes = 0;

  /** `heldBytesMax`: what all our connections together may hold unread. */
  constructor(readCounters: () => readonly LineCounters[], heldBytesMax: () => number) {
    this.#steps = new CountedSteps(readCounters);
    this.#heldBytesMax = heldBytesMax;
  }

  /** Bytes received since the last call, while we read `ownBytes`; undefined if unknown. */
  take(ownBytes: number, limitBps: number): number | undefined {
    const { bytes, headerBytes, isPrompt } = this.#steps.take();
    const heldBytes = this.#heldBytesMax();
    const moreBytes = bytes - headerBytes - ownBytes * (1 + FOREIGN_SHARE_MAX);
    const mostBytes = heldBytes + REMEMBERED_SECONDS * limitBps;
    this.#beyondBytes = Math.max(0, Math.min(mostBytes, this.#beyondBytes + moreBytes));
    return isPrompt && this.#beyondBytes <= heldBytes ? bytes : undefined;
  }
}
