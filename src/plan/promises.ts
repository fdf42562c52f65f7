/**
 * What can be promised before a crawl begins, and what would have to change for the rest.
 */

import { isFeasible, keepsDeadlines, leastThat, fitsAlone } from "./feasible.ts";
import type { PlanTask, SiteTask } from "./plan.ts";
import { withDeadlines, type Work, workOf } from "./work.ts";

export interface Promises {
  readonly feasible: boolean;
  /** The least rate that keeps all deadlines; undefined when none does. */
  readonly minimumRateBps: number | undefined;
  /** Sites whose own cap forbids their deadline. */
  readonly hopeless: readonly string[];
  /** The one deadline that could be moved for the least extension × weight, if one is enough. */
  readonly easiestMove: { readonly key: string; readonly toSeconds: number } | undefined;
}

export function promisesOf(task: PlanTask): Promises {
  const hopeless = hopelessOf(task);
  const feasible = hopeless.length === 0 && isFeasible(task);
  return {
    feasible,
    minimumRateBps: hopeless.length > 0 ? undefined : minimumRateOf(task),
    hopeless,
    easiestMove: feasible || hopeless.length > 1 ? undefined : easiestMoveOf(task),
  };
}

function hopelessOf(task: PlanTask): string[] {
  const work = workOf({ ...task, rateBps: Number.MAX_VALUE });
  return task.sites.filter((_, site) => !fitsAlone(work, site)).map(({ key }) => key);
}

function minimumRateOf(task: PlanTask): number {
  const dated = task.sites
    .filter(({ deadlineSeconds, bytes }) => deadlineSeconds !== undefined && bytes > 0)
    .toSorted((a, b) => (a.deadlineSeconds as number) - (b.deadlineSeconds as number));
  let bytes = 0;
  let leastBps = 0;
  for (const site of dated) {
    bytes += site.bytes;
    leastBps = Math.max(leastBps, bytes / ((site.deadlineSeconds as number) - task.startupSeconds));
  }
  return leastThat(leastBps, (rateBps) => isFeasible({ ...task, rateBps }));
}

function easiestMoveOf(task: PlanTask): Promises["easiestMove"] {
  const work = workOf(task);
  let best:
    | { readonly site: number; readonly bySeconds: number; readonly cost: number }
    | undefined;
  for (let site = 0; site < work.count; site++) {
    const deadlineSeconds = work.deadlineSeconds[site] as number;
    if (deadlineSeconds === Number.POSITIVE_INFINITY) continue;
    const weight = work.weight[site] as number;
    const isEnough = (seconds: number) => keepsDeadlines(moved(work, site, seconds));
    const mostSeconds = best === undefined ? Number.POSITIVE_INFINITY : best.cost / weight;
    if (!isEnough(mostSeconds)) continue;
    const bySeconds = leastThat(0, isEnough);
    best = { site, bySeconds, cost: bySeconds * weight };
  }
  if (best === undefined) return undefined;
  const { key, deadlineSeconds = 0 } = task.sites[best.site] as SiteTask;
  return { key, toSeconds: deadlineSeconds + best.bySeconds };
}

function moved(work: Work, site: number, bySeconds: number): Work {
  const deadlineSeconds = work.deadlineSeconds.slice();
  deadlineSeconds[site] = (deadlineSeconds[site] as number) + bySeconds;
  return withDeadlines(work, deadlineSeconds);
}
