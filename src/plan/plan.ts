/**
 * The task to plan, and the plan: when each site is crawled, and how fast.
 *
 * Times count from now, in seconds. Bytes are those that a site still has, multiplied by its
 * efficiency ξ where one was measured (time = ξ·D / v), so that algorithms need not know it.
 */

export interface SiteTask {
  readonly key: string;
  readonly bytes: number;
  /** undefined: at any time. */
  readonly deadlineSeconds: number | undefined;
  /** The highest rate that its servers and politeness permit; Infinity if unknown. */
  readonly capBps: number;
  /** Weight of a second of its finish time. */
  readonly weight: number;
}

export interface PlanTask {
  readonly sites: readonly SiteTask[];
  /** U: for all sites together. */
  readonly rateBps: number;
  /** m: most sites crawled at the same time; Infinity for any number. */
  readonly sitesMax: number;
  /** v*: least rate of a site that is being crawled. */
  readonly rateMinBps: number;
  /** t: time between the start of a site and its first byte; its place is taken meanwhile. */
  readonly startupSeconds: number;
}

/** A span of time with one rate. Segments of a site are in order and never overlap. */
export interface Segment {
  readonly fromSeconds: number;
  readonly toSeconds: number;
  readonly rateBps: number;
}

export interface SitePlan {
  readonly key: string;
  readonly segments: readonly Segment[];
  /** Arrival of its last byte. */
  readonly finishSeconds: number;
}

export interface Plan {
  /** One for each site of the task, in the same order. */
  readonly sites: readonly SitePlan[];
}

/** An algorithm's result: a plan, or the reason why there is none, in its own terms. */
export type Allocation =
  | { readonly kind: "planned"; readonly plan: Plan }
  | { readonly kind: "impossible"; readonly why: string };

export const OBJECTIVES = ["min-sum", "min-max"] as const;
export type Objective = (typeof OBJECTIVES)[number];

export const ALGORITHMS = ["optimal", "m-maxt", "m-sumt", "cpq", "mip"] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

export interface PlanFigures {
  readonly maxSeconds: number;
  readonly sumSeconds: number;
  /** Σ weight × finish: minimised by min-sum. */
  readonly weightedSumSeconds: number;
  /** Sites that finish after their deadline. */
  readonly lateCount: number;
}

/** Tolerance of a kept deadline, as a share of it: sums of segments are rounded. */
export const ROUNDING_SHARE = 1e-9;

export function isLate({ deadlineSeconds }: SiteTask, finishSeconds: number): boolean {
  return (
    deadlineSeconds !== undefined && finishSeconds > deadlineSeconds * (1 + ROUNDING_SHARE) + 1e-9
  );
}

/** The same task, with some deadlines given up. */
export function withoutDeadlines(
  task: PlanTask,
  isGivenUp: (site: SiteTask, index: number) => boolean,
): PlanTask {
  const { sites } = task;
  const isDropped = (site: SiteTask, index: number): boolean =>
    site.deadlineSeconds !== undefined && isGivenUp(site, index);
  if (!sites.some(isDropped)) return task;
  return {
    ...task,
    sites: sites.map((site, index) =>
      isDropped(site, index) ? { ...site, deadlineSeconds: undefined } : site,
    ),
  };
}

export function figuresOf(task: PlanTask, plan: Plan): PlanFigures {
  let maxSeconds = 0;
  let sumSeconds = 0;
  let weightedSumSeconds = 0;
  let lateCount = 0;
  for (const [index, site] of task.sites.entries()) {
    const finishSeconds = plan.sites[index]?.finishSeconds ?? Number.NaN;
    maxSeconds = Math.max(maxSeconds, finishSeconds);
    sumSeconds += finishSeconds;
    weightedSumSeconds += site.weight * finishSeconds;
    if (isLate(site, finishSeconds)) lateCount += 1;
  }
  return { maxSeconds, sumSeconds, weightedSumSeconds, lateCount };
}
