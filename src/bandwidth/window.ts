/** How large a receive window is best under a limit: see docs/decisions/007-pacing.md. */

const LEAST_WINDOW_BELOW_BPS = 3e5;
const WINDOW_BYTES_LEAST = 2304;
const WINDOW_BYTES = 8192;
const WINDOW_GROWS_FROM_BPS = 1e7;
const WINDOWS_MATTER_BELOW_BPS = 1e8;

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
