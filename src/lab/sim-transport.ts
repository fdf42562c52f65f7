/**
 * The network, simulated: answers come after the latency and at the speed of their server, in
 * virtual time, and keep to every limit a real transport keeps to.
 *
 * Of each request the next thing that will happen is known: the server's next move, or the limit
 * that ends the waiting for it, whichever is sooner. So a request is a chain of single events, and
 * an ordinary page costs three: connected, first byte, all of it.
 *
 * With a shared link, pieces queue for it in the order they were sent, as they would at the narrow
 * end of a line.
 */

import type { Clock } from "../base/clock.ts";
import type {
  Transport,
  TransportAnswer,
  TransportFailed,
  TransportRequest,
} from "../fetch/transport.ts";
import type { TransportFailure } from "../page/outcome.ts";
import type { Conduct } from "./faults.ts";

export type Ending = TransportAnswer | TransportFailed;

export interface SimNetwork {
  readonly clock: Clock;
  readonly conductOf: (request: TransportRequest) => Conduct;
  /** Told of every request as it begins; the answer is called when it ends. */
  readonly watch?: (request: TransportRequest) => (ending: Ending) => void;
  /** The rate that all requests share; undefined when only the servers are slow. */
  readonly linkBps?: number;
}

/** A piece is at most this large, and at most as much as comes in a second. */
const PIECE_BYTES_MAX = 65_536;
const PIECE_MS_MAX = 1_000;

export class SimTransport implements Transport {
  readonly #network: SimNetwork;
  readonly #link: SharedLink;
  readonly #underWay = new Set<SimExchange>();
  /** Open connections that rest, by where they lead. */
  readonly #resting = new Map<string, number>();
  #isClosed = false;

  constructor(network: SimNetwork) {
    this.#network = network;
    this.#link = new SharedLink(network.linkBps);
  }

  exchange(request: TransportRequest): Promise<Ending> {
    return new Promise((resolve) => {
      const watched = this.#network.watch?.(request);
      const key = `${request.scheme}://${request.host}:${request.port} ${request.address}`;
      const exchange = new SimExchange({
        request,
        clock: this.#network.clock,
        conduct: this.#network.conductOf(request),
        link: this.#link,
        isConnected: this.#takeConnection(key),
        onEnd: (ending) => {
          this.#underWay.delete(exchange);
          if (ending.kind === "answer" && ending.truncated === undefined) this.#rest(key);
          watched?.(ending);
          resolve(ending);
        },
      });
      this.#underWay.add(exchange);
      if (this.#isClosed) exchange.fail("conn_reset", "the transport is closed");
      else {
        // Servers of a world log a request when it is begun, so that is when it goes out.
        request.onSent?.();
        exchange.begin();
      }
    });
  }

  /** Pieces come one by one and wait to be wanted, so nothing is ever held unread. */
  setWindow(_: number | undefined): void {}

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const exchange of this.#underWay) exchange.fail("conn_reset", "the transport was closed");
  }

  #takeConnection(key: string): boolean {
    const count = this.#resting.get(key) ?? 0;
    if (count > 1) this.#resting.set(key, count - 1);
    else this.#resting.delete(key);
    return count > 0;
  }

  #rest(key: string): void {
    this.#resting.set(key, (this.#resting.get(key) ?? 0) + 1);
  }
}

interface ExchangeParts {
  readonly request: TransportRequest;
  readonly clock: Clock;
  readonly conduct: Conduct;
  readonly link: SharedLink;
  readonly isConnected: boolean;
  readonly onEnd: (ending: Ending) => void;
}

