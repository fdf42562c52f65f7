/**
 * Judges that nothing is done twice: no page is delivered, or stored, a second time.
 *
 * A page that was under way or not yet committed when the crawler was killed may be asked for once
 * more. So a repeat is forgiven when a crash lies between the two deliveries, and only so many of
 * them for each crash as can have been uncommitted.
 *
 * Rules: `fetched-twice`, `too-many-repeats` (for one crash), `stored-twice`.
 */

import type { RequestEntry } from "../request-log.ts";
import type { Violation } from "./violation.ts";

export interface Doings {
  readonly log: readonly RequestEntry[];
  /** URLs of stored pages, one entry a page. */
  readonly stored: Iterable<string>;
  readonly crashedAtMs: readonly number[];
  /** The most URLs that are in flight, or fetched and uncommitted, at any moment. */
  readonly uncommittedMax: number;
  /** URLs that may be asked for again, such as robots.txt. */
  readonly mayRepeat: (path: string) => boolean;
}

export function checkOnce(doings: Doings): Violation[] {
  return [...checkStored(doings.stored), ...checkFetched(doings)];
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

function checkFetched({ log, crashedAtMs, uncommittedMax, mayRepeat }: Doings): Violation[] {
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

/** An answer after which there is no reason to ask again. */
function isSettling({ whole, status }: RequestEntry): boolean {
  return whole && status !== 429 && (status < 500 || status === 501);
}
