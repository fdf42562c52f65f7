/**
 * Plans with the chosen algorithm, and computes what can be promised with any.
 *
 * The paper's algorithms know no caps, and some fail where another succeeds; then the answer is the
 * reason instead of a plan. The randomness of the bands has a fixed seed, so that the same question
 * has the same answer.
 */

import { randomFrom } from "../base/random.ts";
import {
  type Band,
  type BandOptions,
  finishBands,
  heldFinishes,
  orderedFinishes,
  replansFor,
  replaysFor,
  type Server,
} from "../plan/promise/confidence.ts";
import { type Verdict, verdictsOf } from "../plan/promise/certainty.ts";
import { type FirstPlan, planFirst } from "../plan/promise/first-plan.ts";
import type { Reserve } from "../plan/promise/reserves.ts";
import { planByName } from "../plan/papers/by-name.ts";
import { planOptimal, sumBoundOf } from "../plan/optimum/optimal.ts";
import {
  type Algorithm,
  type Allocation,
  figuresOf,
  isLate,
  type Objective,
  type Plan,
  type PlanFigures,
  type PlanTask,
  ROUNDING_SHARE,
  type SitePlan,
  type SiteTask,
  withoutDeadlines,
} from "../plan/plan.ts";
import { type Promises, promisesOf } from "../plan/promise/promises.ts";
import { hasPlaces } from "../plan/schedule/columns.ts";

const SEED = 1;
const MIP_SECONDS_MAX = 60;

interface PlanQuestion {
  readonly task: PlanTask;
  /** The reserve of our planner before deadlines; undefined for none. */
  readonly reserve: Reserve | undefined;
  readonly servers: readonly Server[];
  readonly evidence: Parameters<typeof verdictsOf>[2];
  readonly algorithm: Algorithm;
  readonly objective: Objective;
}

export interface PlanAnswer {
  readonly algorithm: Algorithm;
  readonly objective: Objective;
  /** undefined when the algorithm fails. */
  readonly plan: Plan | undefined;
  /** The reason of the failure. */
  readonly why: string | undefined;
  readonly figures: PlanFigures | undefined;
  /** Sites with rates above those of their servers: the paper knows no caps. */
  readonly overCap: readonly string[];
  /** Whether this plan keeps every deadline and every cap. */
  readonly feasible: boolean;
  readonly promises: Promises;
  /** For each site of the task; undefined without a deadline, and where the algorithm fails. */
  readonly verdicts: readonly (Verdict | undefined)[];
  /** No plan that keeps the deadlines of this one has a smaller Σ finish, or Σ weight × finish. */
  readonly lowerBoundSumSeconds: number;
  readonly lowerBoundWeightedSeconds: number;
  /** The solver's gap between its answer and its bound. */
  readonly solverGap: number | undefined;
  /** undefined if no deviation of servers was measured. */
  readonly bands: readonly Band[] | undefined;
}

export async function answerOf(question: PlanQuestion): Promise<PlanAnswer> {
  const { task, reserve, algorithm, objective } = question;
  const optimal =
    reserve === undefined
      ? { targets: task, ...planOptimal(task, objective) }
      : planFirst(task, reserve, objective);
  const { allocation, solverGap } =
    algorithm === "optimal"
      ? { allocation: planned(optimal.plan), solverGap: undefined }
      : await byPaper(algorithm, task);
  const plan = allocation.kind === "planned" ? allocation.plan : undefined;
  const figures = plan === undefined ? undefined : figuresOf(task, plan);
  const boundOf = (asked: PlanTask): number => {
    const dated = withDeadlinesOf(asked, plan);
    return sumBoundOf(dated, planOptimal(dated, algorithm === "optimal" ? objective : "min-sum"));
  };
  const boundSeconds = boundOf(task);
  const overCap = plan === undefined ? [] : overCapIn(task, plan);
  return {
    algorithm,
    objective,
    plan,
    why: allocation.kind === "planned" ? undefined : allocation.why,
    figures,
    overCap,
    feasible: figures?.lateCount === 0 && overCap.length === 0,
    promises: promisesOf(task),
    verdicts: plan === undefined ? [] : verdictsOf(task, finishesOf(plan), question.evidence),
    lowerBoundSumSeconds: unweightedBound(task, boundSeconds, boundOf),
    lowerBoundWeightedSeconds: boundSeconds,
    solverGap,
    bands: plan === undefined ? undefined : bandsOf(question, plan, optimal),
  };
}

