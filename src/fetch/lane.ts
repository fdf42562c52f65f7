/**
 * One connection that is kept for the next request: to one checked address, for one site.
 *
 * undici's Client owns the protocol; the lane owns the socket, so that it can count what came and
 * went, TLS and framing included. Counters are read by difference: each call returns the bytes since the last one, so that over all exchanges every byte is returned exactly once.
 */

import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { Client, type Dispatcher } from "undici";
import { dial, type DialOptions, type DialTarget, type DialWatch } from "./dial.ts";
import { LineEnds, repairLines } from "./line-ends.ts";
import type { Valve } from "./valve.ts";

/** A request on a lane: undici's handler, notified also of the steps of connecting. */
export interface Passenger extends Dispatcher.DispatchHandler {
  onDial(step: "connect" | "tls"): void;
  /** On a lane with a valve: bytes came, and are not handed on before this returns. */
  onRead(): void;
}

export interface LaneOptions extends DialOptions {
  readonly headerBytesMax: number;
  readonly roundTrips?: boolean;
}

interface LaneWatch {
  /** The connection was closed while it carried no request. */
  onIdleEnd(): void;
  /** A connection was made, and its protocol is HTTP/2. */
  onHttp2(): void;
}

const STREAMS_MAX = 32;
/** Apache closes an idle connection after 5 s, nginx after 75 s; a little longer than a delay. */
const KEEP_ALIVE_MS = 15_000;
const KEEP_ALIVE_MS_MAX = 60_000;
const WINDOW_BYTES = 256 * 1024;
/** Over all streams of a connection. */
const CONNECTION_WINDOW_BYTES = 512 * 1024;
/** Most bytes that an HTTP/2 connection may receive beyond its responses; control frames take a few kilobytes. */
const BESIDE_BYTES_MAX = 2 ** 20;

export class Lane {
  readonly key: string;
  readonly headerBytesMax: number;
  readonly #client: Client;
  readonly #passengers = new Set<Passenger>();
  readonly #lineEnds = new LineEnds();
  readonly #hasValve: boolean;
  readonly #tellsRoundTrips: boolean;
  #socket: Socket | undefined;
  /** Open sockets: after a GOAWAY, old streams end on one while new ones begin on the next. */
  readonly #sockets = new Set<Socket>();
  readonly #closedBytes = { received: 0, sent: 0 };
  #localAddress: string | undefined;
  #valve: Valve | undefined;
  /** A connection being made is ours to cut; one that is made is undici's. */
  #dialling: Socket | undefined;
  #receivedTaken = 0;
  #sentTaken = 0;
  /** Received on HTTP/2 and part of no response, up to `#besideSeen` received bytes; negative: still expected. */
  #besideBytes = 0;
  #besideSeen = 0;
  #isFlooded = false;
  #countedBytes = 0;
  #countedSegments = 0;
  #version: "1.1" | "2" = "1.1";
  #verified = true;
  #used = false;

