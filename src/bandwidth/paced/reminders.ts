/**
 * Who is to be looked at again after a while, in the order in which that comes.
 *
 * Everybody waits equally long, so whoever was added last is due last, and nobody has to be looked for among
 * thousands. O(1) everything.
 */

export class Reminders<T> {
  readonly #afterMs: number;
  /** By when each is due; the first is the first. */
  readonly #dueAtMs = new Map<T, number>();

  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  add(nowMs: number, of: T): void {
    this.#dueAtMs.delete(of);
    this.#dueAtMs.set(of, nowMs + this.#afterMs);
  }

  delete(of: T): void {
    this.#dueAtMs.delete(of);
  }

  /** Those that are due now, each once. */
  *take(nowMs: number): Generator<T> {
    for (const [of, atMs] of this.#dueAtMs) {
      if (atMs > nowMs) return;
      this.#dueAtMs.delete(of);
      yield of;
    }
  }
}
