/**
 * Paused readers, and the bytes that arrive for them unread.
 *
 * A paused connection goes on receiving until its window is full. How much that is depends on its server, on the line
 * and on the rest of the response, so the system is asked: once when a near server has filled the window, and again
 * at growing intervals, since other servers take longer.
 *
 * O(1) per reader, and one question for each at most twenty times a second.
 */

import type { Controller, Flow } from "../../bandwidth/controller.ts";
import type { Clock } from "../../base/clock.ts";
import type { Arrival } from "../../fetch/transport.ts";

/** Time in milliseconds in which a near server fills a window. */
const FILLED_MS = 4;
/** First interval between two questions about a connection, in milliseconds. */
const LOOK_AGAIN_MS = 50;
/** Longest interval, reached while the answers stay the same. */
const LOOK_AGAIN_MS_MAX = 400;

export interface Reader {
  readonly readOn: () => void;
  /** undefined where nothing is known of the connection. */
  readonly arrival: Arrival | undefined;
}

interface Waiting extends Reader {
  readonly sinceMs: number;
  /** Unread bytes at the last question, the interval, and the time of the next question. */
  seenBytes: number | undefined;
  againMs: number;
  nextAtMs: number;
}

export class PausedReads {
  readonly #clock: Clock;
  readonly #controller: Controller;
  readonly #onAsked: () => void;
  readonly #readers = new Map<Flow, Waiting>();
  /** Connections not asked about yet, and those asked about again. */
  readonly #fresh = new Set<Flow>();
  readonly #asked = new Set<Flow>();
  #isArmed = false;
  #lookedAgainMs = 0;

  /** `onAsked` is called after questions: less may have arrived than was paid for, so others may go on. */
  constructor(clock: Clock, controller: Controller, onAsked: () => void) {
    this.#clock = clock;
    this.#controller = controller;
    this.#onAsked = onAsked;
  }

  get size(): number {
    return this.#readers.size;
  }

  add(flow: Flow, reader: Reader): void {
    const sinceMs = this.#clock.nowMs();
    const { wantsUnread } = this.#controller;
    const nextAtMs = wantsUnread === "later" ? sinceMs + LOOK_AGAIN_MS : sinceMs;
    const look = { seenBytes: undefined, againMs: LOOK_AGAIN_MS, nextAtMs };
    this.#readers.set(flow, { ...reader, ...look, sinceMs });
    if (reader.arrival === undefined || wantsUnread === undefined) return;
    (wantsUnread === "later" ? this.#asked : this.#fresh).add(flow);
    this.#arm();
  }

  delete(flow: Flow): void {
    this.#readers.delete(flow);
    this.#fresh.delete(flow);
    this.#asked.delete(flow);
  }

  /** Lets a reader go on. */
  readOn(flow: Flow): void {
    const reader = this.#readers.get(flow);
    this.delete(flow);
    reader?.readOn();
  }

  #arm(): void {
    if (this.#isArmed || this.#fresh.size + this.#asked.size === 0) return;
    this.#isArmed = true;
    this.#clock.after(this.#fresh.size > 0 ? FILLED_MS : LOOK_AGAIN_MS, () => {
      this.#isArmed = false;
      this.#look(this.#clock.nowMs());
      this.#onAsked();
      this.#arm();
    });
  }

  #look(nowMs: number): void {
    if (nowMs - this.#lookedAgainMs >= LOOK_AGAIN_MS) {
      this.#lookedAgainMs = nowMs;
      for (const flow of this.#asked) this.#askIfDue(nowMs, flow);
    }
    for (const flow of this.#fresh) {
      this.#asked.add(flow);
      this.#askIfDue(nowMs, flow);
    }
    this.#fresh.clear();
  }

  #askIfDue(nowMs: number, flow: Flow): void {
    const waiting = this.#readers.get(flow);
    if (waiting !== undefined && waiting.nextAtMs <= nowMs) this.#ask(nowMs, flow, waiting);
  }

  #ask(nowMs: number, flow: Flow, waiting: Waiting): void {
    const bytes = waiting.arrival?.unreadBytes();
    if (bytes === undefined) return void this.#asked.delete(flow);
    const isNew = nowMs - waiting.sinceMs < LOOK_AGAIN_MS;
    this.#controller.liesUnread?.(flow, bytes, isNew);
    const isSame = !isNew && bytes === waiting.seenBytes;
    waiting.againMs = isSame ? Math.min(LOOK_AGAIN_MS_MAX, 2 * waiting.againMs) : LOOK_AGAIN_MS;
    waiting.nextAtMs = nowMs + waiting.againMs;
    waiting.seenBytes = bytes;
  }
}
