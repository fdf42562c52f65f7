/**
 * Whether a limit stays unfilled because our own program has no time left: one thread reads and notes all pages.
 *
 * Pure. Said once, after some seconds of it: a crawl that has just begun is always busy.
 */

const BUSY_SHARE_MIN = 0.95;
const FILLED_SHARE_MAX = 0.9;
const LOOKS = 5;

export class FullThread {
  #looks = 0;
  #isSaid = false;

  /** Looked at once a second: the part of it in which the thread was busy, and what came of the limit. */
  look({ busyShare, share }: { readonly busyShare: number; readonly share: number }): boolean {
    const isFull = busyShare >= BUSY_SHARE_MIN && share <= FILLED_SHARE_MAX;
    this.#looks = isFull ? this.#looks + 1 : 0;
    if (this.#isSaid || this.#looks < LOOKS) return false;
    this.#isSaid = true;
    return true;
  }
}
