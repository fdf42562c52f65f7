/**
 * What can be promised before a crawl starts, and the least change that makes the rest possible.
 *
 * Exact where neither places nor least rates bind. Where they do, a promise is made only for a plan
 * that keeps it, so the least rate can be too high and a move too far, never too small.
 *
 * O(n log n) for the rate, times about thirty halvings. All sites are candidates for moving a
 * deadline, with thousands of sites only the largest.
 */

import { fitsAlone, isFeasible, keepsDeadlines } from "../feasible/feasible.ts";
import { leastThat } from "../feasible/bisect.ts";
import { orderBy } from "../schedule/radix-sort.ts";
import { searchPlaced } from "../schedule/placed-search.ts";
import type { PlanTask, SiteTask } from "../plan.ts";
import { hasPlaces, workOf } from "../schedule/columns.ts";

export interface Promises {
  readonly feasible: boolean;
  /** The least rate that keeps all deadlines; undefined when none does, or none was found. */
  readonly minimumRateBps: number | undefined;
  /** Sites whose own cap makes their deadline impossible. */
  readonly hopeless: readonly string[];
  /** The one deadline that could be moved for the least extension × weight, if one is enough. */
  readonly easiestMove: { readonly key: string; readonly toSeconds: number } | undefined;
}

/** Sites × sites examined to find the deadline to move. */
const STEPS_MAX = 2_000_000;
const CANDIDATES_MIN = 8;
/** Steps of a search with places, which takes longer, so fewer candidates are examined. */
const PLACED_STEPS = 50;

export function promisesOf(task: PlanTask): Promises {
  const hopeless = hopelessIn(task);
  const feasible = hopeless.length === 0 && isFeasible(task);
  return {
    feasible,
    minimumRateBps: minimumRateOf(task),
    hopeless,
    easiestMove: feasible || hopeless.length > 1 ? undefined : easiestMoveOf(task),
  };
}

/** The least rate that would keep all deadlines if no site had a cap. */
export function rateWithoutCaps({ sites, startupSeconds }: PlanTask): number {
  const dated = sites
    .filter(({ deadlineSeconds, bytes }) => deadlineSeconds !== undefined && bytes > 0)
    .toSorted((a, b) => (a.deadlineSeconds as number) - (b.deadlineSeconds as number));
  let bytes = 0;
  let leastBps = 0;
  for (const site of dated) {
    bytes += site.bytes;
    leastBps = Math.max(leastBps, bytes / ((site.deadlineSeconds as number) - startupSeconds));
  }
  return leastBps;
}

/** The least rate that keeps all deadlines; undefined when none does, or none was found. */
export function minimumRateOf(task: PlanTask): number | undefined {
  if (hopelessIn(task).length > 0) return undefined;
  const rateBps = leastThat(rateWithoutCaps(task), (rate) => canKeep({ ...task, rateBps: rate }));
  return rateBps === Number.POSITIVE_INFINITY ? undefined : rateBps;
}

/** Sites that would be late at any rate of the line. */
function hopelessIn(task: PlanTask): string[] {
  const work = workOf({ ...task, rateBps: Number.MAX_VALUE });
  return task.sites.filter((_, site) => !fitsAlone(work, site)).map(({ key }) => key);
}

function canKeep(task: PlanTask): boolean {
  if (!keepsDeadlines(workOf(task))) return false;
  return !hasPlaces(task) || searchPlaced(task, "min-sum").score[0] === 0;
}

function easiestMoveOf(task: PlanTask): Promises["easiestMove"] {
  let best:
    | { readonly site: SiteTask; readonly bySeconds: number; readonly cost: number }
    | undefined;
  for (const index of candidatesIn(task)) {
    const site = task.sites[index] as SiteTask;
    const isEnough = (bySeconds: number) => canKeep(withMoved(task, index, bySeconds));
    // A candidate that cannot beat the best one so far is not examined further.
    if (!isEnough(best === undefined ? Number.POSITIVE_INFINITY : best.cost / site.weight))
      continue;
    const bySeconds = leastThat(0, isEnough);
    best = { site, bySeconds, cost: bySeconds * site.weight };
  }
  if (best === undefined) return undefined;
  const { key, deadlineSeconds = 0 } = best.site;
  return { key, toSeconds: deadlineSeconds + best.bySeconds };
}

/** The largest first: they free the most time. */
function candidatesIn(task: PlanTask): number[] {
  const { sites } = task;
  const steps = hasPlaces(task) ? STEPS_MAX / PLACED_STEPS : STEPS_MAX;
  const most = Math.max(CANDIDATES_MIN, Math.floor(steps / Math.max(1, sites.length)));
  return [...orderBy(sites.length, (index) => -(sites[index]?.bytes ?? 0))]
    .filter((index) => sites[index]?.deadlineSeconds !== undefined)
    .slice(0, most);
}

function withMoved(task: PlanTask, index: number, bySeconds: number): PlanTask {
  const site = task.sites[index] as SiteTask;
  const deadlineSeconds = (site.deadlineSeconds ?? 0) + bySeconds;
  return { ...task, sites: task.sites.with(index, { ...site, deadlineSeconds }) };
}
