/**
 * Tells a collector of OpenTelemetry about every request, as spans over OTLP/HTTP in JSON.
 *
 * For looking on, so it never holds anybody up: what a collector does not take in time is dropped and
 * counted, and one that is away is told of in one line.
 *
 * Bounded: spans that wait, and what one message holds. Ids are random, and mean nothing.
 */

import { randomBytes } from "node:crypto";
import type { Log } from "../base/log.ts";

export interface RequestSpan {
  readonly url: string;
  readonly site: string;
  readonly address: string;
  /** How it ended: a reason of the closed list, or what the answer was. */
  readonly outcome: string;
  /** 0 when nothing was answered. */
  readonly status: number;
  readonly bytes: number;
  /** On the wall clock. */
  readonly atMs: number;
  readonly durationMs: number;
}

export interface Traces {
  note(span: RequestSpan): void;
  close(): Promise<void>;
}

export interface TracesOptions {
  /** Where the collector listens, such as http://127.0.0.1:4318; the usual path is added. */
  readonly collector: string;
  readonly version: string;
  readonly log: Log;
}

const WAITING_MAX = 8_192;
const SPANS_PER_MESSAGE = 512;
const SEND_EVERY_MS = 2_000;
const ANSWER_MS_MAX = 5_000;
const URL_CHARACTERS_MAX = 2_048;
/** As OpenTelemetry numbers them. */
const KIND_CLIENT = 3;
const STATUS_OK = 1;
const STATUS_ERROR = 2;

export function openTraces(options: TracesOptions): Traces {
  return new OtlpTraces(options);
}

class OtlpTraces implements Traces {
  readonly #options: TracesOptions;
  readonly #address: string;
  readonly #timer: NodeJS.Timeout;
  #waiting: RequestSpan[] = [];
  #sending: Promise<void> = Promise.resolve();
  #dropped = 0;
  #hasComplained = false;

  constructor(options: TracesOptions) {
    this.#options = options;
    this.#address = `${options.collector.replace(/\/+$/, "")}/v1/traces`;
    this.#timer = setInterval(() => this.#send(), SEND_EVERY_MS).unref();
  }

  note(span: RequestSpan): void {
    if (this.#waiting.length >= WAITING_MAX) this.#dropped += 1;
    else this.#waiting.push(span);
    if (this.#waiting.length % SPANS_PER_MESSAGE === 0) this.#send();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#send();
    await this.#sending;
    if (this.#dropped > 0) this.#complain(`${this.#dropped} requests were not traced`);
  }

  #send(): void {
    this.#sending = this.#sending.then(() => this.#sendAll());
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const spans = this.#waiting.splice(0, SPANS_PER_MESSAGE);
      if (await this.#post(spans)) continue;
      this.#dropped += spans.length;
      return;
    }
  }

  async #post(spans: readonly RequestSpan[]): Promise<boolean> {
    try {
      const answer = await fetch(this.#address, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(messageOf(spans, this.#options.version)),
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      });
      await answer.arrayBuffer();
      if (answer.ok) return true;
      this.#complain(`it answers with ${answer.status}`);
    } catch (error) {
      this.#complain(error instanceof Error ? error.message : String(error));
    }
    return false;
  }

  #complain(why: string): void {
    if (this.#hasComplained) return;
    this.#hasComplained = true;
    const { log, collector } = this.#options;
    log.write({
      level: "warn",
      message: "the trace collector misses spans",
      values: { collector, why },
    });
  }
}

function messageOf(spans: readonly RequestSpan[], version: string): unknown {
  const attributes = [text("service.name", "weir"), text("service.version", version)];
  const scope = { name: "weir", version };
  return {
    resourceSpans: [
      { resource: { attributes }, scopeSpans: [{ scope, spans: spans.map(spanOf) }] },
    ],
  };
}

function spanOf(span: RequestSpan): unknown {
  const { url, site, address, outcome, status, bytes, atMs, durationMs } = span;
  const isGood = status >= 200 && status < 400;
  return {
    traceId: randomBytes(16).toString("hex"),
    spanId: randomBytes(8).toString("hex"),
    name: "fetch",
    kind: KIND_CLIENT,
    startTimeUnixNano: nanos(atMs),
    endTimeUnixNano: nanos(atMs + durationMs),
    attributes: [
      text("http.request.method", "GET"),
      text("url.full", url.slice(0, URL_CHARACTERS_MAX)),
      text("server.address", address),
      number("http.response.status_code", status),
      number("http.response.size", bytes),
      text("weir.site", site),
      text("weir.outcome", outcome),
    ],
    status: { code: isGood ? STATUS_OK : STATUS_ERROR },
  };
}

function text(key: string, value: string): unknown {
  return { key, value: { stringValue: value } };
}

/** Whole numbers are text in OTLP's JSON, as they may be larger than JSON's can be exactly. */
function number(key: string, value: number): unknown {
  return { key, value: { intValue: String(Math.round(value)) } };
}

function nanos(ms: number): string {
  return `${BigInt(Math.round(ms * 1000)) * 1000n}`;
}
