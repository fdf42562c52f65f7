/**
 * When first bytes are due that nobody can refuse: answers of slow servers, asked for long before.
 *
 * Requests that leave one after another can be answered all at once. So what is due is kept by the time it is
 * due at, and a request is only sent when there is still room at the time of its answer.
 *
 * O(1) everything; a number for each tenth of a second in which anything is due.
 */

const STEP_MS = 100;

export class Arrivals {
  readonly #bytes = new Map<number, number>();

  add(atMs: number, bytes: number): void {
    const step = stepOf(atMs);
    const sum = (this.#bytes.get(step) ?? 0) + bytes;
    if (sum > 0) this.#bytes.set(step, sum);
    else this.#bytes.delete(step);
  }

  /** How fast they come around that time, on average: with what is due just before it, or just after it if that is more. */
  aroundBps(atMs: number): number {
    const step = stepOf(atMs);
    const then = this.#bytes.get(step) ?? 0;
    const before = this.#bytes.get(step - 1) ?? 0;
    const after = this.#bytes.get(step + 1) ?? 0;
    // Far ahead nothing is due after it yet, and a mean with that would let the farthest be filled twice.
    return ((then + Math.max(before, after)) * 1000) / (2 * STEP_MS);
  }
}

function stepOf(atMs: number): number {
  return Math.floor(atMs / STEP_MS);
}
