/**
 * The real network: undici's connections, kept by checked address, under our own clock and limits.
 *
 * A lane is one connection; lanes are kept by scheme, host, port and address together, so a name
 * that later points elsewhere never travels on a connection that was checked for another address.
 * HTTP/1.1 carries one exchange a lane, HTTP/2 up to 32. One ticking clock serves all exchanges.
 *
 * Promises:
 *   1. at most `lanesMax` connections are kept; the one idle longest is closed for a new one;
 *   2. a kept connection that the server has left is replaced once, unseen by the caller;
 *   3. no server pays for our own stall: after one, sockets are read before clocks are judged;
 *   4. a connection is used again only after a whole answer; whatever came beyond it is dropped
 *      with the connection, and never becomes the next answer.
 *   5. under a window no connection is kept that lets in more than twice of it.
 *   6. an HTTP/2 connection that has received more than 1 MiB beside its responses is closed within one tick.
 *
 * HTTP/1.0 answers are reported as 1.1, because undici does not tell them apart.
 */

import { isIP } from "node:net";
import type { SecureContext } from "node:tls";
import type { Dispatcher } from "undici";
import type { Clock } from "../base/clock.ts";
import type { Proxy } from "./proxy.ts";
import { Exchange } from "./exchange.ts";
import { Lane, type LaneOptions } from "./lane.ts";
import { canSetWindows } from "./receive-window.ts";
import {
  NO_TRAFFIC,
  type Transport,
  type TransportAnswer,
  type TransportFailed,
  type TransportRequest,
} from "./transport.ts";
import { NO_TRUST_FILES, trustOf } from "./trust.ts";

export interface UndiciTransportOptions {
  readonly clock: Clock;
  /** Connections kept open at once, busy and idle. */
  readonly lanesMax: number;
  readonly http2: boolean;
  readonly insecureTls: boolean;
  /** The certificates to accept and to present; by default those that Node and the system accept. */
  readonly trust?: () => SecureContext;
  readonly proxy: Proxy | undefined;
  /** Whether the system is asked for the round trip after each answer; a call that only good neighbours need. */
  readonly roundTrips?: boolean;
}

type Result = TransportAnswer | TransportFailed;

const TICK_MS = 50;
/** How often floods on HTTP/2 are looked for, also on idle connections: 10 Gbit/s bring 12 MB in this time. */
const FLOOD_TICK_MS = 10;
/** With windows every read is reported at once, so ticks only check limits of seconds. */
const TOLD_TICK_MS = 200;
/** For so long a look at all connections is good enough. */
const SURVEY_MS = 100;

const NOT_BEGUN: TransportFailed = {
  kind: "failed",
  reason: "total_timeout",
  detail: "given up before it began",
  traffic: NO_TRAFFIC,
};

/** All connections together, at a moment. */
interface Survey {
  readonly atMs: number;
  readonly lanes: number;
  readonly localAddresses: ReadonlySet<string>;
  readonly unreadBytesMax: number;
}

export class UndiciTransport implements Transport {
  readonly #options: UndiciTransportOptions & Pick<LaneOptions, "trust">;
  readonly #lanes = new Map<string, Lane[]>();
  /** Those that wait for work, the one idle longest first. */
  readonly #idle = new Set<Lane>();
  readonly #http2Lanes = new Set<Lane>();
  readonly #running = new Map<Exchange, (result: Result) => void>();
  #windowBytes: number | undefined;
  #survey: Survey = { atMs: -Infinity, lanes: 0, localAddresses: new Set(), unreadBytesMax: 0 };
  readonly #loopback = { bytes: 0, segments: 0 };
  #laneCount = 0;
  #ticking = false;
  #isOnWatch = false;
  #spared = false;
  #closed = false;

  constructor(options: UndiciTransportOptions) {
    this.#options = { trust: trustOf(NO_TRUST_FILES), ...options };
  }

  /** Connections open now, for the live view. */
  get lanes(): number {
    return this.#laneCount;
  }

