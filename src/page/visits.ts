/** What earlier crawl rounds found about a URL: how often it was fetched again, and how often it had changed. */

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
