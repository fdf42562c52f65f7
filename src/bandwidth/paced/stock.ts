/**
 * What open downloads can bring soon, and how much of that there should be.
 *
 * The stock is held at what the pipe takes until something asked for now would come, and a margin that
 * grows with the square root of the sizes, as one staffs a counter for customers who come by chance.
 * What a download can bring is predicted until it has shown how fast it really is. When the pipe runs
 * dry all the same, the stock is raised until it no longer does.
 *
 * O(1) a change; O(downloads) each time it is taken anew.
 */

import type { Flow } from "../controller.ts";
import { Waits } from "./waits.ts";

/** What the stock must last for, beside the time an answer takes to begin. */
const SPARE_MS = 50;
const MARGIN = 2;
/** How much more is wanted for what the pipe lost, and how much less each time it lost nothing worth speaking of. */
const RAISE_TIMES = 2;
const RAISE_MOST = 0.25;
const LOWER = 0.99;
const RAISED_MAX = 1000;
const LOST_SHARE_MIN = 0.003;
const LOST_SHARE_SLOW = 0.9;
const QUICK_HORIZON_MS = 200;
/** What is wanted is judged by this much of the past at least. */
const JUDGED_MS_MIN = 100;
const ANSWERS_TO_TRY = 8;
/** Smaller answers come in the same packets. */
const SIZE_BYTES_MIN = 4096;
/** After this time a turn has shown how fast a download is, whatever came; a packet may be on its way. */
const SHOWN_AFTER_MS = 100;
export const PACKET_BYTES = 1448;

/** A download as the stock knows it. */
export interface StockedFlow extends Flow {
  /** Whether its body has begun. */
  isAnswered: boolean;
  /** What it can bring soon, as counted. */
  soonBytes: number;
  /** What may lie unread in the system and comes at once. */
  windowBytes: number;
  /** How fast it was in its last turn; undefined before it has had one. */
  shownBps: number | undefined;
  /** When its turn to be read began, and what had come by then; undefined while it waits for one. */
  turnSinceMs: number | undefined;
  turnFromBytes: number;
  /** Since when it has been made to wait; undefined while it may read. */
  waitsSinceMs: number | undefined;
}

/** What our own doing lets a download bring: nothing, its site's limit, or all it can; and whether it waits for us. */
export interface Let {
  readonly mostBps: number;
  readonly isWaiting: boolean;
}

export class Stock<F extends StockedFlow> {
  readonly #flows = new Set<F>();
  readonly #letOf: (flow: F) => Let;
  #bytes = 0;
  readonly #waits = new Waits();
  #answered = 0;
  #raised = 1;
  /** What the pipe has lost since it was last judged. */
  #lostBytes = 0;
  #judgedAtMs = 0;

  constructor(letOf: (flow: F) => Let) {
    this.#letOf = letOf;
  }

