/**
 * Exports every request to an OpenTelemetry collector, as spans over OTLP/HTTP in JSON.
 *
 * Tracing never delays the crawl: spans that the collector does not accept in time are dropped and
 * counted, and an unreachable collector is logged once.
 *
 * The queue of spans and the spans per message are bounded. Ids are random, without meaning.
 */

import { randomBytes } from "node:crypto";
import type { Log } from "../base/log.ts";

export interface RequestSpan {
  readonly url: string;
  readonly site: string;
  readonly address: string;
  /** Outcome: a reason of the closed list, or the kind of answer. */
  readonly outcome: string;
  /** 0 without an answer. */
  readonly status: number;
  readonly bytes: number;
  /** Wall-clock time of the start. */
  readonly atMs: number;
  readonly durationMs: number;
}

export interface Traces {
  add(span: RequestSpan): void;
  close(): Promise<void>;
}

interface TracesOptions {
  /** Base URL of the collector, such as http://127.0.0.1:4318; the usual path is appended. */
  readonly collector: string;
  readonly version: string;
  readonly log: Log;
}

const WAITING_MAX = 8_192;
const SPANS_PER_MESSAGE = 512;
const SEND_EVERY_MS = 2_000;
const ANSWER_MS_MAX = 5_000;
const URL_CHARACTERS_MAX = 2_048;
/** Values of OpenTelemetry's enumerations. */
const KIND_CLIENT = 3;
const STATUS_OK = 1;
const STATUS_ERROR = 2;

export function openTraces(options: TracesOptions): Traces {
  return new OtlpTraces(options);
}

class OtlpTraces implements Traces {
  readonly #options: TracesOptions;
  readonly #endpoint: string;
  readonly #timer: NodeJS.Timeout;
  #waiting: RequestSpan[] = [];
  #sending: Promise<void> = Promise.resolve();
  #dropped = 0;
  #hasWarned = false;

  constructor(options: TracesOptions) {
    this.#options = options;
    this.#endpoint = `${options.collector.replace(/\/+$/, "")}/v1/traces`;
    this.#timer = setInterval(() => this.#send(), SEND_EVERY_MS).unref();
  }

  add(span: RequestSpan): void {
    if (this.#waiting.length >= WAITING_MAX) this.#dropped += 1;
    else this.#waiting.push(span);
    if (this.#waiting.length % SPANS_PER_MESSAGE === 0) this.#send();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#send();
    await this.#sending;
    if (this.#dropped > 0) this.#warnOnce(`${this.#dropped} spans were dropped`);
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
      const answer = await fetch(this.#endpoint, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(messageOf(spans, this.#options.version)),
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      });
      await answer.arrayBuffer();
      if (answer.ok) return true;
      this.#warnOnce(`the collector answers with status ${answer.status}`);
    } catch (error) {
      this.#warnOnce(error instanceof Error ? error.message : String(error));
    }
    return false;
  }

  #warnOnce(why: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const { log, collector } = this.#options;
    log.write({
      level: "warn",
      message: "spans are not reaching the trace collector",
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

/** Integers are strings in OTLP's JSON, because JSON numbers are exact only up to 2^53. */
function number(key: string, value: number): unknown {
  return { key, value: { intValue: String(Math.round(value)) } };
}

function nanos(ms: number): string {
  return `${BigInt(Math.round(ms * 1000)) * 1000n}`;
}
