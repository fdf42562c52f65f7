/**
 * Quality of a set of finish times: fewest late, then least late, then the objective.
 *
 * Compared part by part; values that differ only by rounding are equal.
 */

import type { Objective } from "../plan.ts";
import type { Work } from "./columns.ts";

/** Late sites, the greatest lateness, then the objective's two values in order. */
export type Score = readonly [number, number, number, number];

const EQUAL_SHARE = 1e-11;
/** Together with the slack of the columns, still within the tolerance of a kept deadline. */
const KEPT_SHARE = 3e-10;

/** Whether a finish is after a deadline, by more than rounding. */
function isAfter(finishSeconds: number, deadlineSeconds: number): boolean {
  return finishSeconds > deadlineSeconds * (1 + KEPT_SHARE);
}

export function scoreOf(work: Work, finishes: Float64Array, objective: Objective): Score {
  const { weight, deadlineSeconds } = work;
  let lateCount = 0;
  let lateSeconds = 0;
  let sum = 0;
  let most = 0;
  for (let site = 0; site < work.count; site++) {
    const finish = finishes[site] as number;
    const deadline = deadlineSeconds[site] as number;
    if (isAfter(finish, deadline)) {
      lateCount++;
      lateSeconds = Math.max(lateSeconds, finish - deadline);
    }
    sum += (weight[site] as number) * finish;
    most = Math.max(most, finish);
  }
  return objective === "min-sum"
    ? [lateCount, lateSeconds, sum, most]
    : [lateCount, lateSeconds, most, sum];
}

/** By more than rounding. */
export function isBetter(a: Score, b: Score): boolean {
  for (const [part, value] of a.entries()) {
    const other = b[part] as number;
    if (Math.abs(value - other) <= EQUAL_SHARE * Math.max(Math.abs(value), Math.abs(other)))
      continue;
    return value < other;
  }
  return false;
}