  constructor(key: string, target: DialTarget, options: LaneOptions, watch: LaneWatch) {
    this.key = key;
    this.headerBytesMax = options.headerBytesMax;
    this.#hasValve = options.windowBytes !== undefined;
    this.#tellsRoundTrips = options.roundTrips === true;
    // A valve shuts a whole connection, so there must be one exchange on it.
    const http2 = options.http2 && !this.#hasValve;
    this.#client = new Client(`${target.scheme}://${target.host}:${target.port}`, {
      // Our own clock covers every phase; two sets of timers would only race.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS_MAX,
      maxHeaderSize: options.headerBytesMax,
      allowH2: http2,
      h2Options: {
        settings: { initialWindowSize: WINDOW_BYTES },
        connectionWindowSize: CONNECTION_WINDOW_BYTES,
      },
      connect: (_, done) => this.#dial(target, { ...options, http2 }, done, watch),
    });
  }

  /** Whether it may be kept under this window: it lets in no more than twice of that. */
  isKeptUnder(windowBytes: number | undefined): boolean {
    if (windowBytes === undefined) return !this.#hasValve;
    return this.#hasValve && (this.#valve?.windowBytes ?? 0) <= 2 * windowBytes;
  }

  /** What it may hold unread; undefined while it is being made, and where that is up to the system. */
  get windowBytes(): number | undefined {
    return this.#valve?.windowBytes;
  }

  setWindow(windowBytes: number): void {
    this.#valve?.setWindow(windowBytes);
  }

  /** Shuts the valve; false when there is none, and undici must be asked to pause. */
  hold(): boolean {
    this.#valve?.hold();
    return this.#valve !== undefined;
  }

  release(): boolean {
    this.#valve?.release();
    return this.#valve !== undefined;
  }

  /** What has come and was not read; known only where there is a window. */
  unreadBytes(): number | undefined {
    return this.#valve?.unreadBytes();
  }

  /** The round trip as the system measures it; known only where there is a window, on request. */
  rttMs(): number | undefined {
    return this.#tellsRoundTrips ? this.#valve?.rttMs() : undefined;
  }

  /** Whether every read is reported at once, so that no polling is needed. */
  get tellsOfReads(): boolean {
    return this.#valve !== undefined;
  }

  /** What came since this was last asked, with the segments it came in; known only where there is a window. */
  takeSegments(): { readonly bytes: number; readonly segments: number } {
    const segments = this.#valve?.segmentsIn() ?? 0;
    const bytes = this.#socket?.bytesRead ?? 0;
    const taken = { bytes: bytes - this.#countedBytes, segments: segments - this.#countedSegments };
    if (segments === 0) return { bytes: 0, segments: 0 };
    this.#countedBytes = bytes;
    this.#countedSegments = segments;
    return taken;
  }

  /** Our own address on this connection, which tells the interface it goes through. */
  get localAddress(): string | undefined {
    this.#localAddress ??= this.#socket?.localAddress;
    return this.#localAddress;
  }

  /** Room for one more exchange right now. */
  get hasRoom(): boolean {
    return this.#version === "2" ? this.#passengers.size < STREAMS_MAX : this.isIdle;
  }

  get isIdle(): boolean {
    return this.#passengers.size === 0;
  }

  /** False once the connection is gone, so that the next exchange would have to make a new one. */
  get isOpen(): boolean {
    return this.#socket?.destroyed === false;
  }

  /** True when an exchange has ended on this connection, so that the peer may have left since. */
  get wasUsed(): boolean {
    return this.#used;
  }

  get version(): "1.1" | "2" {
    return this.#version;
  }

  get verified(): boolean {
    return this.#verified;
  }

  /** True when the server has ended lines of the present response's head with a bare LF. */
  get hasBareLineEnds(): boolean {
    return this.#lineEnds.repaired > 0;
  }

  board(passenger: Passenger, request: Dispatcher.DispatchOptions): void {
    this.#passengers.add(passenger);
    this.#lineEnds.begin();
    if (this.#hasValve) this.#socket?.ref();
    this.#client.dispatch(request, passenger);
  }

  leave(passenger: Passenger): void {
    this.#passengers.delete(passenger);
    this.#used = true;
    if (!this.#hasValve || !this.isIdle) return;
    this.#valve?.rest();
    // An idle connection keeps no program alive; without a valve undici sees to that.
    this.#socket?.unref();
  }

  /** Attributes received bytes to a response; on HTTP/2 all others count as frames without content. */
  attribute(bytes: number): void {
    if (this.#version !== "2") return;
    const total = this.#receivedBytes();
    const beside = this.#besideBytes + total - this.#besideSeen - bytes;
    // Nothing is saved up: a large response pays for no flood after it.
    this.#besideBytes = Math.max(Math.min(0, this.#besideBytes), beside);
    this.#besideSeen = total;
  }

  /** A response was given up: what its window admits may be on its way. */
  expectRest(): void {
    if (this.#version !== "2") return;
    this.attribute(0);
    this.#besideBytes = Math.max(-CONNECTION_WINDOW_BYTES, this.#besideBytes - WINDOW_BYTES);
  }

  /** True when an HTTP/2 peer has sent more frames without content than any honest one. */
  get isFlooded(): boolean {
    this.attribute(0);
    // It stays so, for all requests that end with it.
    this.#isFlooded ||= this.#besideBytes > BESIDE_BYTES_MAX;
    return this.#isFlooded;
  }

  takeReceivedBytes(): number {
    const total = this.#receivedBytes();
    const bytes = total - this.#receivedTaken;
    this.#receivedTaken = total;
    return bytes;
  }

  takeSentBytes(): number {
    let total = this.#closedBytes.sent;
    for (const { bytesWritten } of this.#sockets) total += bytesWritten;
    const bytes = total - this.#sentTaken;
    this.#sentTaken = total;
    return bytes;
  }

  /** Cuts the connection, also one being made; its request gets an error. */
  async destroy(): Promise<void> {
    this.#dialling?.destroy();
    await this.#client.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }

  #receivedBytes(): number {
    let total = this.#closedBytes.received;
    for (const { bytesRead } of this.#sockets) total += bytesRead;
    return total;
  }

  #dial(
    target: DialTarget,
    options: DialOptions,
    done: (...answer: [null, Socket] | [Error, null]) => void,
    { onIdleEnd, onHttp2 }: LaneWatch,
  ): void {
    for (const passenger of this.#passengers) passenger.onDial("connect");
    const watch: DialWatch = {
      onSocket: (socket, valve) => {
        this.#socket = socket;
        this.#valve = valve;
        this.#dialling = socket;
        this.#sockets.add(socket);
        this.#countedBytes = 0;
        this.#countedSegments = 0;
        this.#used = false;
        socket.once("close", () => {
          this.#sockets.delete(socket);
          this.#closedBytes.received += socket.bytesRead;
          this.#closedBytes.sent += socket.bytesWritten;
          if (this.isIdle && this.#socket === socket) onIdleEnd();
        });
      },
      onTls: () => {
        for (const passenger of this.#passengers) passenger.onDial("tls");
      },
      onRead: () => {
        for (const passenger of this.#passengers) passenger.onRead();
      },
    };
    dial(target, options, watch, (error, stream) => {
      this.#dialling = undefined;
      if (error !== null || stream === null) return done(error ?? new Error("no stream"), null);
      const secure = stream instanceof TLSSocket ? stream : undefined;
      this.#version = secure?.alpnProtocol === "h2" ? "2" : "1.1";
      if (this.#version === "2") onHttp2();
      else repairLines(stream, this.#lineEnds);
      this.#verified = secure?.authorized ?? true;
      // undici writes, reads, corks and destroys; a stream does for it what a socket does.
      done(null, stream as Socket);
    });
  }
}
