/**
 * Checks that no page is delivered or stored twice.
 *
 * A page that was in flight or uncommitted when the crawler was killed may be requested once more. So
 * a repeat is permitted when a crash lies between the two deliveries, and each crash permits at most
 * as many repeats as pages can have been uncommitted.
 *
 * Rules: `fetched-twice`, `too-many-repeats` (for one crash), `stored-twice`.
 */

import type { RequestEntry } from "../request-log.ts";
import type { Violation } from "../violation.ts";

/** Requests, stored pages and crashes of a crawl. */
export interface OnceEvidence {
  readonly log: readonly RequestEntry[];
  /** URLs of stored pages, one entry per page. */
  readonly stored: Iterable<string>;
  readonly crashedAtMs: readonly number[];
  /** Most URLs that can be in flight, or fetched and uncommitted, at the same time. */
  readonly uncommittedMax: number;
  /** Paths that may be requested repeatedly, such as robots.txt. */
  readonly mayRepeat: (path: string) => boolean;
}

/**
 * Checks that no page was delivered or stored twice, except for pages in flight at a crash.
 *
 * @example
 * import { checkOnce, runSim } from "weir/lab";
 *
 * const { log, crashedAtMs } = await runSim({ seed: 1, world: { siteCount: 1, pagesMax: 20 } });
 * const mayRepeat = (path: string): boolean => path === "/robots.txt";
 * console.log(checkOnce({ log, stored: [], crashedAtMs, uncommittedMax: 500, mayRepeat }));
 */
export function checkOnce(evidence: OnceEvidence): Violation[] {
  return [...checkStored(evidence.stored), ...checkFetched(evidence)];
}

function checkStored(stored: Iterable<string>): Violation[] {
  const violations: Violation[] = [];
  const seen = new Set<string>();
  for (const url of stored) {
    if (seen.has(url)) violations.push({ rule: "stored-twice", detail: url });
    seen.add(url);
  }
  return violations;
}

function checkFetched({ log, crashedAtMs, uncommittedMax, mayRepeat }: OnceEvidence): Violation[] {
  const violations: Violation[] = [];
  const deliveredAtMs = new Map<string, number>();
  const repeatsByCrash = new Map<number, number>();
  for (const entry of log.toSorted((a, b) => a.startMs - b.startMs)) {
    if (!isSettling(entry) || mayRepeat(entry.path)) continue;
    const url = entry.site + entry.path;
    const beforeMs = deliveredAtMs.get(url);
    deliveredAtMs.set(url, entry.endMs);
    if (beforeMs === undefined) continue;
    const crashMs = crashedAtMs.find((atMs) => atMs >= beforeMs && atMs <= entry.startMs);
    if (crashMs === undefined) {
      violations.push({ rule: "fetched-twice", detail: `${url} at ${entry.startMs} ms` });
    } else {
      repeatsByCrash.set(crashMs, (repeatsByCrash.get(crashMs) ?? 0) + 1);
    }
  }
  for (const [crashMs, repeats] of repeatsByCrash) {
    if (repeats <= uncommittedMax) continue;
    const detail = `${repeats} repeats after the crash at ${crashMs} ms, at most ${uncommittedMax}`;
    violations.push({ rule: "too-many-repeats", detail });
  }
  return violations;
}

/** Whether an answer is final, so that a repeated request has no reason. */
function isSettling({ whole, status }: RequestEntry): boolean {
  return whole && status !== 429 && (status < 500 || status === 501);
}
