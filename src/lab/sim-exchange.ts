/**
 * One request in virtual time: connecting, waiting for the first byte, reading the body, each under
 * the limits a real transport keeps to.
 *
 * Of each request the next thing that will happen is known: the server's next move, or the limit
 * that ends the waiting for it, whichever is sooner. So a request is a chain of single events, and
 * an ordinary page costs three: connected, first byte, all of it. While the reader refuses to read,
 * the server goes on by itself until its window is full (`sim-stream`), and no limit runs.
 */

import type { TransportAnswer, TransportFailed, TransportRequest } from "../fetch/transport.ts";
import type { TransportFailure } from "../page/outcome.ts";
import type { Conduct } from "./faults.ts";
import { type SimLine, SimStream } from "./sim-stream.ts";

export type Ending = TransportAnswer | TransportFailed;

/** The most that is read, and told, at a time, where no window says less. */
const READ_BYTES_MAX = 65_536;

export interface ExchangeParts {
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
  /** When the whole exchange must be over; later by every pause we were told to make. */
  #deadlineMs: number;
  #cancel: (() => void) | undefined;
  #stream: SimStream | undefined;
  /** Whether everything that came is read, and the reader waits for more. */
  #isThirsty = false;
  #isOver = false;
  #connectMs = 0;
  #askedMs = 0;
  #firstByteMs = 0;
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
    if (isConnected && conduct.connect === "accept") return this.#ask();
    const limit = { ms: request.limits.connectMs, reason: "connect_timeout" } as const;
    const ms = conduct.connect === "silence" ? Infinity : conduct.latencyMs;
    this.#wait(ms, limit, () => {
      if (conduct.connect === "refuse") return this.fail("connect_refused", "no listener");
      this.#connectMs = this.#elapsedMs();
      this.#ask();
    });
  }

  fail(reason: TransportFailure, detail: string): void {
    this.#end({ kind: "failed", reason, detail, traffic: this.#traffic() });
  }

  #ask(): void {
    const { request, conduct } = this.#parts;
    this.#askedMs = this.#elapsedMs();
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
    this.#beginBody();
    this.#receive(bytes, () => {
      const told = headers.find(([name]) => name.toLowerCase() === "content-length")?.[1];
      const isTooLarge = told !== undefined && Number(told) > limits.bodyBytesMax;
      // A body that is announced as too large, or that nobody wants, is not begun.
      if (isTooLarge || !this.#isBodyWanted()) this.#answer("length");
      else this.#read();
    });
  }

  #isBodyWanted(): boolean {
    const { request, conduct } = this.#parts;
    if (conduct.answer === undefined || request.wantsBody === undefined) return true;
    return request.wantsBody({ ...conduct.answer, headers: inLowerCase(conduct.answer.headers) });
  }

  /** The server sends its body behind the head, whether anybody reads or not. */
  #beginBody(): void {
    const { request, conduct, line } = this.#parts;
    this.#stream = new SimStream(line, {
      address: request.address,
      speedBps: conduct.speedBps,
      rttMs: conduct.latencyMs,
      bytes: this.#sendableBytes,
      onArrival: () => {
        if (this.#isThirsty) this.#read();
      },
    });
    this.#stream.begin();
  }

  get #sendableBytes(): number {
    const { answer, breaksOff } = this.#parts.conduct;
    return Math.min(breaksOff?.afterBytes ?? Infinity, answer?.body.length ?? 0);
  }

  /** Reads what has come, or waits for more. */
  #read(): void {
    const { request, conduct, line } = this.#parts;
    const { bodyBytesMax } = request.limits;
    this.#isThirsty = false;
    this.#cancel?.();
    const isWhole = this.#bodyBytes >= (conduct.answer?.body.length ?? 0);
    if (isWhole && conduct.breaksOff === undefined) return this.#answer();
    if (this.#bodyBytes >= bodyBytesMax) return this.#answer("length");
    if (this.#bodyBytes >= this.#sendableBytes) return this.#breakOff();
    const unreadBytes = this.#stream?.unreadBytes ?? 0;
    if (unreadBytes === 0) return this.#thirst();
    const readBytesMax = line.windowBytes ?? READ_BYTES_MAX;
    const bytes = Math.min(unreadBytes, readBytesMax, bodyBytesMax - this.#bodyBytes);
    this.#bodyBytes += bytes;
    this.#stream?.read(bytes);
    this.#receive(bytes, () => {
      if (this.#isTooSlow()) this.fail("too_slow", `${this.#bodyBytes} bytes so far`);
      else this.#read();
    });
  }

  /** The next piece calls by itself; only a limit that ends before it needs a clock. */
  #thirst(): void {
    const { request, line } = this.#parts;
    this.#isThirsty = true;
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

  /** Tells of bytes that came, and goes on when it may. The pause is ours, so it counts for nothing. */
  #receive(bytes: number, goOn: () => void): void {
    const { line, request } = this.#parts;
    const { clock } = line;
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
    if (mayGoOn) return goOn();
    isHeld = true;
    this.#stream?.hold();
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
      firstByteMs: Math.max(0, this.#firstByteMs - this.#askedMs),
      totalMs: this.#elapsedMs(),
      pausedMs: this.#pausedMs,
      // A line that is full makes every way longer.
      rttMs: this.#firstByteMs > 0 ? conduct.latencyMs + line.link.queueMs(nowMs) : undefined,
    };
  }

  #elapsedMs(): number {
    return this.#parts.line.clock.nowMs() - this.#startMs;
  }
}

function inLowerCase(headers: TransportAnswer["headers"]): TransportAnswer["headers"] {
  return headers.map(([name, value]) => [name.toLowerCase(), value]);
}
