/**
 * Virtual time: the clock jumps to the next scheduled event.
 *
 * An event and all promises it settles complete before time advances, and events of the same time run
 * in the order of scheduling. So a run depends only on its inputs. A lost wake-up is detected at
 * once: no event is left and the goal is not reached.
 *
 * The cost is one turn of the real event loop per event, about a microsecond.
 */

import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { Heap } from "../base/heap.ts";

interface SimEvent {
  readonly atMs: number;
  readonly order: number;
  callBack: (() => void) | undefined;
}

/** No event is left and the goal is not reached. */
export class SimulationStuck extends Error {
  override readonly name = "SimulationStuck";
}

/** Turns of the real event loop to wait for work outside the simulation, such as a thread's, when idle. */
const PATIENCE_TURNS = 100;

export class SimClock implements Clock {
  #nowMs: number;
  #wallOffsetMs: number;
  #order = 0;
  #events = 0;
  #queue = newHeap();

  /** The monotonic clock starts at a number that cannot be mistaken for a duration. */
  constructor(wallStartMs = Date.UTC(2026, 0, 5), startMs = 1_000_000) {
    this.#nowMs = startMs;
    this.#wallOffsetMs = wallStartMs - startMs;
  }

  /** Number of events so far. */
  get events(): number {
    return this.#events;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return Math.floor(this.#nowMs + this.#wallOffsetMs);
  }

  after(delayMs: number, callBack: () => void): () => void {
    assert(!Number.isNaN(delayMs), "a delay is a number");
    if (delayMs === Infinity) return () => undefined;
    const atMs = this.#nowMs + Math.max(0, delayMs);
    const event: SimEvent = { atMs, order: this.#order++, callBack };
    this.#queue.push(event);
    return () => {
      event.callBack = undefined;
    };
  }

  soon(callBack: () => void): void {
    this.after(0, callBack);
  }

  /** Moves the wall clock forward or back, as an operator or a time server would. */
  jumpWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** Drops all scheduled events, as the end of a killed process does. */
  forget(): void {
    this.#queue = newHeap();
  }

  /** Runs until the goal settles; throws its error, or `SimulationStuck` when it can never settle. */
  async runUntil<T>(goal: Promise<T>): Promise<T> {
    let isReached = false;
    const markReached = (): void => {
      isReached = true;
    };
    goal.then(markReached, markReached);
    let idleTurns = 0;
    for (;;) {
      await turnOver();
      if (isReached) return goal;
      if (this.#step()) idleTurns = 0;
      else if (++idleTurns > PATIENCE_TURNS) throw new SimulationStuck(`at ${this.#nowMs} ms`);
    }
  }

  /** Runs for a duration. */
  async runFor(durationMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.after(durationMs, resolve);
    await this.runUntil(promise);
  }

  /** Runs until no event is left. */
  async runUntilIdle(): Promise<void> {
    for (await turnOver(); this.#step(); await turnOver());
  }

  /** Runs the next event; returns false when there is none. */
  #step(): boolean {
    for (;;) {
      const next = this.#queue.pop();
      if (next === undefined) return false;
      if (next.callBack === undefined) continue;
      this.#nowMs = next.atMs;
      this.#events++;
      next.callBack();
      return true;
    }
  }
}

function newHeap(): Heap<SimEvent> {
  return new Heap((a, b) => a.atMs - b.atMs || a.order - b.order);
}

/** Resolves when all pending promise callbacks have run. */
function turnOver(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
