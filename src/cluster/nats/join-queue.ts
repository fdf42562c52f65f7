/**
 * Nodes that report and are not members yet: those who come within a short time are taken in together.
 *
 * One that has taken part before, in a division nobody here knows, is a veteran: it may have something of
 * every part of the web.
 */

import type { Clock } from "../../base/clock.ts";
import type { Report } from "../messages.ts";

export interface Newcomers {
  readonly names: readonly string[];
  readonly veterans: readonly string[];
  /** The latest division that any of them has heard of. */
  readonly epochKnown: number;
}

const GATHER_MS = 500;

export class JoinQueue {
  readonly #clock: Clock;
  #epochs = new Map<string, number>();
  #sinceMs = Infinity;
  #heardAtMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#heardAtMs = clock.nowMs();
  }

  get isEmpty(): boolean {
    return this.#epochs.size === 0;
  }

  get hasVeterans(): boolean {
    return this.#epochs.values().some((epoch) => epoch > 0);
  }

  /** How long nobody was heard who might want to take part. */
  get quietMs(): number {
    return this.#clock.nowMs() - this.#heardAtMs;
  }

  /** Somebody is there, whether or not it can be taken in now. */
  heard(): void {
    this.#heardAtMs = this.#clock.nowMs();
  }

  add(name: string, { epochKnown }: Report): void {
    this.#sinceMs = Math.min(this.#sinceMs, this.#clock.nowMs());
    this.#epochs.set(name, epochKnown);
  }

  clear(): void {
    this.#epochs = new Map();
    this.#sinceMs = Infinity;
  }

  /** Those to be taken in now; undefined while more may come. */
  takeIfDue(): Newcomers | undefined {
    if (this.#clock.nowMs() - this.#sinceMs < GATHER_MS) return undefined;
    const all = [...this.#epochs];
    this.clear();
    return {
      names: all.map(([name]) => name),
      veterans: all.flatMap(([name, epoch]) => (epoch > 0 ? [name] : [])),
      epochKnown: Math.max(...all.map(([, epoch]) => epoch)),
    };
  }
}
