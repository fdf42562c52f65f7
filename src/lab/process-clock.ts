/**
 * The clock of one simulated process among several. Stopping it delays the process's callbacks, like
 * SIGSTOP; killing it drops them. The other processes continue.
 */

import type { Clock } from "../base/clock.ts";

export class ProcessClock implements Clock {
  readonly #clock: Clock;
  readonly #cancels = new Set<() => void>();
  /** Callbacks that were due while the process was stopped, in order. */
  #missed: (() => void)[] = [];
  #isStopped = false;
  #isDead = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  wallMs(): number {
    return this.#clock.wallMs();
  }

  after(delayMs: number, callBack: () => void): () => void {
    if (this.#isDead) return () => undefined;
    const cancel = (): void => {
      cancelInner();
      this.#cancels.delete(cancel);
    };
    const cancelInner = this.#clock.after(delayMs, () => {
      this.#cancels.delete(cancel);
      this.run(callBack);
    });
    this.#cancels.add(cancel);
    return cancel;
  }

  soon(callBack: () => void): void {
    this.after(0, callBack);
  }

  /** Runs a callback in the process: now, when the process resumes, or never if it is dead. */
  run(callBack: () => void): void {
    if (this.#isDead) return;
    if (this.#isStopped) this.#missed.push(callBack);
    else callBack();
  }

  stop(): void {
    this.#isStopped = true;
  }

  resume(): void {
    this.#isStopped = false;
    for (const callBack of this.#missed.splice(0)) this.run(callBack);
  }

  kill(): void {
    this.#isDead = true;
    this.#missed = [];
    for (const cancel of this.#cancels) cancel();
  }
}
