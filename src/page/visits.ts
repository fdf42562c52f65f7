/** What rounds of crawling told of a URL: how often it was asked for again, and how often that paid. */

import type { Reason } from "./outcome.ts";

export interface Visits {
  readonly checks: number;
  readonly changes: number;
  /** Between the first visit and the last. */
  readonly watchedMs: number;
  /** On the wall clock. */
  readonly lastAtMs: number;
  /** How it had ended before it was last asked for again. */
  readonly was: Reason;
}
