/**
 * One request under way: gathers the answer, keeps the limits, and ends exactly once.
 *
 * undici calls it with pieces of the answer; the transport's clock calls `tick` a few times a
 * second, and all timing is done there by comparing numbers: no timer is made per request. What
 * the caller refuses to read is taken out of every time that the server answers for.
 *
 * Promises:
 *   1. it ends once, with an answer or one reason, within the limits plus one tick;
 *   2. every received byte is reported to `onBytes` once, at most one tick later;
 *   3. after a refusal nothing more comes in on a lane with a valve; on others at most one read of
 *      the socket (64 KiB; on HTTP/2 one window of 256 KiB) comes before it holds.
 */

import type { Dispatcher } from "undici";
import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import type { TransportFailure } from "../page/outcome.ts";
import { exchangeFailure, isEndOfConnection, type Phase, textOf } from "./failure.ts";
import { headerPairs } from "./header-pairs.ts";
import type { Lane, Passenger } from "./lane.ts";
import { ServerTime } from "./server-time.ts";
import {
  headerOf,
  type Traffic,
  type TransportAnswer,
  type TransportFailed,
  type TransportRequest,
} from "./transport.ts";

type Result = TransportAnswer | TransportFailed;
type Headers = TransportAnswer["headers"];

const INTERIM_MAX = 16;
/** What a server says after a greeting of TLS and before its answer: tickets, by which it would know us again. */
const TICKETS_BYTES_MAX = 1500;
/** One read of the socket: what may have come beyond what the parser has seen. */
const READ_BYTES = 64 * 1024;
/** Framing of a chunk, with a TLS record of its own, in the worst honest case of one-byte chunks. */
const FRAMING_PER_BODY_BYTE_MAX = 64;

export class Exchange implements Passenger {
  readonly request: TransportRequest;
  readonly #time: ServerTime;
  readonly #end: (exchange: Exchange, result: Result, reusable: boolean) => void;
  readonly #again: (exchange: Exchange) => void;
  #lane: Lane | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #ended = false;
  #retried = false;

  #phase: Phase = "connect";
  #startedMs: number;
  #phaseMs: number;
  #lastByteMs = 0;
  /** The last byte that was there when the speed was judged last. */
  #judgedByteMs = 0;
  #firstByteMs = 0;
  #connectTookMs = 0;
  #firstByteTookMs = 0;
  #bodyTookMs = 0;
  #rttMs: number | undefined;
  /** Set when a refusal has ended, so that one taken back within the asking does not hold. */
  #mayReadOn = true;

  #receivedBytes = 0;
  #sentBytes = 0;
  /** Received when the request went out, and when its first byte came. */
  #receivedAtSent = 0;
  #dialled = false;

  #interim = 0;
  #status = 0;
  #statusText = "";
  #headers: Headers = [];
  #chunks: Uint8Array[] = [];
  #bodyBytes = 0;

  constructor(
    request: TransportRequest,
    clock: Clock,
    end: (exchange: Exchange, result: Result, reusable: boolean) => void,
    again: (exchange: Exchange) => void,
  ) {
    this.request = request;
    this.#time = new ServerTime(clock);
    this.#end = end;
    this.#again = again;
    this.#startedMs = this.#time.nowMs();
    this.#phaseMs = this.#startedMs;
  }

