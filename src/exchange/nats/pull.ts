/**
 * Fetches messages from a durable consumer, a bounded number ahead.
 *
 * One request is open at a time; the next follows when it has been served or has expired. A message is acknowledged to
 * JetStream on arrival: receipts between nodes, not the server, guarantee that nothing is lost. Silence beyond the
 * request's time, or a missing consumer, is reported as trouble, and then nothing is requested until `resume`.
 */

import { randomUUID } from "node:crypto";
import type { Msg, Subscription } from "@nats-io/transport-node";
import type { Clock } from "../../base/clock.ts";
import type { NatsLink } from "./connection.ts";
import { nanosOf } from "./stream.ts";

interface PullSource {
  readonly stream: string;
  readonly consumer: string;
  readonly onMessage: (data: Uint8Array) => void;
  readonly onTrouble: (reason: string) => void;
}

const BATCH_MAX = 64;
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
const REQUEST_MS = 4_000;
const SILENCE_MS_MAX = 2 * REQUEST_MS;
/** Delay between requests that were refused. */
const REFUSED_MS = 100;

export class Pull {
  readonly #link: NatsLink;
  readonly #clock: Clock;
  readonly #source: PullSource;
  readonly #inbox = `_INBOX.${randomUUID()}`;
  readonly #subscription: Subscription;
  /** Number of the open request; responses to earlier ones are ignored. */
  #serial = 0;
  #expected = 0;
  #cancelTimer = (): void => {};
  #state: "asking" | "resting" | "ended" = "resting";

  constructor(link: NatsLink, clock: Clock, source: PullSource) {
    this.#link = link;
    this.#clock = clock;
    this.#source = source;
    this.#subscription = link.connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (this.#state === "ended") return;
        if (error !== null) this.#fail(error.message);
        else if (message.subject.startsWith(this.#inbox)) this.#onStatus(message);
        else this.#onMessage(message);
      },
    });
  }

  /** Sends a request, and repeats one without effect. */
  resume(): void {
    if (this.#state === "ended") return;
    this.#state = "asking";
    this.#ask();
  }

  end(): void {
    this.#state = "ended";
    this.#cancelTimer();
    this.#subscription.unsubscribe();
  }

  #ask(): void {
    if (this.#link.connection.isClosed()) return;
    const { stream, consumer } = this.#source;
    this.#expected = BATCH_MAX;
    const request = {
      batch: BATCH_MAX,
      max_bytes: BATCH_BYTES_MAX,
      expires: nanosOf(REQUEST_MS),
    };
    const subject = `${this.#link.apiPrefix}.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
    const reply = `${this.#inbox}.${++this.#serial}`;
    this.#link.connection.publish(subject, JSON.stringify(request), { reply });
    this.#within(SILENCE_MS_MAX, () => this.#fail("no answer"));
  }

  #onMessage(message: Msg): void {
    if (message.reply !== undefined) this.#link.connection.publish(message.reply, "+ACK");
    this.#source.onMessage(message.data);
    if (this.#state === "asking" && --this.#expected <= 0) this.#ask();
  }

  /** The end of a request: served, expired (408), too large (409) or no responder (503). */
  #onStatus(message: Msg): void {
    if (this.#state !== "asking" || message.subject !== `${this.#inbox}.${this.#serial}`) return;
    const code = message.headers?.code ?? 0;
    const description = message.headers?.description ?? "";
    if (code === 503 || /deleted/i.test(description)) this.#fail(description || "no responders");
    else if (code === 408 || this.#expected < BATCH_MAX) this.#ask();
    else if (code >= 400) this.#within(REFUSED_MS, () => this.#ask());
  }

  #fail(reason: string): void {
    this.#cancelTimer();
    this.#state = "resting";
    this.#source.onTrouble(reason);
  }

  #within(delayMs: number, callBack: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.after(delayMs, () => {
      if (this.#state === "asking") callBack();
    });
  }
}
