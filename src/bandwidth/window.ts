/** How large a receive window is best under a limit: see docs/decisions/007-pacing.md. */

const LEAST_WINDOW_BELOW_BPS = 3e5;
const WINDOW_BYTES_LEAST = 2304;
const WINDOW_BYTES = 8192;
const WINDOW_GROWS_FROM_BPS = 5e6;
const WINDOWS_MATTER_BELOW_BPS = 1e8;
/** Bytes of headers for each byte of pages of 2 to 20 KB: through the least window, small ones, wide ones. */
const OVERHEAD_LEAST = 0.16;
const OVERHEAD_SMALL = 0.07;
const OVERHEAD_FULL = 0.046;
const SMALL_WINDOW_BYTES_MAX = 16_384;

/**
 * The most that one connection may hold unread: little enough that no burst shows in a second. What
 * comes unasked adds up by chance, which matters less the more there is; undefined when whatever a
 * system likes to hold is little enough.
 *
 * Of small windows Linux carries two kinds well: its least, which cuts packets in two, so that 16 %
 * of the line are headers, and those from 8 KiB. In between it drops and is sent again what it has
 * no room for.
 */
export function windowFor(limitBps: number): number | undefined {
  if (limitBps < LEAST_WINDOW_BELOW_BPS) return WINDOW_BYTES_LEAST;
  if (limitBps >= WINDOWS_MATTER_BELOW_BPS) return undefined;
  return Math.round(WINDOW_BYTES * Math.max(1, limitBps / WINDOW_GROWS_FROM_BPS));
}

/** What packets are likely to add to the bytes in them, before anybody has counted any. */
export function overheadFor(windowBytes: number | undefined): number {
  if (windowBytes === undefined || windowBytes > SMALL_WINDOW_BYTES_MAX) return OVERHEAD_FULL;
  return windowBytes <= WINDOW_BYTES_LEAST ? OVERHEAD_LEAST : OVERHEAD_SMALL;
}

/** Consecutive checks that find unused room on the line before windows are widened. */
const HUNGRY_LOOKS = 2;
const WIDENING_MAX = 8;
/** A second with more than this part of its limit: windows spill, and new ones are narrow again. */
const SPILT_SHARE = 1.03;

/**
 * Factor by which new windows are wider than usual. A connection receives at most one window per
 * round trip, so a few distant servers could not fill a line with narrow ones. While the line has
 * unused room windows grow; after a second above the limit they are as usual again.
 */
export class Widening {
  #times = 1;
  #hungryLooks = 0;

  /** Looked at once a second. */
  look({ isHungry, share }: { readonly isHungry: boolean; readonly share: number }): number {
    this.#hungryLooks = isHungry ? this.#hungryLooks + 1 : 0;
    if (share > SPILT_SHARE) this.#times = 1;
    else if (this.#hungryLooks >= HUNGRY_LOOKS)
      this.#times = Math.min(WIDENING_MAX, 2 * this.#times);
    return this.#times;
  }
}
