/**
 * Simulates one request in virtual time: connecting, waiting for the first byte and reading the body,
 * with the limits of a real transport.
 *
 * The next event of a request is always known: the server's next action or the limit of the wait for
 * it, whichever is earlier. An ordinary page takes three events: connected, first byte, whole body.
 * While the reader is paused, the server sends until its window is full (`sim-stream`), and no limit
 * runs.
 */

import type { TransportAnswer, TransportFailed, TransportRequest } from "../fetch/transport.ts";
import type { TransportFailure } from "../page/outcome.ts";
import type { Conduct } from "./faults.ts";
import { type SimLine, SimStream } from "./sim-stream.ts";

export type Ending = TransportAnswer | TransportFailed;

/** Most bytes per read, unless the window is smaller. */
const READ_BYTES_MAX = 65_536;

interface ExchangeParts {
  readonly request: TransportRequest;
  readonly conduct: Conduct;
  readonly line: SimLine;
  readonly isConnected: boolean;
  readonly onEnd: (ending: Ending) => void;
}

export class SimExchange {
  readonly #parts: ExchangeParts;
  readonly #startMs: number;
  readonly #onAbort: () => void;
  /** Deadline of the whole exchange; every pause of the reader extends it. */
  #deadlineMs: number;
  #cancel: (() => void) | undefined;
  #stream: SimStream | undefined;
  /** Whether all received bytes are read and the reader waits for more. */
  #isWaitingForBytes = false;
  #isOver = false;
  /** As on Linux, the reader can see what its connection holds unread. */
  readonly #arrival = {
    isGreeting: false,
    unreadBytes: (): number => this.#stream?.unreadBytes ?? 0,
  };
  readonly #handshakeArrival = { ...this.#arrival, isGreeting: true };
  #connectMs = 0;
  #sentAtMs = 0;
  #firstByteMs = 0;
  #bodyMs = 0;
  #pausedMs = 0;
  #receivedBytes = 0;
  #bodyBytes = 0;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    this.#startMs = parts.line.clock.nowMs();
    this.#deadlineMs = this.#startMs + parts.request.limits.totalMs;
    this.#onAbort = () => this.fail("internal_error", "aborted");
  }

  begin(): void {
    const { request, conduct, isConnected } = this.#parts;
    if (request.signal?.aborted === true) return this.#onAbort();
    request.signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (isConnected && conduct.connect === "accept") return this.#sendRequest();
    const limit = { ms: request.limits.connectMs, reason: "connect_timeout" } as const;
    const ms = conduct.connect === "silence" ? Infinity : conduct.latencyMs;
    this.#wait(ms, limit, () => {
      if (conduct.connect === "refuse") return this.fail("connect_refused", "connection refused");
      this.#handshake();
    });
  }

  /** A TLS handshake takes one more round trip. */
  #handshake(): void {
    const { request, conduct, line } = this.#parts;
    const { handshakeBytes } = conduct;
    const connected = (): void => {
      this.#connectMs = this.#elapsedMs();
      this.#sendRequest();
    };
    if (handshakeBytes === undefined) return connected();
    const limit = { ms: request.limits.connectMs, reason: "connect_timeout" } as const;
    this.#wait(conduct.latencyMs, limit, () => {
      const nowMs = line.clock.nowMs();
      line.wire?.carry(nowMs, nowMs, handshakeBytes);
      this.#receive(handshakeBytes, connected, this.#handshakeArrival);
    });
  }

  fail(reason: TransportFailure, detail: string): void {
    this.#end({ kind: "failed", reason, detail, traffic: this.#traffic() });
  }

  #sendRequest(): void {
    const { request, conduct } = this.#parts;
    this.#sentAtMs = this.#elapsedMs();
    const limit = { ms: request.limits.firstByteMs, reason: "first_byte_timeout" } as const;
    const answersMs = conduct.latencyMs + (conduct.thinkMs ?? 0);
    const ms = conduct.answer === undefined ? Infinity : answersMs;
    this.#wait(ms, limit, () => this.#readHead());
  }

  #readHead(): void {
    const { request, conduct, line } = this.#parts;
    const { limits } = request;
    const headers = conduct.answer?.headers ?? [];
    this.#firstByteMs = this.#elapsedMs();
    const bytes = headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 20);
    if (headers.length > limits.headerFieldsMax) return this.fail("header_too_many", "");
    if (bytes > limits.headerBytesMax) return this.fail("header_too_large", "");
    const nowMs = line.clock.nowMs();
    line.wire?.carry(nowMs, nowMs, bytes);
    if (conduct.bodyMs === undefined) this.#beginBody();
    else line.clock.after(conduct.bodyMs, () => this.#beginBody());
    this.#receive(bytes, () => {
      const length = headers.find(([name]) => name.toLowerCase() === "content-length")?.[1];
      const isTooLarge = length !== undefined && Number(length) > limits.bodyBytesMax;
      // A body that is declared too large, or not wanted, is not read.
      if (isTooLarge || !this.#isBodyWanted()) this.#answer("length");
      else this.#read();
    });
  }

  #isBodyWanted(): boolean {
    const { request, conduct } = this.#parts;
    if (conduct.answer === undefined || request.wantsBody === undefined) return true;
    return request.wantsBody({ ...conduct.answer, headers: inLowerCase(conduct.answer.headers) });
  }

  /** The server sends its body right after the head, even if it is not read. */
  #beginBody(): void {
    const { request, conduct, line } = this.#parts;
    if (this.#isOver) return;
    this.#stream = new SimStream(line, {
      address: request.address,
      speedBps: conduct.speedBps,
      rttMs: conduct.latencyMs,
      bytes: this.#sendableBytes,
      onArrival: () => {
        if (this.#isWaitingForBytes) this.#read();
      },
    });
    this.#stream.begin();
    if (this.#isWaitingForBytes) this.#read();
  }

  get #sendableBytes(): number {
    const { answer, breaksOff } = this.#parts.conduct;
    return Math.min(breaksOff?.afterBytes ?? Infinity, answer?.body.length ?? 0);
  }

  /** Reads the received bytes, or waits for more. */
  #read(): void {
    const { request, conduct, line } = this.#parts;
    const { bodyBytesMax } = request.limits;
    this.#isWaitingForBytes = false;
    this.#cancel?.();
    const isWhole = this.#bodyBytes >= (conduct.answer?.body.length ?? 0);
    if (isWhole && conduct.breaksOff === undefined) return this.#answer();
    if (this.#bodyBytes >= bodyBytesMax) return this.#answer("length");
    if (this.#bodyBytes >= this.#sendableBytes) return this.#breakOff();
    const unreadBytes = this.#stream?.unreadBytes ?? 0;
    if (unreadBytes === 0) return this.#waitForBytes();
    const readBytesMax = line.windowBytes ?? READ_BYTES_MAX;
    if (this.#bodyBytes === 0)
      this.#bodyMs = this.#elapsedMs() - this.#firstByteMs - this.#pausedMs;
    const bytes = Math.min(unreadBytes, readBytesMax, bodyBytesMax - this.#bodyBytes);
    this.#bodyBytes += bytes;
    this.#stream?.read(bytes);
    this.#receive(bytes, () => {
      if (this.#isTooSlow()) this.fail("too_slow", `${this.#bodyBytes} bytes so far`);
      else this.#read();
    });
  }

  /** The next piece calls `onArrival`; a timer is needed only for a limit before it. */
  #waitForBytes(): void {
    const { request, line } = this.#parts;
    this.#isWaitingForBytes = true;
    const ms = (this.#stream?.arrivesAtMs ?? Infinity) - line.clock.nowMs();
    const limit = { ms: request.limits.idleMs, reason: "idle_timeout" } as const;
    if (ms > Math.min(limit.ms, this.#leftMs())) this.#wait(ms, limit, () => {});
  }

  #breakOff(): void {
    const { request, conduct } = this.#parts;
    if (conduct.breaksOff?.how === "reset") return this.fail("conn_reset", "in the body");
    if (conduct.breaksOff?.how === "close") return this.fail("body_short", "closed in the body");
    this.#wait(Infinity, { ms: request.limits.idleMs, reason: "idle_timeout" }, () => {});
  }

  /** Reports received bytes, and continues when the reader allows it. The reader's pauses do not count as time. */
  #receive(bytes: number, resume: () => void, arrival = this.#arrival): void {
    const { line, request } = this.#parts;
    const { clock } = line;
    const sinceMs = clock.nowMs();
    this.#receivedBytes += bytes;
    let mayResume = false;
    let isHeld = false;
    const readOn = (): void => {
      mayResume = true;
      if (!isHeld || this.#isOver) return;
      isHeld = false;
      const pauseMs = clock.nowMs() - sinceMs;
      this.#pausedMs += pauseMs;
      this.#deadlineMs += pauseMs;
      resume();
    };
    // `readOn` may be called before `onBytes` returns, so its return value is applied first.
    if (request.onBytes?.(bytes, readOn, arrival) ?? true) mayResume = true;
    if (this.#isOver) return;
    if (mayResume) return resume();
    isHeld = true;
    this.#stream?.hold();
  }

  #isTooSlow(): boolean {
    const { slowAfterMs, speedFloorBps } = this.#parts.request.limits;
    const bodyMs = this.#elapsedMs() - this.#firstByteMs - this.#pausedMs;
    return bodyMs > slowAfterMs && (this.#bodyBytes * 1000) / bodyMs < speedFloorBps;
  }

  /** Waits for the server's next action, or for the limit of the wait. */
  #wait(
    ms: number,
    limit: { readonly ms: number; readonly reason: TransportFailure },
    then: () => void,
  ): void {
    const { clock } = this.#parts.line;
    const leftMs = this.#leftMs();
    const limitMs = Math.min(limit.ms, leftMs);
    const reason = limit.ms <= leftMs ? limit.reason : "total_timeout";
    this.#cancel =
      ms <= limitMs
        ? clock.after(ms, then)
        : clock.after(limitMs, () => this.fail(reason, `after ${limitMs} ms`));
  }

  #leftMs(): number {
    return Math.max(0, this.#deadlineMs - this.#parts.line.clock.nowMs());
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
    this.#stream?.stop();
    this.#parts.request.signal?.removeEventListener("abort", this.#onAbort);
    this.#parts.onEnd(ending);
  }

  #traffic(): TransportAnswer["traffic"] {
    const { request, conduct, line } = this.#parts;
    const { path, host, headers } = request;
    const sentBytes = headers.reduce(
      (sum, [name, value]) => sum + name.length + value.length + 4,
      path.length + host.length + 26,
    );
    const nowMs = line.clock.nowMs();
    return {
      receivedBytes: this.#receivedBytes,
      sentBytes,
      connectMs: this.#connectMs,
      firstByteMs: Math.max(0, this.#firstByteMs - this.#sentAtMs),
      bodyMs: this.#bodyMs,
      totalMs: this.#elapsedMs(),
      pausedMs: this.#pausedMs,
      // The queue of a full link lengthens the round trip.
      rttMs: this.#firstByteMs > 0 ? conduct.latencyMs + line.link.queueMs(nowMs) : undefined,
    };
  }

  #elapsedMs(): number {
    return this.#parts.line.clock.nowMs() - this.#startMs;
  }
}

function inLowerCase(headers: TransportAnswer["headers"]): TransportAnswer["headers"] {
  return headers.map(([name, value]) => [name.toLowerCase(), value, name]);
}
