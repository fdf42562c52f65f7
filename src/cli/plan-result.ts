/** A plan as one object for programs; the names are fixed by the command line's contract. */

import { isLate } from "../plan/plan.ts";
import type { PlanRow } from "../report/plan-rows.ts";
import type { Verdict } from "../plan/promise/certainty.ts";
import type { PlanAnswer } from "./plan-answer.ts";
import type { PlanInput, PlannedSite } from "./plan-task.ts";

export interface PlanReport {
  readonly input: PlanInput;
  readonly answer: PlanAnswer;
}

/** A site of the request, and its row of the plan if it has one. */
export interface ReportedSite extends PlannedSite {
  readonly row: PlanRow | undefined;
  readonly verdict: Verdict | undefined;
}

export function reportedSites({ input, answer }: PlanReport): ReportedSite[] {
  let next = 0;
  return input.sites.map((site) => {
    if (site.leftOut !== undefined) return { ...site, row: undefined, verdict: undefined };
    const index = next++;
    const own = input.task.sites[index];
    const planned = answer.plan?.sites[index];
    if (own === undefined || planned === undefined)
      return { ...site, row: undefined, verdict: undefined };
    const { segments, finishSeconds } = planned;
    const row: PlanRow = {
      name: own.key,
      segments,
      finishSeconds,
      deadlineSeconds: own.deadlineSeconds,
      isLate: isLate(own, finishSeconds),
      band: answer.bands?.[index],
    };
    return { ...site, row, verdict: answer.verdicts[index] };
  });
}

export function planResult(report: PlanReport): object {
  const { input, answer } = report;
  const { figures, promises } = answer;
  const sites = reportedSites(report);
  return {
    feasible: answer.feasible,
    algorithm: answer.algorithm,
    objective: answer.objective,
    maxSeconds: figures?.maxSeconds ?? null,
    sumSeconds: figures?.sumSeconds ?? null,
    lowerBoundSumSeconds: answer.lowerBoundSumSeconds,
    minimumRateBps: promises.minimumRateBps ?? null,
    weightedSumSeconds: figures?.weightedSumSeconds ?? null,
    lowerBoundWeightedSumSeconds: answer.lowerBoundWeightedSeconds,
    gap: gapOf(answer) ?? null,
    solverGap: answer.solverGap ?? null,
    impossible: answer.why ?? null,
    deadlinesFeasible: promises.feasible,
    rateBps: input.task.rateBps,
    rateFrom: input.rateFrom,
    late: sites.flatMap(({ row }) => (row?.isLate === true ? [lateOf(row)] : [])),
    overCap: answer.overCap,
    hopeless: promises.hopeless,
    easiestMove: moveOf(promises.easiestMove),
    sites: sites.map(siteResult),
  };
}

/** The largest possible distance of the plan from an optimal one. */
export function gapOf({ figures, lowerBoundWeightedSeconds }: PlanAnswer): number | undefined {
  if (figures === undefined || lowerBoundWeightedSeconds <= 0) return undefined;
  // Without caps, as in the paper, a sum may be below the bound of the caps.
  return Math.max(0, figures.weightedSumSeconds / lowerBoundWeightedSeconds - 1);
}

function moveOf(move: PlanAnswer["promises"]["easiestMove"]): object | null {
  return move === undefined ? null : { site: move.key, toSeconds: move.toSeconds };
}

function lateOf({ name, finishSeconds, deadlineSeconds = 0 }: PlanRow): object {
  return { site: name, deadlineSeconds, finishSeconds, bySeconds: finishSeconds - deadlineSeconds };
}

function siteResult({ wish, bytes, row, verdict, ...site }: ReportedSite): object {
  return {
    site: wish.site,
    bytes: bytes ?? null,
    deadlineSeconds: wish.deadlineSeconds ?? null,
    finishSeconds: row?.finishSeconds ?? null,
    met: row === undefined ? null : !row.isLate,
    certainty: verdict?.certainty ?? null,
    dependsOn: verdict?.dependsOn ?? [],
    segments: (row?.segments ?? []).map(({ fromSeconds, toSeconds, rateBps }) => ({
      from: fromSeconds,
      to: toSeconds,
      rateBps,
    })),
    finishP5Seconds: row?.band?.p5Seconds ?? null,
    finishP95Seconds: row?.band?.p95Seconds ?? null,
    capBps: site.capBps === Infinity ? null : site.capBps,
    priority: wish.weight,
    efficiency: wish.efficiency,
    sizeFrom: site.sizeFrom ?? null,
    pages: site.pages ?? null,
    pagesFrom: site.pagesFrom ?? null,
    politeSeconds: site.leftOut === undefined ? site.slots.seconds : null,
    capFrom: site.capFrom ?? null,
    leftOut: site.leftOut ?? null,
  };
}
