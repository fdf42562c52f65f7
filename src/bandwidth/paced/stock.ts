/**
 * How many downloads to keep open: the bytes that they can deliver soon, and how many of these are wanted.
 *
 * Wanted is what the limit takes until a request made now is answered, and a margin that grows with the square root
 * of the sizes, as in staffing for random arrivals. A download's predicted speed counts until it has shown its own.
 *
 * O(1) per change, O(downloads) per recount.
 */

import { type Download, speedBps } from "./download.ts";

/** Time in milliseconds for which the stock lasts beyond the mean wait for a response. */
const SPARE_MS = 50;
/** Size of the margin, as a multiple of the square root of wanted bytes × expected bytes. */
const MARGIN = 4;
/** Weight of the last request in the mean wait for a response. */
const LAST_WAIT_SHARE = 0.01;

/** The most that a download may deliver, and whether it is paused. */
interface Allowed {
  readonly mostBps: number;
  readonly isPaused: boolean;
}

export class Stock {
  readonly #flows = new Set<Download>();
  readonly #allowedOf: (flow: Download) => Allowed;
  #bytes = 0;
  #meanWaitMs = 0;
  #waits = 0;

  constructor(allowedOf: (flow: Download) => Allowed) {
    this.#allowedOf = allowedOf;
  }

  /** All downloads. */
  get flows(): ReadonlySet<Download> {
    return this.#flows;
  }

  /** Bytes that the downloads can deliver within the horizon. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Time until the response to a request made now has arrived. */
  get horizonSeconds(): number {
    return (this.#meanWaitMs + SPARE_MS) / 1000;
  }

  wantedBytes(rateBps: number, expectedBytes: number): number {
    const takenBytes = rateBps * this.horizonSeconds;
    return takenBytes + MARGIN * Math.sqrt(takenBytes * expectedBytes);
  }

  add(nowMs: number, flow: Download): void {
    this.#flows.add(flow);
    if (flow.expectedWaitMs > 0) this.#learnWait(flow.expectedWaitMs);
    this.count(nowMs, flow);
  }

  delete(flow: Download): void {
    if (this.#flows.delete(flow)) this.#bytes -= flow.soonBytes;
  }

  /** The wait of a known server was learned when the request was made. */
  answered(nowMs: number, { expectedWaitMs, startedAtMs }: Download): void {
    if (expectedWaitMs === 0) this.#learnWait(nowMs - startedAtMs);
  }

  /** Counts a download again: what is left of it, as far as its server can send it soon. */
  count(nowMs: number, flow: Download): void {
    const { announcedBytes, expectedBytes, receivedBytes, isAnswered } = flow;
    // A response beyond its expected size usually has much more to send. Before the body the expected size counts.
    const leftBytes =
      announcedBytes === undefined || !isAnswered
        ? Math.max(expectedBytes - receivedBytes, receivedBytes / 4)
        : Math.max(0, announcedBytes - receivedBytes);
    const { mostBps, isPaused } = this.#allowedOf(flow);
    // A paused download is faster than needed, unless its turn has shown otherwise.
    const unshownBps = isPaused ? Infinity : flow.predictedBps;
    const bps = Math.min(mostBps, speedBps(nowMs, flow) ?? unshownBps);
    const heldBytes = isPaused ? flow.windowBytes : 0;
    // The predicted speed includes the wait for the first byte.
    const waitSeconds = isAnswered ? 0 : flow.expectedWaitMs / 1000;
    const soonBytes = Math.min(leftBytes, heldBytes + bps * (this.horizonSeconds + waitSeconds));
    this.#bytes += soonBytes - flow.soonBytes;
    flow.soonBytes = soonBytes;
  }

  recount(nowMs: number): void {
    for (const flow of this.#flows) this.count(nowMs, flow);
  }

  #learnWait(waitMs: number): void {
    this.#waits += 1;
    const share = Math.max(LAST_WAIT_SHARE, 1 / this.#waits);
    this.#meanWaitMs += share * (waitMs - this.#meanWaitMs);
  }
}