function finishesOf({ sites }: Plan): number[] {
  return sites.map(({ finishSeconds }) => finishSeconds);
}

function planned(plan: Plan): Allocation {
  return { kind: "planned", plan };
}

function overCapIn({ sites }: PlanTask, plan: Plan): string[] {
  return plan.sites
    .filter(({ segments }, index) => {
      const { capBps } = sites[index] as SiteTask;
      return segments.some(({ rateBps }) => rateBps > capBps * (1 + ROUNDING_SHARE));
    })
    .map(({ key }) => key);
}

async function byPaper(
  algorithm: Exclude<Algorithm, "optimal">,
  task: PlanTask,
): Promise<{ readonly allocation: Allocation; readonly solverGap: number | undefined }> {
  if (algorithm !== "mip") return { allocation: planByName(algorithm, task), solverGap: undefined };
  const { solveMip } = await import("../solver/solve-mip.ts");
  const { allocation, gap } = await solveMip(task, { secondsMax: MIP_SECONDS_MAX });
  return { allocation, solverGap: gap };
}

/** The bound of the weighted sum implies none for the plain one, unless all weights are equal. */
function unweightedBound(
  task: PlanTask,
  weightedBound: number,
  boundOf: (task: PlanTask) => number,
): number {
  if (task.sites.every(({ weight }) => weight === 1)) return weightedBound;
  return boundOf({ ...task, sites: task.sites.map((site) => ({ ...site, weight: 1 })) });
}

/**
 * Only the deadlines that the plan keeps: a plan that misses some may have a smaller sum than one
 * that keeps all.
 */
function withDeadlinesOf(task: PlanTask, plan: Plan | undefined): PlanTask {
  return withoutDeadlines(task, (site, index) => {
    const planned = plan?.sites[index];
    return planned !== undefined && isLate(site, planned.finishSeconds);
  });
}

function bandsOf(
  question: PlanQuestion,
  plan: Plan,
  { targets, order }: FirstPlan,
): readonly Band[] | undefined {
  const { servers } = question;
  const isSeen = servers.some(({ bps, strayed }) => bps < Infinity && (strayed?.mean ?? 0) > 0);
  if (!isSeen) return undefined;
  const bands = finishBands(targets, servers, {
    ...waysOf(question, targets, plan, order),
    random: randomFrom(SEED),
  });
  // Runs are planned with less effort than the plan itself, which may be better than most of them.
  return bands.map(({ p5Seconds, p95Seconds }, index) => {
    const planned = (plan.sites[index] as SitePlan).finishSeconds;
    return { p5Seconds: Math.min(p5Seconds, planned), p95Seconds: Math.max(p95Seconds, planned) };
  });
}

/**
 * Our planner plans again as the crawl would; the paper's rates stay constant; very many sites keep
 * their order.
 */
function waysOf(
  { algorithm, objective }: PlanQuestion,
  task: PlanTask,
  plan: Plan,
  order: readonly number[],
): Pick<BandOptions, "runs" | "finishes"> {
  const runs = replansFor(task.sites.length);
  if (algorithm === "optimal" && runs !== undefined)
    return {
      runs,
      finishes: (other) =>
        planOptimal(other, objective).plan.sites.map((site) => site.finishSeconds),
    };
  const isOrdered = algorithm === "optimal" && !hasPlaces(task);
  return {
    runs: replaysFor(task.sites.length),
    finishes: (other) =>
      isOrdered ? orderedFinishes({ plan, order, task }, other) : heldFinishes(plan, other),
  };
}
