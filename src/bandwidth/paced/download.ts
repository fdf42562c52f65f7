/** A running download as the governor knows it: what it may read, what is paid for, and how fast it has been. */

import type { Candidate, Flow } from "../controller.ts";

/** Bytes that were granted and do not arrive for this long are given back; slower downloads pay on arrival. */
export const OVERDUE_MS = 100;
/** Payload of a full packet, in bytes. */
export const PACKET_BYTES = 1448;
/** Share of its window that a system offers before the program reads. */
const UNASKED_SHARE = 0.5;
/** Share of that which one read of the program makes room for. */
const READ_SHARE = 0.5;
/** Share of the offered window that is full while a download waits; room is offered again in whole packets only. */
const REFILL_SHARE = 0.75;
/** Shortest step of a fast download, in seconds at the limit: every pause costs time of the program. */
const STEP_SECONDS = 0.002;
/** Shortest step, in bytes. */
const STEP_BYTES_MIN = 1024;

export interface Download extends Flow {
  receivedBytes: number;
  /** Received bytes that belong to the TLS handshake. */
  handshakeBytes: number;
  announcedBytes: number | undefined;
  /** Whether its body has begun. */
  isAnswered: boolean;
  /** May read up to this byte. */
  grantedBytes: number;
  /** Spent of the balance for this download: received, granted, or held by its window. */
  paidBytes: number;
  /** Reserved for its first bytes, and the slot of their arrival. */
  reservedBytes: number;
  reservedSlot: number;
  /** Paid bytes when its last grant began: these have arrived, read or not. */
  heldBytes: number;
  /** Last time at which bytes arrived or were granted. */
  movedAtMs: number;
  /** Counted in the stock. */
  soonBytes: number;
  windowBytes: number;
  /** Speed in its last turn. */
  shownBps: number | undefined;
  /** Start of its turn to be read, and the bytes received by then; undefined between turns. */
  turnSinceMs: number | undefined;
  turnFromBytes: number;
  /** Start of its pause; undefined while it may read. */
  pausedSinceMs: number | undefined;
}

export function downloadOf(nowMs: number, candidate: Candidate, windowBytes: number): Download {
  return {
    ...candidate,
    startedAtMs: nowMs,
    isAnswered: false,
    receivedBytes: 0,
    handshakeBytes: 0,
    announcedBytes: undefined,
    grantedBytes: 0,
    paidBytes: 0,
    reservedBytes: 0,
    reservedSlot: 0,
    heldBytes: 0,
    movedAtMs: nowMs,
    soonBytes: 0,
    windowBytes,
    shownBps: undefined,
    turnSinceMs: undefined,
    turnFromBytes: 0,
    pausedSinceMs: undefined,
  };
}

export function wholeBytesOf({ announcedBytes }: Flow): number {
  return announcedBytes ?? Infinity;
}

/** Paid for and not arrived, of all downloads that may read. */
export function unarrivedBytes(downloads: Iterable<Download>): number {
  let bytes = 0;
  for (const { pausedSinceMs, paidBytes, receivedBytes, heldBytes } of downloads)
    if (pausedSinceMs === undefined)
      bytes += Math.max(0, paidBytes - Math.max(receivedBytes, heldBytes));
  return bytes;
}

/** Bytes that arrive before the program can pause: a window, and what the first read makes room for. */
export function firstBytes(expectedBytes: number, windowBytes: number): number {
  return Math.min(expectedBytes, windowBytes * UNASKED_SHARE * (1 + READ_SHARE));
}

/** What a paused download has not paid for, of what will fill its window; negative when it paid for more. */
export function owedBytes(flow: Download): number {
  const refillBytes = Math.min(heldByWindow(flow), soonBytes(flow.shownBps));
  return Math.min(wholeBytesOf(flow), flow.receivedBytes + refillBytes) - flow.paidBytes;
}

/** Whether its rest fits into its window: a pause would not keep it off the line. */
export function endsInWindow(flow: Download): boolean {
  const leftBytes = wholeBytesOf(flow) - flow.receivedBytes;
  return leftBytes >= 0 && leftBytes <= heldByWindow(flow);
}

function heldByWindow({ windowBytes }: Download): number {
  return windowBytes * UNASKED_SHARE * REFILL_SHARE;
}

function soonBytes(speedBps = Infinity): number {
  return (speedBps * OVERDUE_MS) / 1000;
}

/** Bytes of the next grant: half of a window at least, so that the window opens again. */
export function stepBytes(
  nowMs: number,
  flow: Download,
  { limitBps, siteBps }: { readonly limitBps: number; readonly siteBps: number },
): number {
  // An unannounced response may end at any byte: no more is set aside than its window.
  const longBytes = flow.announcedBytes === undefined ? 0 : limitBps * STEP_SECONDS;
  const mostBytes = Math.max(flow.windowBytes * UNASKED_SHARE, longBytes);
  const bps = Math.min(siteBps, speedBps(nowMs, flow) ?? Infinity);
  return Math.min(mostBytes, Math.max(STEP_BYTES_MIN, soonBytes(bps)));
}

/** Bytes of a grant that are paid for in advance: what can arrive before they would be overdue. */
export function aheadBytes(nowMs: number, flow: Download, bytes: number): number {
  const leftBytes = Math.max(0, wholeBytesOf(flow) - flow.paidBytes);
  const roomBytes = Math.max(0, flow.receivedBytes + bytes + flow.windowBytes - flow.paidBytes);
  return Math.min(bytes, soonBytes(speedBps(nowMs, flow)), leftBytes, roomBytes);
}

/** Speed in this turn, or in the last one; undefined before a turn has shown it. */
export function speedBps(nowMs: number, flow: Download): number | undefined {
  const { turnSinceMs, turnFromBytes, receivedBytes, windowBytes } = flow;
  if (turnSinceMs === undefined) return flow.shownBps;
  // A pause says nothing about the server.
  const tookMs = (flow.pausedSinceMs ?? nowMs) - turnSinceMs;
  // Bytes that the window already held say nothing either.
  const bytes = receivedBytes - turnFromBytes - windowBytes;
  if (bytes >= windowBytes) return (bytes * 1000) / Math.max(1, tookMs);
  if (tookMs < OVERDUE_MS) return flow.shownBps;
  return ((Math.max(0, bytes) + PACKET_BYTES) * 1000) / tookMs;
}
