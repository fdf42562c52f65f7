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

import type { Flow } from "./controller.ts";

/** What the stock must last for, beside the time an answer takes to begin. */
const SPARE_MS = 50;
const MARGIN = 2;
const RAISE = 1.25;
const LOWER = 0.995;
const RAISED_MAX = 1000;
const LEARN_SHARE = 0.02;
const ANSWERS_TO_TRY = 8;
/** So many answers must have come before the unanswered no longer count. */
const ANSWERS_TO_TRUST = 30;
/** Smaller answers come in the same packets. */
const SIZE_BYTES_MIN = 4096;
/** After this time a turn has shown how fast a download is, whatever came; a packet may be on its way. */
const SHOWN_AFTER_MS = 100;
export const PACKET_BYTES = 1448;

/** A download as the stock knows it. */
export interface StockedFlow extends Flow {
  /** Whether its first bytes have come. */
  isAnswered: boolean;
  /** What it can bring soon, as counted. */
  soonBytes: number;
  /** What may lie unread in the system and comes at once. */
  readonly windowBytes: number;
  /** How fast it was in its last turn; undefined before it has had one. */
  shownBps: number | undefined;
  /** When its turn to be read began, and what had come by then; undefined while it waits for one. */
  turnSinceMs: number | undefined;
  turnFromBytes: number;
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
  /** The mean time to the first byte, of what has come so far. */
  #waitMs = 0;
  #answered = 0;
  #raised = 1;
  #raisedAtMs = 0;

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
    return (this.#waitMs + SPARE_MS) / 1000;
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
    this.count(nowMs, flow);
  }

  delete(flow: F): void {
    if (this.#flows.delete(flow)) this.#bytes -= flow.soonBytes;
  }

  /** The first bytes of an answer have come; when its server is known, it is known how long it takes without us. */
  answered(nowMs: number, { startedAtMs, expectedWaitMs }: Flow): void {
    this.#answered += 1;
    const tookMs = Math.min(nowMs - startedAtMs, expectedWaitMs || Infinity);
    const gain = Math.max(LEARN_SHARE, 1 / this.#answered);
    this.#setWait(this.#waitMs + gain * (tookMs - this.#waitMs));
  }

  /** Counts a download anew: what is left of it, as far as its server can send it soon. */
  count(nowMs: number, flow: F): void {
    const { announcedBytes, expectedBytes, receivedBytes } = flow;
    // Who has sent more than was guessed has usually a good deal more to send.
    const leftBytes =
      announcedBytes === undefined
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

  /** Takes the stock anew, with what the unanswered teach about the time that answers take. */
  reckon(nowMs: number): void {
    let unanswered = 0;
    let agesMs = 0;
    for (const { isAnswered, startedAtMs } of this.#flows) {
      if (isAnswered) continue;
      unanswered += 1;
      agesMs += nowMs - startedAtMs;
    }
    if (this.#answered < ANSWERS_TO_TRUST && unanswered > 0)
      this.#setWait(Math.max(this.#waitMs, agesMs / unanswered));
    for (const flow of this.#flows) this.count(nowMs, flow);
  }

  /** Looking farther ahead wants more by itself: what was raised because it was not far enough is taken back. */
  #setWait(waitMs: number): void {
    const before = this.horizonSeconds;
    this.#waitMs = waitMs;
    if (this.horizonSeconds > before)
      this.#raised = Math.max(1, (this.#raised * before) / this.horizonSeconds);
  }

  /** Raises what is wanted while the pipe runs dry although there was enough, and lets it sink back slowly. */
  adapt(nowMs: number, pipe: { readonly isDry: boolean; readonly wasEnough: boolean }): void {
    if (!pipe.isDry) {
      this.#raised = Math.max(1, this.#raised * LOWER);
      this.#raisedAtMs = nowMs;
    } else if (pipe.wasEnough && nowMs - this.#raisedAtMs >= this.horizonSeconds * 1000) {
      // What was asked for meanwhile must have had the time to come.
      this.#raised = Math.min(RAISED_MAX, this.#raised * RAISE);
      this.#raisedAtMs = nowMs;
    }
  }
}

/** How fast a download is in its turn, else was in its last; undefined before it has shown that. */
export function shownBps(nowMs: number, flow: StockedFlow): number | undefined {
  const { turnSinceMs, turnFromBytes, receivedBytes, windowBytes } = flow;
  if (turnSinceMs === undefined) return flow.shownBps;
  const tookMs = nowMs - turnSinceMs;
  // What lay in the system already shows nothing.
  const bytes = receivedBytes - turnFromBytes - windowBytes;
  if (bytes >= windowBytes) return (bytes * 1000) / Math.max(1, tookMs);
  if (tookMs < SHOWN_AFTER_MS) return flow.shownBps;
  return ((Math.max(0, bytes) + PACKET_BYTES) * 1000) / tookMs;
}