class SimExchange {
  readonly #parts: ExchangeParts;
  readonly #startMs: number;
  readonly #onAbort: () => void;
  /** When the whole exchange must be over; later by every pause we were told to make. */
  #deadlineMs: number;
  #cancel: (() => void) | undefined;
  #isOver = false;
  #connectMs = 0;
  #firstByteMs = 0;
  #pausedMs = 0;
  #receivedBytes = 0;
  #bodyBytes = 0;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    this.#startMs = parts.clock.nowMs();
    this.#deadlineMs = this.#startMs + parts.request.limits.totalMs;
    this.#onAbort = () => this.fail("internal_error", "aborted");
  }

  begin(): void {
    const { request, conduct, isConnected } = this.#parts;
    if (request.signal?.aborted === true) return this.#onAbort();
    request.signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (isConnected && conduct.connect === "accept") return this.#ask();
    const limit = { ms: request.limits.connectMs, reason: "connect_timeout" } as const;
    const ms = conduct.connect === "silence" ? Infinity : conduct.latencyMs;
    this.#wait(ms, limit, () => {
      if (conduct.connect === "refuse") return this.fail("connect_refused", "nobody listens");
      this.#connectMs = this.#elapsedMs();
      this.#ask();
    });
  }

  fail(reason: TransportFailure, detail: string): void {
    this.#end({ kind: "failed", reason, detail, traffic: this.#traffic() });
  }

  #ask(): void {
    const { request, conduct } = this.#parts;
    const limit = { ms: request.limits.firstByteMs, reason: "first_byte_timeout" } as const;
    const ms = conduct.answer === undefined ? Infinity : conduct.latencyMs;
    this.#wait(ms, limit, () => this.#readHead());
  }

  #readHead(): void {
    const { request, conduct } = this.#parts;
    const { limits } = request;
    const headers = conduct.answer?.headers ?? [];
    this.#firstByteMs = this.#elapsedMs();
    const bytes = headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 20);
    if (headers.length > limits.headerFieldsMax) return this.fail("header_too_many", "");
    if (bytes > limits.headerBytesMax) return this.fail("header_too_large", "");
    this.#receive(bytes, () => {
      const told = headers.find(([name]) => name.toLowerCase() === "content-length")?.[1];
      const isTooLarge = told !== undefined && Number(told) > limits.bodyBytesMax;
      // A body that is announced as too large, or that nobody wants, is not begun.
      if (isTooLarge || !this.#isBodyWanted()) this.#answer("length");
      else this.#readOn();
    });
  }

  #isBodyWanted(): boolean {
    const { request, conduct } = this.#parts;
    if (conduct.answer === undefined || request.wantsBody === undefined) return true;
    return request.wantsBody({ ...conduct.answer, headers: inLowerCase(conduct.answer.headers) });
  }

  #readOn(): void {
    const { request, conduct, clock, link } = this.#parts;
    const bodyBytes = conduct.answer?.body.length ?? 0;
    if (this.#bodyBytes >= bodyBytes && conduct.breaksOff === undefined) return this.#answer();
    if (this.#bodyBytes >= request.limits.bodyBytesMax) return this.#answer("length");
    const until = Math.min(conduct.breaksOff?.afterBytes ?? bodyBytes, bodyBytes);
    if (this.#bodyBytes >= until) return this.#breakOff();
    const pieceMax = Math.ceil(Math.min(PIECE_BYTES_MAX, (conduct.speedBps * PIECE_MS_MAX) / 1000));
    const room = request.limits.bodyBytesMax - this.#bodyBytes;
    const bytes = Math.min(pieceMax, until - this.#bodyBytes, room);
    const ms = link.carryMs(clock.nowMs(), bytes, (bytes * 1000) / conduct.speedBps);
    this.#wait(ms, { ms: request.limits.idleMs, reason: "idle_timeout" }, () => {
      this.#bodyBytes += bytes;
      this.#receive(bytes, () => {
        if (this.#isTooSlow()) this.fail("too_slow", `${this.#bodyBytes} bytes so far`);
        else this.#readOn();
      });
    });
  }

  #breakOff(): void {
    const { request, conduct } = this.#parts;
    if (conduct.breaksOff?.how === "reset") return this.fail("conn_reset", "in the body");
    if (conduct.breaksOff?.how === "close") return this.fail("body_short", "closed in the body");
    this.#wait(Infinity, { ms: request.limits.idleMs, reason: "idle_timeout" }, () => {});
  }

  /** Tells of bytes that came, and goes on when it may. The pause is ours, so it counts for nothing. */
  #receive(bytes: number, goOn: () => void): void {
    const { clock, request } = this.#parts;
    const sinceMs = clock.nowMs();
    this.#receivedBytes += bytes;
    let mayGoOn = false;
    let isHeld = false;
    const readOn = (): void => {
      mayGoOn = true;
      if (!isHeld || this.#isOver) return;
      isHeld = false;
      const pauseMs = clock.nowMs() - sinceMs;
      this.#pausedMs += pauseMs;
      this.#deadlineMs += pauseMs;
      goOn();
    };
    // The answer counts first, because an end of the refusal may come within the asking.
    if (request.onBytes?.(bytes, readOn) ?? true) mayGoOn = true;
    if (this.#isOver) return;
    if (mayGoOn) goOn();
    else isHeld = true;
  }

  #isTooSlow(): boolean {
    const { slowAfterMs, speedFloorBps } = this.#parts.request.limits;
    const bodyMs = this.#elapsedMs() - this.#firstByteMs - this.#pausedMs;
    return bodyMs > slowAfterMs && (this.#bodyBytes * 1000) / bodyMs < speedFloorBps;
  }

  /** Waits for the server's next move, or for the limit that ends the waiting. */
  #wait(
    ms: number,
    limit: { readonly ms: number; readonly reason: TransportFailure },
    then: () => void,
  ): void {
    const { clock } = this.#parts;
    const leftMs = Math.max(0, this.#deadlineMs - clock.nowMs());
    const limitMs = Math.min(limit.ms, leftMs);
    const reason = limit.ms <= leftMs ? limit.reason : "total_timeout";
    this.#cancel =
      ms <= limitMs
        ? clock.after(ms, then)
        : clock.after(limitMs, () => this.fail(reason, `after ${limitMs} ms`));
  }

  #answer(truncated?: "length"): void {
    const { answer } = this.#parts.conduct;
    if (answer === undefined) return;
    this.#end({
      kind: "answer",
      status: answer.status,
      statusText: answer.statusText,
      httpVersion: "1.1",
      headers: inLowerCase(answer.headers),
      body: answer.body.subarray(0, this.#bodyBytes),
      truncated,
      eofDelimited: false,
      verified: true,
      traffic: this.#traffic(),
    });
  }

  #end(ending: Ending): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancel?.();
    this.#parts.request.signal?.removeEventListener("abort", this.#onAbort);
    this.#parts.onEnd(ending);
  }

  #traffic(): TransportAnswer["traffic"] {
    const { path, host, headers } = this.#parts.request;
    const sentBytes = headers.reduce(
      (sum, [name, value]) => sum + name.length + value.length + 4,
      path.length + host.length + 26,
    );
    return {
      receivedBytes: this.#receivedBytes,
      sentBytes,
      connectMs: this.#connectMs,
      firstByteMs: this.#firstByteMs,
      totalMs: this.#elapsedMs(),
      pausedMs: this.#pausedMs,
      rttMs: this.#connectMs > 0 ? this.#connectMs : undefined,
    };
  }

  #elapsedMs(): number {
    return this.#parts.clock.nowMs() - this.#startMs;
  }
}

function inLowerCase(headers: TransportAnswer["headers"]): TransportAnswer["headers"] {
  return headers.map(([name, value]) => [name.toLowerCase(), value]);
}

/** The narrow end that everything passes through, one piece after the other. */
class SharedLink {
  readonly #linkBps: number | undefined;
  #freeAtMs = 0;

  constructor(linkBps: number | undefined) {
    this.#linkBps = linkBps;
  }

  /** How long a piece is on its way that its server sends in `serverMs`. */
  carryMs(nowMs: number, bytes: number, serverMs: number): number {
    if (this.#linkBps === undefined) return serverMs;
    this.#freeAtMs = Math.max(nowMs, this.#freeAtMs) + (bytes * 1000) / this.#linkBps;
    return Math.max(serverMs, this.#freeAtMs - nowMs);
  }
}
