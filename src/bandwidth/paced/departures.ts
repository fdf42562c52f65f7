/**
 * When requests leave: the first bytes of an answer cannot be refused, so requests must neither leave all at
 * once nor be answered all at once.
 *
 * Of a quick server the answer follows the request, so its requests leave no faster than their first bytes may
 * come. Of a slow one everything comes later, and by then nothing can be done about how much it is: its
 * requests leave at the rate at which whole pages may come, and faster only while little is on its way. So what
 * comes is as even as what left, and nothing swings. And as the time of each answer is known, none is asked
 * for at a time when others are due. What greetings bring comes at once, of every server.
 *
 * O(1) everything.
 */

import { type Account, atRate } from "./account.ts";
import { Arrivals } from "./arrivals.ts";
import type { Candidate, Flow } from "../controller.ts";

/** Below this time to the first byte a request brings its bytes at once. */
export const QUICK_MS = 50;
/** Requests are sent no faster than their first bytes may come, with a little to spare. */
const SPACED_SHARE = 1.3;
const BURST_SHARE = 0.005;
/** However small an answer is, a connection is made for it and packets have headers. */
const BYTES_LEAST = 300;
/** Until it is known how long answers take, they may well come all at once. */
const UNTRIED_TIMES = 2;
/** Pages of slow servers are asked for at this rate when enough is on its way, and so much faster when nothing is. */
const PACE = 1.05;
const PACE_MORE = 2;
/** How much of the rate may be due at one time. */
const DUE_SHARE = 1.03;
/** And how many times more first bytes than pages of that size bring on average, but always so much of the rate. */
const DUE_TIMES = 1.5;
const DUE_SHARE_LEAST = 0.4;

/** A download as its departure knows it. */
export interface DepartedFlow extends Flow {
  /** What its start was charged with. */
  startBytes: number;
  /** First bytes that it is expected to bring after its server's usual wait. */
  dueBytes: number;
}

/** How full the line is with what a request would add to. */
export interface OnTheWay {
  readonly rateBps: number;
  /** Of what there should be, how much can come soon. */
  readonly stockShare: number;
  /** What of it comes before anybody can refuse it. */
  readonly firstBytes: number;
  /** And what making a connection brings before that. */
  readonly greetingBytes: number;
  /** Whether it is known how long answers take. */
  readonly isTried: boolean;
}

export function isQuick({ expectedWaitMs }: Candidate): boolean {
  return expectedWaitMs < QUICK_MS;
}

/** What follows a request at once: greetings, and of a quick server the first bytes of the answer. */
export function atOnceBytes(
  candidate: Candidate,
  { greetingBytes, firstBytes }: Pick<OnTheWay, "greetingBytes" | "firstBytes">,
): number {
  return greetingBytes + (isQuick(candidate) ? firstBytes : 0);
}

export class Departures {
  #spacing: Account | undefined;
  readonly #arrivals = new Arrivals();

  setRate(nowMs: number, rateBps: number | undefined): void {
    this.#spacing =
      rateBps === undefined
        ? undefined
        : atRate(nowMs, this.#spacing, rateBps * SPACED_SHARE, BURST_SHARE);
  }

  /** Whether it is too early for anybody to leave. */
  areSpaced(nowMs: number): boolean {
    return (this.#spacing?.balanceBytes(nowMs) ?? 0) < 0;
  }

  hasRoom(nowMs: number, candidate: Candidate, { rateBps, firstBytes }: OnTheWay): boolean {
    if (this.areSpaced(nowMs)) return false;
    if (isQuick(candidate)) return true;
    const usualShare = DUE_TIMES * (firstBytes / candidate.expectedBytes);
    const share = Math.min(DUE_SHARE, Math.max(DUE_SHARE_LEAST, usualShare));
    return this.#arrivals.aroundBps(nowMs + candidate.expectedWaitMs) < share * rateBps;
  }

  left(flow: DepartedFlow, { stockShare, firstBytes, greetingBytes, isTried }: OnTheWay): void {
    const pace = PACE + PACE_MORE * Math.max(0, 1 - stockShare);
    const spacedBytes = isQuick(flow) ? firstBytes : (flow.expectedBytes * SPACED_SHARE) / pace;
    const startBytes = greetingBytes + (isTried ? spacedBytes : UNTRIED_TIMES * spacedBytes);
    flow.startBytes = Math.max(BYTES_LEAST, startBytes);
    this.#spacing?.spend(flow.startBytes);
    if (isQuick(flow)) return;
    flow.dueBytes = firstBytes;
    this.#arrivals.add(dueAtMs(flow), firstBytes);
  }

  /** Its first bytes have come, and are no longer due. */
  answered(flow: DepartedFlow): void {
    if (flow.dueBytes > 0) this.#arrivals.add(dueAtMs(flow), -flow.dueBytes);
    flow.dueBytes = 0;
  }

  /** Who brought less than was foreseen makes room for another. */
  ended(flow: DepartedFlow): void {
    this.answered(flow);
    const usedBytes = Math.max(BYTES_LEAST, flow.receivedBytes);
    this.#spacing?.spend(Math.min(0, usedBytes - flow.startBytes));
  }
}

function dueAtMs({ startedAtMs, expectedWaitMs }: Flow): number {
  return startedAtMs + expectedWaitMs;
}
