/** The data of a plan's picture, shared by the SVG and the terminal: rows, time span and summed rates. */

import { ROUNDING_SHARE, type Segment } from "../plan/plan.ts";

export interface PlanRow {
  readonly name: string;
  readonly segments: readonly Segment[];
  readonly finishSeconds: number;
  readonly deadlineSeconds: number | undefined;
  readonly isLate: boolean;
  /** Range that contains the finish time with 90 % probability; undefined when unknown. */
  readonly band: { readonly p5Seconds: number; readonly p95Seconds: number } | undefined;
}

/** A deadline later than this multiple of the plan's end is an arrow; an axis that long would shrink all bars. */
const FAR_SHARE = 1.5;

export function byFinish(rows: readonly PlanRow[]): PlanRow[] {
  return rows.toSorted((a, b) => a.finishSeconds - b.finishSeconds);
}

/** End of the time axis: after every finish time, finish range and near deadline, plus 2 %. */
export function spanSeconds(rows: readonly PlanRow[]): number {
  let end = 0;
  for (const { finishSeconds, band } of rows)
    end = Math.max(end, finishSeconds, band?.p95Seconds ?? 0);
  let span = end;
  for (const { deadlineSeconds = 0 } of rows)
    if (deadlineSeconds <= end * FAR_SHARE) span = Math.max(span, deadlineSeconds);
  return span > 0 ? span * 1.02 : 1;
}

/** The sum of all rates as a step function: each rate holds from its time to the next step. */
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
    // Rounding must not let the end of one segment overlap the begin of the next.
    if (last !== undefined && at - last[0] <= ROUNDING_SHARE * at) last[1] = sumBps;
    else steps.push([at, sumBps]);
  }
  return steps;
}

/** The highest rate of any site, drawn in the darkest shade. */
export function highestBps(rows: readonly PlanRow[]): number {
  let most = 0;
  for (const { segments } of rows)
    for (const { rateBps } of segments) most = Math.max(most, rateBps);
  return most > 0 ? most : 1;
}
