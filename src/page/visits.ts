/** Results of earlier recrawls of a URL: the number of checks, and of those that found a change. */

import type { Reason } from "./outcome.ts";

export interface Visits {
  readonly checks: number;
  readonly changes: number;
  /** Between the first visit and the last. */
  readonly watchedMs: number;
  /** On the wall clock. */
  readonly lastAtMs: number;
  /** Its outcome before the last visit. */
  readonly was: Reason;
}
