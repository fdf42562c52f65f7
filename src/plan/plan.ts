/**
 * What is to be planned, and what a plan says: who is crawled when, and how fast.
 *
 * Times count from now, in seconds. Bytes are what a site still has to give, multiplied by its
 * efficiency ξ where one was measured (time = ξ·D / v), so that no algorithm has to know of it.
 */

export interface SiteTask {
  readonly key: string;
  readonly bytes: number;
  /** undefined: any time will do. */
  readonly deadlineSeconds: number | undefined;
  /** The most its servers and our manners let through; Infinity when nothing is known. */
  readonly capBps: number;
  /** How much a second of its waiting counts. */
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
  /** t: how long a site takes to start before its first byte comes; its place is taken meanwhile. */
  readonly startupSeconds: number;
}

/** A stretch of time with one rate. Segments of a site are in order and never overlap. */
export interface Segment {
  readonly fromSeconds: number;
  readonly toSeconds: number;
  readonly rateBps: number;
}

export interface SitePlan {
  readonly key: string;
  readonly segments: readonly Segment[];
  /** When its last byte has come. */
  readonly finishSeconds: number;
}

export interface Plan {
  /** One for each site of the task, in the same order. */
  readonly sites: readonly SitePlan[];
}

/** An algorithm's answer: a plan, or why there is none in its own terms. */
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
  /** Σ weight × finish: what min-sum makes small. */
  readonly weightedSumSeconds: number;
  /** Sites that finish after their deadline. */
  readonly lateCount: number;
}

/** A deadline counts as kept within this part of it: sums of segments are rounded. */
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
