/**
 * Whether a limit stays unfilled for want of processor time: one thread reads and stores all pages.
 *
 * Pure. Reported once, after some seconds of it: a crawl that has just begun is always busy.
 */

/** What the second that has passed had of processor time, as shares of it. */
export interface ThreadSecond {
  /** The thread was running, or waited for a processor. */
  readonly busyShare: number;
  /** It waited for a processor that other threads and programs used. */
  readonly delayedShare: number;
}

const BUSY_SHARE_MIN = 0.95;
const FILLED_SHARE_MAX = 0.9;
/** From this share of waiting on, the machine is the cause, however little the thread itself has to do. */
const DELAYED_SHARE_MIN = 0.3;
const LOOKS = 5;

export class FullThread {
  #looks = 0;
  #isSaid = false;
  #seconds = 0;

  /** Seconds in which there was no processor time left and the limit was not filled. */
  get seconds(): number {
    return this.#seconds;
  }

  /** Looked at once a second, with what came of the limit; answers the cause, once. */
  look({
    busyShare,
    delayedShare,
    share,
  }: ThreadSecond & { readonly share: number }): "thread" | "machine" | undefined {
    const hasNoTime = busyShare >= BUSY_SHARE_MIN || delayedShare >= DELAYED_SHARE_MIN;
    const isFull = hasNoTime && share <= FILLED_SHARE_MAX;
    this.#looks = isFull ? this.#looks + 1 : 0;
    if (isFull) this.#seconds += 1;
    if (this.#isSaid || this.#looks < LOOKS) return undefined;
    this.#isSaid = true;
    return delayedShare >= DELAYED_SHARE_MIN ? "machine" : "thread";
  }
}
