/**
 * A body in transit: its server sends until one window is unread, then waits until some of it is read.
 *
 * A paused reader stops the server only after another window, and at most one window arrives per
 * round trip, so a small window limits the rate on a long path. As in the real transport, a window
 * grows while the reader does not pause (`fetch/valve`), and shrinks when a smaller one is set.
 *
 * A body arrives in pieces, one event each. Each piece gets an equal share of its server's speed among
 * the downloads open at its start.
 */

import type { Clock } from "../base/clock.ts";
import type { SimWire } from "./sim-wire.ts";

/** Size limit of a piece. */
const PIECE_BYTES_MAX = 65_536;
/** A piece contains at most the bytes of this time at full rate. */
const PIECE_MS_MAX = 100;
/** The operating system's default receive window. */
const SYSTEM_WINDOW_BYTES = 131_072;
/** Number of windows that must be read without a pause before the window doubles. */
const WINDOWS_BEFORE_GROWTH = 4;
/** Largest window, as a multiple of the set one. */
const GROWTH_MAX = 16;
/** Largest window that growth can reach. */
const GROWN_BYTES_MAX = 1024 * 1024;

/** The line that all streams share. */
export interface SimLine {
  readonly clock: Clock;
  readonly link: SharedLink;
  readonly servers: ServerCrowd;
  readonly wire: SimWire | undefined;
  /** Bytes that a connection may hold unread; undefined for the system's default. */
  windowBytes: number | undefined;
}

interface StreamPlan {
  readonly address: string;
  /** Speed of the server when it has no other download. */
  readonly speedBps: number;
  readonly rttMs: number;
  /** Size of the complete body. */
  readonly bytes: number;
  readonly onArrival: () => void;
}

export class SimStream {
  readonly #line: SimLine;
  readonly #plan: StreamPlan;
  #sentBytes = 0;
  #unreadBytes = 0;
  #windowBytes = 0;
  #setBytes = 0;
  /** Bytes read since the reader's last pause. */
  #readFreelyBytes = 0;
  #isStopped = false;
  #piece: Piece | undefined;

  constructor(line: SimLine, plan: StreamPlan) {
    this.#line = line;
    this.#plan = plan;
  }

  /** Bytes that arrived and are not read. */
  get unreadBytes(): number {
    return this.#unreadBytes;
  }

  /** Arrival time of the next piece; Infinity when none is in transit. */
  get arrivesAtMs(): number {
    return this.#piece?.toMs ?? Number.POSITIVE_INFINITY;
  }

  begin(): void {
    this.#line.servers.enter(this.#plan.address);
    this.#send();
  }

  read(bytes: number): void {
    this.#unreadBytes -= bytes;
    this.#readFreelyBytes += bytes;
    this.#send();
  }

  /** The reader pauses. */
  hold(): void {
    this.#readFreelyBytes = 0;
  }

  /** Ends the connection; the wire counts the part of the current piece that has arrived. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#line.servers.leave(this.#plan.address);
    const piece = this.#piece;
    if (piece === undefined) return;
    piece.cancel();
    const nowMs = this.#line.clock.nowMs();
    const share = (nowMs - piece.fromMs) / Math.max(piece.toMs - piece.fromMs, Number.MIN_VALUE);
    this.#line.wire?.carry(piece.fromMs, nowMs, piece.bytes * Math.min(1, share));
  }

  #send(): void {
    if (this.#isStopped || this.#piece !== undefined) return;
    const { clock, link } = this.#line;
    this.#fitWindow();
    const bytes = this.#nextPieceBytes();
    if (bytes <= 0) return;
    const fromMs = clock.nowMs();
    const ms = link.carryMs(fromMs, bytes, bytes * this.#msPerByte());
    const cancel = clock.after(ms, () => this.#arrive());
    this.#piece = { bytes, fromMs, toMs: fromMs + ms, cancel };
  }

  #fitWindow(): void {
    const setBytes = this.#line.windowBytes ?? SYSTEM_WINDOW_BYTES;
    this.#windowBytes =
      setBytes < this.#setBytes ? setBytes : Math.max(this.#windowBytes, setBytes);
    this.#setBytes = setBytes;
    if (this.#readFreelyBytes < WINDOWS_BEFORE_GROWTH * this.#windowBytes) return;
    this.#readFreelyBytes = 0;
    const grownBytes = Math.min(2 * this.#windowBytes, GROWTH_MAX * setBytes, GROWN_BYTES_MAX);
    this.#windowBytes = Math.max(this.#windowBytes, grownBytes);
  }

  #nextPieceBytes(): number {
    const freeBytes = this.#windowBytes - this.#unreadBytes;
    const inTime = Math.ceil(PIECE_MS_MAX / this.#msPerByte());
    return Math.min(PIECE_BYTES_MAX, inTime, freeBytes, this.#plan.bytes - this.#sentBytes);
  }

  #msPerByte(): number {
    const { address, speedBps, rttMs } = this.#plan;
    const sendingMs = (1000 * this.#line.servers.crowd(address)) / speedBps;
    // The system's own window grows until the round trip no longer limits the rate.
    if (this.#line.windowBytes === undefined) return sendingMs;
    return Math.max(sendingMs, rttMs / this.#windowBytes);
  }

  #arrive(): void {
    const piece = this.#piece;
    if (piece === undefined) return;
    this.#piece = undefined;
    this.#sentBytes += piece.bytes;
    this.#unreadBytes += piece.bytes;
    this.#line.wire?.carry(piece.fromMs, piece.toMs, piece.bytes);
    this.#send();
    this.#plan.onArrival();
  }
}

interface Piece {
  readonly bytes: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly cancel: () => void;
}

/** Counts the open downloads per address. */
export class ServerCrowd {
  readonly #counts = new Map<string, number>();

  crowd(address: string): number {
    return this.#counts.get(address) ?? 1;
  }

  enter(address: string): void {
    this.#counts.set(address, (this.#counts.get(address) ?? 0) + 1);
  }

  leave(address: string): void {
    const count = this.#counts.get(address) ?? 0;
    if (count > 1) this.#counts.set(address, count - 1);
    else this.#counts.delete(address);
  }
}

/** A bottleneck link that all pieces pass one after the other. */
export class SharedLink {
  readonly #linkBps: number | undefined;
  #freeAtMs = 0;

  constructor(linkBps: number | undefined) {
    this.#linkBps = linkBps;
  }

  /** Transit time of a piece that its server sends in `serverMs`. */
  carryMs(nowMs: number, bytes: number, serverMs: number): number {
    if (this.#linkBps === undefined) return serverMs;
    this.#freeAtMs = Math.max(nowMs, this.#freeAtMs) + (bytes * 1000) / this.#linkBps;
    return Math.max(serverMs, this.queueMs(nowMs));
  }

  /** Queueing delay of a piece that arrives now. */
  queueMs(nowMs: number): number {
    return Math.max(0, this.#freeAtMs - nowMs);
  }
}
