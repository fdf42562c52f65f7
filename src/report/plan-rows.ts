/** What a picture of a plan shows, on paper or in a terminal: rows by finish time, and how far it goes. */

import { ROUNDING_SHARE, type Segment } from "../plan/plan.ts";

export interface PlanRow {
  readonly name: string;
  readonly segments: readonly Segment[];
  readonly finishSeconds: number;
  readonly deadlineSeconds: number | undefined;
  readonly isLate: boolean;
  /** When it is done nine times out of ten; undefined when nothing is known of that. */
  readonly band: { readonly p5Seconds: number; readonly p95Seconds: number } | undefined;
}

/** A deadline this far beyond the end is told by an arrow: it would press all bars together. */
const FAR_SHARE = 1.5;

export function byFinish(rows: readonly PlanRow[]): PlanRow[] {
  return rows.toSorted((a, b) => a.finishSeconds - b.finishSeconds);
}

/** Where the axis of time ends: everything that happens is before it, and every deadline nearby. */
export function spanSeconds(rows: readonly PlanRow[]): number {
  let end = 0;
  for (const { finishSeconds, band } of rows)
    end = Math.max(end, finishSeconds, band?.p95Seconds ?? 0);
  let span = end;
  for (const { deadlineSeconds = 0 } of rows)
    if (deadlineSeconds <= end * FAR_SHARE) span = Math.max(span, deadlineSeconds);
  return span > 0 ? span * 1.02 : 1;
}

/** The rate of all together as steps: from each moment on, so much. */
export function sumOfRates(rows: readonly PlanRow[]): [atSeconds: number, rateBps: number][] {
  const changes = rows.flatMap(({ segments }) =>
    segments.flatMap(({ fromSeconds, toSeconds, rateBps }): [number, number][] => [
      [fromSeconds, rateBps],
      [toSeconds, -rateBps],
    ]),
  );
  changes.sort(([a], [b]) => a - b);
  const steps: [number, number][] = [];
  let sumBps = 0;
  for (const [at, change] of changes) {
    sumBps += change;
    const last = steps.at(-1);
    // Where one ends and the next begins, rounding must not show both.
    if (last !== undefined && at - last[0] <= ROUNDING_SHARE * at) last[1] = sumBps;
    else steps.push([at, sumBps]);
  }
  return steps;
}

/** The highest rate of any site: what the deepest shade stands for. */
export function highestBps(rows: readonly PlanRow[]): number {
  let most = 0;
  for (const { segments } of rows)
    for (const { rateBps } of segments) most = Math.max(most, rateBps);
  return most > 0 ? most : 1;
}