  exchange(request: TransportRequest): Promise<Result> {
    const { signal } = request;
    if (this.#closed || signal?.aborted === true) return Promise.resolve(NOT_BEGUN);
    return new Promise((resolve) => {
      const exchange = new Exchange(request, this.#options.clock, this.#onEnd, this.#onAgain);
      this.#running.set(exchange, resolve);
      this.#begin(exchange, this.#laneFor(request));
      this.#keepTicking();
    });
  }

  setWindow(bytes: number | undefined): void {
    if (bytes === this.#windowBytes) return;
    this.#windowBytes = bytes;
    for (const lane of [...this.#lanes.values()].flat()) {
      if (bytes !== undefined) lane.setWindow(bytes);
      // Those that are busy end what they carry, and are dropped then.
      if (lane.isIdle && !lane.isKeptUnder(bytes)) this.#drop(lane);
    }
  }

  /** Whether a window that is set keeps the system from taking in more. */
  get windowsHeld(): boolean {
    const { proxy } = this.#options;
    return (proxy === undefined || isIP(proxy.host) !== 0) && canSetWindows();
  }

  /** What came from this machine itself; its interface cannot tell that from what we sent. */
  get loopbackTraffic(): { readonly bytes: number; readonly segments: number } {
    return this.#loopback;
  }

  /** The most that lies unread in the system, where windows are set; those of some may be of an earlier limit. */
  get unreadBytesMax(): number {
    const { unreadBytesMax, lanes } = this.#surveyed();
    return unreadBytesMax + Math.max(0, this.#laneCount - lanes) * (this.#windowBytes ?? 0);
  }

  /** Our own addresses on the connections of now. */
  localAddresses(): ReadonlySet<string> {
    return this.#surveyed().localAddresses;
  }

  /** Asked for forty times a second under a limit, and there may be ten thousand connections. */
  #surveyed(): Survey {
    const nowMs = this.#options.clock.nowMs();
    if (nowMs - this.#survey.atMs < SURVEY_MS) return this.#survey;
    const localAddresses = new Set<string>();
    let unreadBytesMax = 0;
    for (const lanes of this.#lanes.values())
      for (const { localAddress, windowBytes } of lanes) {
        if (localAddress !== undefined) localAddresses.add(localAddress);
        unreadBytesMax += windowBytes ?? this.#windowBytes ?? 0;
      }
    this.#survey = { atMs: nowMs, lanes: this.#laneCount, localAddresses, unreadBytesMax };
    return this.#survey;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const exchange of this.#running.keys())
      exchange.fail("total_timeout", "the transport was closed");
    const lanes = [...this.#lanes.values()].flat();
    for (const lane of lanes) this.#forget(lane);
    await Promise.all(lanes.map((lane) => lane.destroy()));
  }

  #begin(exchange: Exchange, lane: Lane): void {
    this.#idle.delete(lane);
    exchange.begin(lane, this.#headOf(exchange.request));
  }

  readonly #onEnd = (exchange: Exchange, result: Result, reusable: boolean): void => {
    const { lane } = exchange;
    lane.leave(exchange);
    this.#count(lane);
    // On HTTP/2 a failed stream leaves its connection whole; on HTTP/1.1 nothing can be trusted.
    const broken = (!reusable && lane.version === "1.1") || lane.isFlooded;
    const isKept = lane.isOpen && lane.isKeptUnder(this.#windowBytes);
    if (broken || (lane.isIdle && !isKept)) this.#drop(lane);
    else if (lane.isIdle && !this.#closed) this.#idle.add(lane);
    const resolve = this.#running.get(exchange);
    this.#running.delete(exchange);
    resolve?.(result);
  };

  readonly #onAgain = (exchange: Exchange): void => {
    exchange.lane.leave(exchange);
    this.#drop(exchange.lane);
    this.#begin(exchange, this.#open(exchange.request, keyOf(exchange.request)));
  };

  #count(lane: Lane): void {
    if (this.#windowBytes === undefined || !isLoopback(lane.localAddress ?? "")) return;
    const { bytes, segments } = lane.takeSegments();
    this.#loopback.bytes += bytes;
    this.#loopback.segments += segments;
  }

  #laneFor(request: TransportRequest): Lane {
    const key = keyOf(request);
    const { headerBytesMax } = request.limits;
    for (const lane of this.#lanes.get(key) ?? [])
      if (
        lane.hasRoom &&
        lane.headerBytesMax === headerBytesMax &&
        lane.isKeptUnder(this.#windowBytes)
      )
        return lane;
    return this.#open(request, key);
  }

  #open(request: TransportRequest, key: string): Lane {
    if (this.#laneCount >= this.#options.lanesMax) this.#dropIdlest();
    const { headerBytesMax } = request.limits;
    const options = { ...this.#options, headerBytesMax, windowBytes: this.#windowBytes };
    const lane = new Lane(key, request, options, {
      onIdleEnd: () => this.#drop(lane),
      onHttp2: () => {
        this.#http2Lanes.add(lane);
        this.#keepWatch();
      },
    });
    const siblings = this.#lanes.get(key);
    if (siblings === undefined) this.#lanes.set(key, [lane]);
    else siblings.push(lane);
    this.#laneCount++;
    return lane;
  }

  #dropIdlest(): void {
    const [idlest] = this.#idle;
    if (idlest !== undefined) this.#drop(idlest);
  }

  #drop(lane: Lane): void {
    this.#forget(lane);
    void lane.destroy();
  }

  #forget(lane: Lane): void {
    this.#idle.delete(lane);
    this.#http2Lanes.delete(lane);
    const siblings = this.#lanes.get(lane.key) ?? [];
    const index = siblings.indexOf(lane);
    if (index < 0) return;
    siblings.splice(index, 1);
    if (siblings.length === 0) this.#lanes.delete(lane.key);
    this.#laneCount--;
  }

  #headOf(request: TransportRequest): Dispatcher.DispatchOptions {
    const { proxy } = this.#options;
    const headers: string[] = [];
    for (const [name, value] of request.headers) headers.push(name, value);
    if (proxy?.kind !== "http" || request.scheme === "https")
      return { method: "GET", path: request.path, headers };
    if (proxy.authorization !== undefined) headers.push("proxy-authorization", proxy.authorization);
    const port = request.port === 80 ? "" : `:${request.port}`;
    return { method: "GET", path: `http://${request.host}${port}${request.path}`, headers };
  }

  /** Frames without content reach no handler, so the received bytes are compared from outside. */
  #keepWatch(): void {
    if (this.#isOnWatch || this.#closed || this.#http2Lanes.size === 0) return;
    this.#isOnWatch = true;
    this.#options.clock.after(FLOOD_TICK_MS, () => {
      this.#isOnWatch = false;
      // Requests on it end with the error of a lost connection, and see the flood as its cause.
      for (const lane of this.#http2Lanes) if (lane.isFlooded) this.#drop(lane);
      this.#keepWatch();
    });
  }

  #keepTicking(): void {
    if (this.#ticking || this.#running.size === 0) return;
    this.#ticking = true;
    const { clock } = this.#options;
    const tickMs = this.#windowBytes === undefined ? TICK_MS : TOLD_TICK_MS;
    const dueMs = clock.nowMs() + tickMs;
    clock.after(tickMs, () => {
      this.#ticking = false;
      // Timers run before sockets are read. When we ourselves were held up, what the servers sent
      // meanwhile must be read before anyone is judged; but never twice in a row.
      this.#spared = !this.#spared && clock.nowMs() - dueMs > tickMs;
      if (!this.#spared) for (const exchange of this.#running.keys()) exchange.tick();
      this.#keepTicking();
    });
  }
}

function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === "::1";
}

function keyOf(request: TransportRequest): string {
  return `${request.scheme}://${request.host}:${request.port} ${request.address}`;
}
