/**
 * Who waits to read on, and what has come for them all the same.
 *
 * Whoever stops reading goes on receiving until the window is full, and how much that is depends on its
 * server, on the line, and on how much there is left. So guesses are not left alone: the system is asked, once
 * when a server near by has filled the window, and again from time to time, since others take longer.
 *
 * O(1) a reader, and a question for each twenty times a second while anything comes.
 */

import type { Controller, Flow } from "../bandwidth/controller.ts";
import type { Clock } from "../base/clock.ts";
import type { Arrival } from "../fetch/transport.ts";

/** After so long a server near by has filled the window. */
const FILLED_MS = 4;
const LOOK_AGAIN_MS = 50;

export interface Reader {
  readonly readOn: () => void;
  /** undefined where nothing is known of the connection. */
  readonly arrival: Arrival | undefined;
}

interface Waiting extends Reader {
  readonly sinceMs: number;
  /** What lay unread when it was last looked at. */
  seenBytes: number | undefined;
}

export class Readers {
  readonly #clock: Clock;
  readonly #controller: Controller;
  readonly #onAsked: () => void;
  readonly #readers = new Map<Flow, Waiting>();
  /** Those that were not asked about yet, and those for which more may still come. */
  readonly #fresh = new Set<Flow>();
  readonly #filling = new Set<Flow>();
  #isArmed = false;
  #lookedAgainMs = 0;

  /** `onAsked`: some may have come by less than was set aside for them, and others may go on. */
  constructor(clock: Clock, controller: Controller, onAsked: () => void) {
    this.#clock = clock;
    this.#controller = controller;
    this.#onAsked = onAsked;
  }

  get size(): number {
    return this.#readers.size;
  }

  add(flow: Flow, reader: Reader): void {
    this.#readers.set(flow, { ...reader, sinceMs: this.#clock.nowMs(), seenBytes: undefined });
    if (reader.arrival === undefined || this.#controller.wantsUnread !== true) return;
    this.#fresh.add(flow);
    this.#arm();
  }

  delete(flow: Flow): void {
    this.#readers.delete(flow);
    this.#fresh.delete(flow);
    this.#filling.delete(flow);
  }

  /** Its turn has come. */
  readOn(flow: Flow): void {
    const reader = this.#readers.get(flow);
    this.delete(flow);
    reader?.readOn();
  }

  #arm(): void {
    if (this.#isArmed || this.#fresh.size + this.#filling.size === 0) return;
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
      for (const flow of this.#filling) this.#ask(nowMs, flow);
    }
    for (const flow of this.#fresh) {
      this.#filling.add(flow);
      this.#ask(nowMs, flow);
    }
    this.#fresh.clear();
  }

  /** Where nothing has come for a while nothing more comes: its window is full, or all of it is there. */
  #ask(nowMs: number, flow: Flow): void {
    const waiting = this.#readers.get(flow);
    const bytes = waiting?.arrival?.unreadBytes();
    if (waiting === undefined || bytes === undefined) return void this.#filling.delete(flow);
    const isNew = nowMs - waiting.sinceMs < LOOK_AGAIN_MS;
    this.#controller.liesUnread?.(flow, bytes, isNew);
    if (!isNew && bytes === waiting.seenBytes) this.#filling.delete(flow);
    waiting.seenBytes = bytes;
  }
}
