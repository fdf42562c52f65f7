/**
 * In how large steps a body is read: what is asked for, what comes without, and what is paid before it has come.
 *
 * O(1) everything.
 */

import { STILL_MS } from "./advances.ts";
import { type PacedFlow, wholeBytesOf } from "./paced-flow.ts";
import { PACKET_BYTES, shownBps } from "./stock.ts";

/** A slow server is not granted more at a time than it sends before it would count as standing still. */
const STEP_MS = STILL_MS;
const STEP_BYTES_MIN = 1024;
const AHEAD_BYTES_MIN = 128;
/** A system offers half of its window at first, and mostly keeps to that; half of it is read at a time. */
export const UNASKED_SHARE = 0.5;
const READ_SHARE = 0.5;
/** Where a window is little of the rate, steps are what comes in this time: each costs a pause. */
const STEP_SECONDS = 0.002;
/** What lies in it on average while nobody reads: room is offered again in whole packets only. */
const REFILL_SHARE = 0.75;

/** What comes before anybody can refuse it: a window, and what the first reading makes room for. */
export function firstBytes(expectedBytes: number, unaskedBytes: number): number {
  return Math.min(expectedBytes, unaskedBytes * (1 + READ_SHARE));
}

/** What one that waits has not paid yet, of what came and will fill its window; negative when it paid for more. */
export function owedBytes(flow: PacedFlow): number {
  return Math.min(wholeBytesOf(flow), flow.receivedBytes + refillBytes(flow)) - flow.paidBytes;
}

/** Whether all that is left of it comes in while nobody reads: to make it wait would keep nothing off the line. */
export function endsInWindow(flow: PacedFlow): boolean {
  const leftBytes = wholeBytesOf(flow) - flow.receivedBytes;
  return leftBytes >= 0 && leftBytes <= flow.windowBytes * UNASKED_SHARE * REFILL_SHARE;
}

/** What comes in while nobody reads; of a slow server only a little at a time. */
function refillBytes({ shownBps: speedBps = Infinity, windowBytes }: PacedFlow): number {
  return Math.min(windowBytes * UNASKED_SHARE * REFILL_SHARE, (speedBps * STEP_MS) / 1000);
}

/** What may be read in one go. Less than a window would not be enough for it to open again. */
export function stepBytes(
  nowMs: number,
  flow: PacedFlow,
  { rateBps, siteBps }: { readonly rateBps: number; readonly siteBps: number },
): number {
  const soonBytes = (Math.min(shownBps(nowMs, flow) ?? Infinity, siteBps) * STEP_MS) / 1000;
  // Nobody knows how much of an unannounced answer there is: no more is set aside than usual.
  const longBytes = flow.announcedBytes === undefined ? 0 : rateBps * STEP_SECONDS;
  // It may have begun under another limit, and its window is as it was then.
  const unaskedBytes = flow.windowBytes * UNASKED_SHARE;
  return Math.min(Math.max(unaskedBytes, longBytes), Math.max(STEP_BYTES_MIN, soonBytes));
}

/**
 * What is paid for before it has come, of so much that may come now: as far as there is so much, and its server has
 * not shown that it is slower than that. Who sends a packet now and then pays for most of it when it comes: of a
 * hundred such, half of the rate would be set aside all the time. But whoever is only thought to be slow pays all:
 * a dozen of those, let go on for next to nothing, bring a tenth of a second's bytes at once.
 */
export function aheadBytes(nowMs: number, flow: PacedFlow, bytes: number): number {
  const speedBps = shownBps(nowMs, flow) ?? Infinity;
  const soonBytes = Math.max(AHEAD_BYTES_MIN, (speedBps * STEP_MS) / 1000);
  const leftBytes = Math.max(0, wholeBytesOf(flow) - flow.paidBytes);
  // What lies in a window that was wider makes no room when it is read.
  const roomBytes = Math.max(0, flow.receivedBytes + bytes + flow.windowBytes - flow.paidBytes);
  return Math.min(bytes, soonBytes, leftBytes, roomBytes);
}

/** Whether it has shown that it sends less than a packet at a time. */
export function trickles(nowMs: number, flow: PacedFlow): boolean {
  return ((shownBps(nowMs, flow) ?? Infinity) * STEP_MS) / 1000 < PACKET_BYTES;
}
