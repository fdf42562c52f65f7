/**
 * The time that a server answers for: it stands still while we ourselves hold the server up.
 *
 * A reader that is refused may wait for long, and no limit of idleness, slowness or length may run
 * meanwhile. So every moment of an exchange is taken from here, and none from the clock itself.
 */

import type { Clock } from "../base/clock.ts";

export class ServerTime {
  readonly #clock: Clock;
  #heldBeforeMs = 0;
  #heldSinceMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nowMs(): number {
    return (this.#heldSinceMs ?? this.#clock.nowMs()) - this.#heldBeforeMs;
  }

  get isHeld(): boolean {
    return this.#heldSinceMs !== undefined;
  }

  /** How long it has stood still so far, also when it does so now. */
  get heldMs(): number {
    if (this.#heldSinceMs === undefined) return this.#heldBeforeMs;
    return this.#heldBeforeMs + this.#clock.nowMs() - this.#heldSinceMs;
  }

  hold(): void {
    this.#heldSinceMs ??= this.#clock.nowMs();
  }

  release(): void {
    this.#heldBeforeMs = this.heldMs;
    this.#heldSinceMs = undefined;
  }
}
