/** A download as our own way of holding the limit knows it: what it was granted, and what it has paid for. */

import type { Candidate, Flow } from "../controller.ts";
import type { DepartedFlow } from "./departures.ts";
import type { StockedFlow } from "./stock.ts";

export interface PacedFlow extends StockedFlow, DepartedFlow {
  receivedBytes: number;
  /** Of what came, what belonged to making the connection. */
  greetingBytes: number;
  announcedBytes: number | undefined;
  /** Up to here it may come without asking. */
  grantedBytes: number;
  /** What has been paid for: what came, what the kernel takes in unasked, what was granted. */
  paidBytes: number;
  /** What had come when it was last let go on, read or not. */
  cameBytes: number;
  /** When anything of it came last, or it was last let go on. */
  movedAtMs: number;
}

export function pacedFlow(nowMs: number, candidate: Candidate, windowBytes: number): PacedFlow {
  return {
    ...candidate,
    startedAtMs: nowMs,
    isAnswered: false,
    receivedBytes: 0,
    greetingBytes: 0,
    announcedBytes: undefined,
    grantedBytes: 0,
    paidBytes: 0,
    cameBytes: 0,
    soonBytes: 0,
    movedAtMs: nowMs,
    dueBytes: 0,
    startBytes: 0,
    turnFromBytes: 0,
    shownBps: undefined,
    turnSinceMs: undefined,
    waitsSinceMs: undefined,
    windowBytes,
  };
}

/** How much there is of it in all, as far as its header has told. */
export function wholeBytesOf({ announcedBytes }: Flow): number {
  return announcedBytes ?? Infinity;
}

/** What was paid for and has not come, of all that may read. */
export function unarrivedBytes(flows: Iterable<PacedFlow>): number {
  let bytes = 0;
  for (const { waitsSinceMs, paidBytes, receivedBytes, cameBytes } of flows)
    if (waitsSinceMs === undefined)
      bytes += Math.max(0, paidBytes - Math.max(receivedBytes, cameBytes));
  return bytes;
}
