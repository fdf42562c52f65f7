/**
 * A body on its way: its server sends as fast as it may until a window of it lies unread, then waits
 * until some of that is read.
 *
 * This is what makes pacing real. Whoever refuses to read does not stop the server at once, but a
 * window later; and a window that is small for the length of the way holds even a willing server
 * back, because no more than one window can travel in a round trip. So, as the real transport's, a
 * window grows while nobody refuses to read (`fetch/valve`), and becomes narrower when that is wanted of all.
 *
 * A body comes in pieces, one event each. A server's speed is divided evenly among the downloads open
 * there, anew with each piece, so that nobody has to be told when another one comes or goes.
 */

import type { Clock } from "../base/clock.ts";
import type { SimWire } from "./sim-wire.ts";

/** A piece is at most this large, and at most as much as comes in this time. */
const PIECE_BYTES_MAX = 65_536;
const PIECE_MS_MAX = 100;
/** What a system lets come before anybody reads, when nobody tells it otherwise. */
const SYSTEM_WINDOW_BYTES = 131_072;
/** As many windows in a row must be read willingly before it grows, and it grows no further. */
const WINDOWS_BEFORE_GROWTH = 4;
const GROWTH_MAX = 16;
const GROWN_BYTES_MAX = 1024 * 1024;

/** The line that all streams share. */
export interface SimLine {
  readonly clock: Clock;
  readonly link: SharedLink;
  readonly servers: ServerCrowd;
  readonly wire: SimWire | undefined;
  /** How much a connection may hold unread; undefined: as the system likes. */
  windowBytes: number | undefined;
}

export interface StreamPlan {
  readonly address: string;
  /** Of its server, when nobody else is there. */
  readonly speedBps: number;
  readonly rttMs: number;
  /** How much the server sends, if nobody stops it. */
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
  /** Read since the reader last refused. */
  #freeBytes = 0;
  #isStopped = false;
  #piece: Piece | undefined;

  constructor(line: SimLine, plan: StreamPlan) {
    this.#line = line;
    this.#plan = plan;
  }

  /** Arrived and not read. */
  get unreadBytes(): number {
    return this.#unreadBytes;
  }

  /** When the next piece will be here; Infinity when none is on its way. */
  get arrivesAtMs(): number {
    return this.#piece?.toMs ?? Number.POSITIVE_INFINITY;
  }

  begin(): void {
    this.#line.servers.enter(this.#plan.address);
    this.#send();
  }

  read(bytes: number): void {
    this.#unreadBytes -= bytes;
    this.#freeBytes += bytes;
    this.#send();
  }

  /** The reader refuses to read. */
  hold(): void {
    this.#freeBytes = 0;
  }

  /** The connection ends: what is on its way came as far as it came. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#line.servers.leave(this.#plan.address);
    const piece = this.#piece;
    if (piece === undefined) return;
    piece.cancel();
    const nowMs = this.#line.clock.nowMs();
    const came = (nowMs - piece.fromMs) / Math.max(piece.toMs - piece.fromMs, Number.MIN_VALUE);
    this.#line.wire?.carry(piece.fromMs, nowMs, piece.bytes * Math.min(1, came));
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
    if (this.#freeBytes < WINDOWS_BEFORE_GROWTH * this.#windowBytes) return;
    this.#freeBytes = 0;
    const grownBytes = Math.min(2 * this.#windowBytes, GROWTH_MAX * setBytes, GROWN_BYTES_MAX);
    this.#windowBytes = Math.max(this.#windowBytes, grownBytes);
  }

  #nextPieceBytes(): number {
    const room = this.#windowBytes - this.#unreadBytes;
    const inTime = Math.ceil(PIECE_MS_MAX / this.#msPerByte());
    return Math.min(PIECE_BYTES_MAX, inTime, room, this.#plan.bytes - this.#sentBytes);
  }

  #msPerByte(): number {
    const { address, speedBps, rttMs } = this.#plan;
    const sendingMs = (1000 * this.#line.servers.crowd(address)) / speedBps;
    // Left alone, a system widens its window until the way no longer matters.
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

/** How many downloads are open at each address. */
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

/** The narrow end that everything passes through, one piece after the other. */
export class SharedLink {
  readonly #linkBps: number | undefined;
  #freeAtMs = 0;

  constructor(linkBps: number | undefined) {
    this.#linkBps = linkBps;
  }

  /** How long a piece is on its way that its server sends in `serverMs`. */
  carryMs(nowMs: number, bytes: number, serverMs: number): number {
    if (this.#linkBps === undefined) return serverMs;
    this.#freeAtMs = Math.max(nowMs, this.#freeAtMs) + (bytes * 1000) / this.#linkBps;
    return Math.max(serverMs, this.queueMs(nowMs));
  }

  /** How long whatever comes now waits for its turn. */
  queueMs(nowMs: number): number {
    return Math.max(0, this.#freeAtMs - nowMs);
  }
}
