/** What waits on the workbench: a URL of the frontier, or an errand that must come before its site's URLs. */

import type { Waiting } from "../frontier/workbench.ts";
import type { WaitingUrl } from "../store/store.ts";

export interface Errand {
  readonly kind: "robots" | "sitemap";
  readonly url: string;
}

export interface Job extends Waiting {
  readonly row: WaitingUrl | undefined;
  readonly errand: Errand | undefined;
}

export function jobOf(row: WaitingUrl, notBeforeMs = 0): Job {
  return { id: row.id, score: row.score, notBeforeMs, row, errand: undefined };
}

/** A URL that has failed before. */
export function retryOf(row: WaitingUrl, notBeforeMs: number): Job {
  return { ...jobOf(row, notBeforeMs), isRetry: true };
}

/** Errands have no row in the store; numbers below zero keep them apart, and they go first. */
export function errandJob(number: number, errand: Errand, notBeforeMs = 0): Job {
  return { id: -number, score: Infinity, notBeforeMs, row: undefined, errand };
}