  get lane(): Lane {
    assert(this.#lane !== undefined, "an exchange under way has a lane");
    return this.#lane;
  }

  /** Begins, or begins again, on a lane; `head` is what undici needs to write the request. */
  begin(lane: Lane, head: Dispatcher.DispatchOptions): void {
    this.#lane = lane;
    this.#enter("connect");
    try {
      lane.board(this, head);
    } catch (error) {
      this.fail("internal_error", textOf(error));
    }
  }

  onDial(step: "connect" | "tls"): void {
    if (this.#phase !== "connect" && this.#phase !== "tls") return;
    this.#dialled = true;
    if (step === "tls") this.#rttMs = this.#time.nowMs() - this.#phaseMs;
    this.#enter(step);
  }

  get isGreeting(): boolean {
    return this.request.scheme === "https" && this.#phase !== "head" && this.#phase !== "body";
  }

  unreadBytes(): number | undefined {
    return this.lane.unreadBytes();
  }

  onRead(): void {
    if (!this.#ended) this.#charge();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended) return controller.abort(new Error("given up"));
    this.#charge();
    if (this.#time.isHeld) this.#shut();
    if (this.#dialled) this.#connected();
    this.#receivedAtSent = this.#receivedBytes;
    this.#enter("sent");
    this.request.onSent?.();
  }

  onResponseStarted(): void {
    if (this.#phase !== "sent") return;
    const nowMs = this.#time.nowMs();
    this.#firstByteTookMs = nowMs - this.#phaseMs;
    this.#firstByteMs = nowMs;
    this.#lastByteMs = nowMs;
    this.#enter("head");
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    parsed: Readonly<Record<string, string | string[] | undefined>>,
    statusText = "",
  ): void {
    this.onResponseStarted();
    if (this.#ended) return;
    this.#charge();
    if (status < 200) return this.#interimCame(status);
    this.lane.attribute(this.request.limits.headerBytesMax);
    this.#status = status;
    this.#statusText = statusText;
    this.#headers = headerPairs(controller.rawHeaders, parsed);
    this.#enter("body");
    const wrong = this.#wrongWithHead();
    if (wrong !== undefined) return this.fail(wrong, "headers");
    const length = headerOf(this, "content-length");
    const tooLong = length !== undefined && Number(length) > this.request.limits.bodyBytesMax;
    const wanted = this.request.wantsBody?.({ status, headers: this.#headers }) ?? true;
    if (!wanted || (tooLong && status !== 304)) this.#finish("length");
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return;
    this.#charge();
    if (this.lane.version === "2") this.#lastByteMs = this.#time.nowMs();
    if (this.#bodyBytes === 0) this.#bodyTookMs = this.#time.nowMs() - this.#phaseMs;
    this.lane.attribute(FRAMING_PER_BODY_BYTE_MAX * chunk.length);
    const roomBytes = this.request.limits.bodyBytesMax - this.#bodyBytes;
    const kept = chunk.length > roomBytes ? chunk.subarray(0, roomBytes) : chunk;
    this.#bodyBytes += kept.length;
    if (kept.length > 0) this.#chunks.push(kept);
    if (chunk.length > roomBytes) this.#finish("length");
  }

  onResponseEnd(): void {
    if (this.#ended) return;
    this.#charge();
    if (this.lane.isFlooded) this.#failFlooded();
    else if (this.#framingIsAbsurd()) this.fail("bad_framing", "more framing than body");
    else this.#finish(undefined);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#ended) return;
    this.#charge();
    const untouched = this.#phase === "sent" && this.#receivedBytes === this.#receivedAtSent;
    // The peer left a kept connection before it saw the request: not the URL's fault.
    if (untouched && this.lane.wasUsed && !this.#retried && isEndOfConnection(error)) {
      this.#retried = true;
      return this.#again(this);
    }
    if (this.lane.isFlooded) return this.#failFlooded();
    const reason = exchangeFailure(error, this.#phase);
    const manyFields = reason === "header_too_large" && this.#hasManyFields();
    this.fail(manyFields ? "header_too_many" : reason, textOf(error));
  }

  /** The clock passes by: counts what came unseen, and ends what has overrun a limit. */
  tick(): void {
    if (this.#ended) return;
    // Looked at here and not listened to: a listener for each request costs more than it is worth.
    if (this.request.signal?.aborted === true)
      return this.fail("total_timeout", "given up by the crawler");
    if (!this.lane.tellsOfReads) this.#charge();
    if (this.#time.isHeld) return;
    const overrun = this.#overrun(this.#time.nowMs());
    if (overrun !== undefined) this.fail(overrun, `while in phase ${this.#phase}`);
  }

  fail(reason: TransportFailure, detail: string): void {
    if (this.#ended) return;
    this.#stop(false, { kind: "failed", reason, detail, traffic: this.#traffic() });
  }

  #failFlooded(): void {
    this.fail("frame_flood", "more than 1 MiB of HTTP/2 frames beside responses");
  }

  get headers(): Headers {
    return this.#headers;
  }

  #finish(truncated: "length" | undefined): void {
    const result: TransportAnswer = {
      kind: "answer",
      status: this.#status,
      statusText: this.#statusText,
      httpVersion: this.lane.version,
      headers: this.#headers,
      body: joined(this.#chunks),
      truncated,
      eofDelimited: this.#isEofDelimited(),
      verified: this.lane.verified,
      ...(this.lane.hasBareLineEnds ? { bareLineEnds: true } : {}),
      traffic: this.#traffic(),
    };
    this.#stop(truncated === undefined, result);
  }

  #stop(whole: boolean, result: Result): void {
    this.#ended = true;
    this.#chunks = [];
    // undici must hear of it before its socket goes, or it takes that end for the body's.
    if (!whole) {
      this.#controller?.abort(new Error("given up"));
      this.lane.expectRest();
    }
    this.#end(this, result, whole);
  }

  #traffic(): Traffic {
    this.#sentBytes += this.lane.takeSentBytes();
    return {
      receivedBytes: this.#receivedBytes,
      sentBytes: this.#sentBytes,
      connectMs: this.#connectTookMs,
      firstByteMs: this.#firstByteTookMs,
      bodyMs: this.#bodyTookMs,
      totalMs: this.#time.nowMs() - this.#startedMs + this.#time.heldMs,
      pausedMs: this.#time.heldMs,
      rttMs: this.lane.rttMs() ?? this.#rttMs,
    };
  }

  #connected(): void {
    const nowMs = this.#time.nowMs();
    this.#connectTookMs = nowMs - this.#startedMs;
    if (this.#phase === "connect") this.#rttMs = nowMs - this.#phaseMs;
  }

  /** Takes the new bytes off the lane, tells the caller, and stops reading if it says so. */
  #charge(): void {
    const bytes = this.lane.takeReceivedBytes();
    if (bytes === 0) return;
    this.#receivedBytes += bytes;
    if (this.lane.version !== "2") {
      this.#lastByteMs = this.#time.nowMs();
      // A record of TLS holds up to 16 KiB, and is seen when it is whole: what is more than tickets is an answer that has begun.
      const cameBytes = this.#receivedBytes - this.#receivedAtSent;
      if (this.isGreeting && cameBytes > TICKETS_BYTES_MAX) this.onResponseStarted();
    }
    if (this.request.onBytes === undefined) return;
    this.#mayReadOn = false;
    if (this.request.onBytes(bytes, this.#readOn, this) || this.#mayReadOn) return;
    this.#time.hold();
    this.#shut();
  }

  #shut(): void {
    if (!this.lane.hold()) this.#controller?.pause();
  }

  readonly #readOn = (): void => {
    this.#mayReadOn = true;
    if (!this.#time.isHeld || this.#ended) return;
    this.#time.release();
    if (this.lane.release()) return;
    // Perhaps another exchange is being parsed right now, and undici parses one at a time.
    queueMicrotask(() => {
      if (!this.#time.isHeld && !this.#ended) this.#controller?.resume();
    });
  };

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#phaseMs = this.#time.nowMs();
  }

  #interimCame(status: number): void {
    if (status < 100) this.fail("bad_status", `status ${status}`);
    else if (status === 101)
      this.fail("bad_framing", "switches to a protocol that was not requested");
    else if (++this.#interim > INTERIM_MAX) this.fail("bad_framing", "endless interim answers");
  }

  #wrongWithHead(): TransportFailure | undefined {
    const { headerFieldsMax, headerBytesMax } = this.request.limits;
    if (this.#status > 999) return "bad_status";
    if (this.#headers.length > headerFieldsMax) return "header_too_many";
    if (this.#statusText.length > headerBytesMax) return "header_too_large";
    if (this.request.scheme === "http" && this.#status === 407 && this.request.address === "")
      return "proxy_error";
    const coding = headerOf(this, "transfer-encoding")?.toLowerCase();
    // We offered no other transfer coding, so it cannot be decoded.
    if (coding !== undefined && coding !== "chunked" && coding !== "identity") return "bad_framing";
    return undefined;
  }

  #overrun(nowMs: number): TransportFailure | undefined {
    const { limits } = this.request;
    if (nowMs - this.#startedMs > limits.totalMs) return "total_timeout";
    const inPhaseMs = nowMs - this.#phaseMs;
    switch (this.#phase) {
      case "connect":
        if (inPhaseMs <= limits.connectMs) return undefined;
        return this.request.address === "" ? "proxy_error" : "connect_timeout";
      case "tls":
        return inPhaseMs > limits.tlsMs ? "tls_timeout" : undefined;
      case "sent":
        return inPhaseMs > limits.firstByteMs ? "first_byte_timeout" : undefined;
      case "head":
        if (this.#receivedBytes - this.#receivedAtSent > limits.headerBytesMax + 4 * READ_BYTES)
          return "header_too_large";
        return this.#tooSlow(nowMs);
      case "body":
        return this.#framingIsAbsurd() ? "bad_framing" : this.#tooSlow(nowMs);
    }
  }

  /** A stall is idleness; only who still sends can be slow, so that is asked when bytes come. */
  #tooSlow(nowMs: number): TransportFailure | undefined {
    const { idleMs, slowAfterMs, speedFloorBps } = this.request.limits;
    if (nowMs - this.#lastByteMs > idleMs) return "idle_timeout";
    const sinceMs = nowMs - this.#firstByteMs;
    const cameSince = this.#lastByteMs > this.#judgedByteMs;
    this.#judgedByteMs = this.#lastByteMs;
    if (!cameSince || sinceMs < slowAfterMs) return undefined;
    const cameBytes = this.#receivedBytes - this.#receivedAtSent;
    return cameBytes * 1000 < speedFloorBps * sinceMs ? "too_slow" : undefined;
  }

  /** llhttp skips chunk extensions of any length in silence, so they are weighed from outside. */
  #framingIsAbsurd(): boolean {
    if (this.lane.version === "2") return false;
    const otherBytes = this.#receivedBytes - this.#receivedAtSent - this.#bodyBytes;
    const fairBytes = this.#bodyBytes * FRAMING_PER_BODY_BYTE_MAX + 2 * READ_BYTES;
    return otherBytes > this.request.limits.headerBytesMax + fairBytes;
  }

  /** undici counts names and values; what is beyond them is at least four bytes for each field. */
  #hasManyFields(): boolean {
    const { headerBytesMax, headerFieldsMax } = this.request.limits;
    const cameBytes = this.#receivedBytes - this.#receivedAtSent;
    return (cameBytes - headerBytesMax - READ_BYTES) / 4 > headerFieldsMax;
  }

  #isEofDelimited(): boolean {
    if (this.lane.version === "2" || this.#status === 204 || this.#status === 304) return false;
    if (headerOf(this, "content-length") !== undefined) return false;
    return headerOf(this, "transfer-encoding")?.toLowerCase() !== "chunked";
  }
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  if (first === undefined) return new Uint8Array(0);
  return chunks.length === 1 ? first : Buffer.concat(chunks);
}
