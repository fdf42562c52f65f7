/**
 * Who waits to read on, and what has come for them all the same.
 *
 * Whoever stops reading goes on receiving until the window is full, and how much that is depends on its
 * server, on the line, and on how much there is left. So guesses are not left alone: the system is asked, once
 * when a server near by has filled the window, and again from time to time, since others take longer.
 *
 * O(1) a reader; O(readers) twenty times a second while any wait.
 */

import type { Controller, Flow } from "../bandwidth/controller.ts";
import type { Clock } from "../base/clock.ts";
import type { UnreadBytes } from "../fetch/transport.ts";

/** After so long a server near by has filled the window. */
const FILLED_MS = 4;
const LOOK_AGAIN_MS = 50;

export interface Reader {
  readonly readOn: () => void;
  readonly unreadBytes: UnreadBytes | undefined;
}

interface Waiting extends Reader {
  readonly sinceMs: number;
}

export class Readers {
  readonly #clock: Clock;
  readonly #controller: Controller;
  readonly #readers = new Map<Flow, Waiting>();
  /** Those that were not asked about yet. */
  readonly #fresh = new Set<Flow>();
  #isArmed = false;
  #lookedAtAllMs = 0;

  constructor(clock: Clock, controller: Controller) {
    this.#clock = clock;
    this.#controller = controller;
  }

  get size(): number {
    return this.#readers.size;
  }

  add(flow: Flow, reader: Reader): void {
    this.#readers.set(flow, { ...reader, sinceMs: this.#clock.nowMs() });
    if (reader.unreadBytes === undefined || this.#controller.liesUnread === undefined) return;
    this.#fresh.add(flow);
    this.#arm();
  }

  delete(flow: Flow): void {
    this.#readers.delete(flow);
    this.#fresh.delete(flow);
  }

  /** Its turn has come. */
  readOn(flow: Flow): void {
    const reader = this.#readers.get(flow);
    this.delete(flow);
    reader?.readOn();
  }

  #arm(): void {
    if (this.#isArmed || this.#readers.size === 0) return;
    this.#isArmed = true;
    this.#clock.after(this.#fresh.size > 0 ? FILLED_MS : LOOK_AGAIN_MS, () => {
      this.#isArmed = false;
      this.#look();
      this.#arm();
    });
  }

  #look(): void {
    const nowMs = this.#clock.nowMs();
    const isTimeForAll = nowMs - this.#lookedAtAllMs >= LOOK_AGAIN_MS;
    if (isTimeForAll) this.#lookedAtAllMs = nowMs;
    for (const flow of isTimeForAll ? this.#readers.keys() : this.#fresh) {
      const waiting = this.#readers.get(flow);
      const bytes = waiting?.unreadBytes?.();
      if (waiting === undefined || bytes === undefined) continue;
      this.#controller.liesUnread?.(flow, bytes, nowMs - waiting.sinceMs < LOOK_AGAIN_MS);
    }
    this.#fresh.clear();
  }
}
