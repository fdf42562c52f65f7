/**
 * Virtual time: nothing waits, the clock jumps to whatever happens next.
 *
 * What happens at one moment, and all the promises it settles, is over before the next moment
 * begins, and things of the same moment happen in the order in which they were asked for. So a run
 * depends on its inputs alone. A run that waits for something nobody will do is found at once: no
 * event is left and the goal is not reached, which is what a lost wake-up looks like.
 *
 * The cost is one turn of the real event loop an event, about a microsecond.
 */

import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { Heap } from "../base/heap.ts";

interface Happening {
  readonly atMs: number;
  readonly order: number;
  callBack: (() => void) | undefined;
}

/** Nothing is left to happen, and what was waited for has not happened. */
export class SimulationStuck extends Error {
  override readonly name = "SimulationStuck";
}

/** Turns of the real event loop granted to work that is not ours, such as a thread's, when idle. */
const PATIENCE_TURNS = 100;

export class SimClock implements Clock {
  #nowMs: number;
  #wallOffsetMs: number;
  #order = 0;
  #events = 0;
  #happenings = newHeap();

  /** The monotonic clock starts at a number that nobody can mistake for a duration. */
  constructor(wallStartMs = Date.UTC(2026, 0, 5), startMs = 1_000_000) {
    this.#nowMs = startMs;
    this.#wallOffsetMs = wallStartMs - startMs;
  }

  /** Events so far. */
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
    const happening: Happening = { atMs, order: this.#order++, callBack };
    this.#happenings.push(happening);
    return () => {
      happening.callBack = undefined;
    };
  }

  soon(callBack: () => void): void {
    this.after(0, callBack);
  }

  /** Sets the wall clock forward or back, as an operator or a time server would. */
  jumpWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** Forgets everything that was to happen, as a killed process does. */
  forget(): void {
    this.#happenings = newHeap();
  }

  /** Lets time run until the goal is reached; throws what it throws, or that it never will be. */
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

  /** Lets this much time pass. */
  async runFor(durationMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.after(durationMs, resolve);
    await this.runUntil(promise);
  }

  /** Lets everything happen that is to happen. */
  async runUntilIdle(): Promise<void> {
    for (await turnOver(); this.#step(); await turnOver());
  }

  /** One happening; false when there is none. */
  #step(): boolean {
    for (;;) {
      const next = this.#happenings.pop();
      if (next === undefined) return false;
      if (next.callBack === undefined) continue;
      this.#nowMs = next.atMs;
      this.#events++;
      next.callBack();
      return true;
    }
  }
}

function newHeap(): Heap<Happening> {
  return new Heap((a, b) => a.atMs - b.atMs || a.order - b.order);
}

/** Resolves when all that is ready to run has run: promises, and what they set off. */
function turnOver(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