  get flows(): ReadonlySet<F> {
    return this.#flows;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How far ahead is looked: what is asked for now has come by then. */
  get horizonSeconds(): number {
    return (this.#waits.meanMs + SPARE_MS) / 1000;
  }

  /** Whether enough answers have come to know roughly how long they take. */
  get isTried(): boolean {
    return this.#answered >= ANSWERS_TO_TRY;
  }

  wantedBytes(rateBps: number, expectedBytes: number): number {
    const takenBytes = rateBps * this.horizonSeconds;
    const marginBytes = Math.sqrt(takenBytes * Math.max(SIZE_BYTES_MIN, expectedBytes));
    return this.#raised * (takenBytes + MARGIN * marginBytes);
  }

  add(nowMs: number, flow: F): void {
    this.#flows.add(flow);
    this.#waits.left(flow);
    this.count(nowMs, flow);
  }

  delete(flow: F): void {
    if (this.#flows.delete(flow)) this.#bytes -= flow.soonBytes;
  }

  /** The first bytes of an answer have come. */
  answered(nowMs: number, flow: F): void {
    this.#answered += 1;
    this.#waits.answered(nowMs, flow);
  }

  /** Counts a download anew: what is left of it, as far as its server can send it soon. */
  count(nowMs: number, flow: F): void {
    const { announcedBytes, expectedBytes, receivedBytes } = flow;
    // A response that has exceeded its expected size usually has much more to send. Until a body begins, its expected
    // size counts, whatever its header announces: the number of requests under way rests on typical sizes.
    const leftBytes =
      announcedBytes === undefined || !flow.isAnswered
        ? Math.max(expectedBytes - receivedBytes, receivedBytes / 4)
        : Math.max(0, announcedBytes - receivedBytes);
    const { mostBps, isWaiting } = this.#letOf(flow);
    // Who waits for us gives more than we take, whatever was predicted, unless it has shown otherwise.
    const unshownBps = isWaiting ? Infinity : flow.predictedBps;
    const speedBps = Math.min(mostBps, shownBps(nowMs, flow) ?? unshownBps);
    const unreadBytes = isWaiting ? flow.windowBytes : 0;
    // What is predicted of a server has the wait for its first byte in it, and that is looked beyond.
    const waitSeconds = flow.isAnswered ? 0 : flow.expectedWaitMs / 1000;
    const soonSeconds = this.horizonSeconds + waitSeconds;
    const soonBytes = Math.min(leftBytes, unreadBytes + speedBps * soonSeconds);
    this.#bytes += soonBytes - flow.soonBytes;
    flow.soonBytes = soonBytes;
  }

  /** Takes the stock anew, and with it how far ahead is to be looked. */
  reckon(nowMs: number): void {
    const before = this.horizonSeconds;
    this.#waits.look(nowMs, this.#flows);
    // Looking farther ahead wants more by itself: what was raised because it was not far enough is taken back.
    if (this.horizonSeconds > before)
      this.#raised = Math.max(1, (this.#raised * before) / this.horizonSeconds);
    for (const flow of this.#flows) this.count(nowMs, flow);
  }

  /**
   * Wants as much more as the pipe has lost although there was enough, when what was asked for meanwhile has had
   * the time to come; and a little less when it lost nothing.
   */
  adapt(nowMs: number, pipe: { readonly rateBps: number; readonly lostBytes: number }): void {
    this.#lostBytes += pipe.lostBytes;
    const sinceMs = nowMs - this.#judgedAtMs;
    if (sinceMs < Math.max(JUDGED_MS_MIN, this.horizonSeconds * 1000)) return;
    const lostShare = (this.#lostBytes * 1000) / (pipe.rateBps * sinceMs);
    // What slow servers bring too much of comes a second later, and would swing: they must have left most of it empty.
    const isSlow = this.horizonSeconds * 1000 > QUICK_HORIZON_MS;
    this.#raised =
      lostShare < (isSlow ? LOST_SHARE_SLOW : LOST_SHARE_MIN)
        ? Math.max(1, this.#raised * LOWER)
        : Math.min(RAISED_MAX, this.#raised * (1 + Math.min(RAISE_MOST, RAISE_TIMES * lostShare)));
    this.#lostBytes = 0;
    this.#judgedAtMs = nowMs;
  }
}

/** How fast a download is in its turn, else was in its last; undefined before it has shown that. */
export function shownBps(nowMs: number, flow: StockedFlow): number | undefined {
  const { turnSinceMs, turnFromBytes, receivedBytes, windowBytes } = flow;
  if (turnSinceMs === undefined) return flow.shownBps;
  // What it waits for us says nothing of it.
  const tookMs = (flow.waitsSinceMs ?? nowMs) - turnSinceMs;
  // What lay in the system already shows nothing.
  const bytes = receivedBytes - turnFromBytes - windowBytes;
  if (bytes >= windowBytes) return (bytes * 1000) / Math.max(1, tookMs);
  if (tookMs < SHOWN_AFTER_MS) return flow.shownBps;
  return ((Math.max(0, bytes) + PACKET_BYTES) * 1000) / tookMs;
}
