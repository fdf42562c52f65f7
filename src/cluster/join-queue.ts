/**
 * Nodes that report and are not members yet: those that arrive within a short time join together.
 *
 * A node that took part before, in a division unknown here, is a veteran: it may know URLs of every part of the web.
 */

import type { Clock } from "../base/clock.ts";
import type { Report } from "./messages.ts";

export interface Newcomers {
  readonly names: readonly string[];
  readonly veterans: readonly string[];
  /** The latest division that any of them knows. */
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

  /** Time since the last report of a node that is not a member. */
  get quietMs(): number {
    return this.#clock.nowMs() - this.#heardAtMs;
  }

  /** A node reports that is not a member, whether or not it can join now. */
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

  /** The nodes that join now; undefined while more may arrive. */
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
