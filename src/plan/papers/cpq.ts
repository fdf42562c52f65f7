/**
 * CPQ, the crawling priority queue of Zhu, Li, Xu and Cui (PQ-DB in their figures): batches by
 * deadline.
 *
 * Sites are in a row by ascending deadline, those without one last, equal ones in the given order.
 * The first m sites form a batch; each gets v = U·D / ΣD of its batch, so that all of them end
 * together; then the next batch starts. A batch is M-MAXT without deadlines.
 *
 * Promises: every batch uses the whole rate except for its start-up time t. As in the paper,
 * deadlines only determine the row, so sites can be late, and there are no caps. Fails when a
 * site's share is below the least rate v*, and names it. O(n log n).
 */

import { assert } from "../../base/assert.ts";
import { planMMaxt } from "./constant-rates.ts";
import type { Allocation, PlanTask, SitePlan, SiteTask } from "../plan.ts";

interface Waiting {
  readonly site: SiteTask;
  readonly index: number;
}

export function planCpq(task: PlanTask): Allocation {
  assert(task.sitesMax >= 1, "at least one site may be crawled");
  const row = task.sites
    .map((site, index): Waiting => ({ site, index }))
    .filter(({ site }) => site.bytes > 0)
    .toSorted((a, b) => byDeadline(a.site, b.site));
  const sites = task.sites.map(({ key }): SitePlan => ({ key, segments: [], finishSeconds: 0 }));
  let startSeconds = 0;
  for (let from = 0; from < row.length; from += task.sitesMax) {
    const batch = row.slice(from, from + task.sitesMax);
    const allocation = planMMaxt({ ...task, sites: batch.map(withoutDeadline) });
    if (allocation.kind === "impossible") return allocation;
    let endSeconds = startSeconds;
    for (const [place, planned] of allocation.plan.sites.entries()) {
      const moved = later(planned, startSeconds);
      sites[(batch[place] as Waiting).index] = moved;
      endSeconds = Math.max(endSeconds, moved.finishSeconds);
    }
    startSeconds = endSeconds;
  }
  return { kind: "planned", plan: { sites } };
}

function byDeadline(a: SiteTask, b: SiteTask): number {
  const [dueA, dueB] = [a.deadlineSeconds ?? Infinity, b.deadlineSeconds ?? Infinity];
  return dueA === dueB ? 0 : dueA - dueB;
}

function withoutDeadline({ site }: Waiting): SiteTask {
  return { ...site, deadlineSeconds: undefined };
}

function later({ key, segments, finishSeconds }: SitePlan, bySeconds: number): SitePlan {
  return {
    key,
    segments: segments.map(({ fromSeconds, toSeconds, rateBps }) => ({
      fromSeconds: fromSeconds + bySeconds,
      toSeconds: toSeconds + bySeconds,
      rateBps,
    })),
    finishSeconds: finishSeconds + bySeconds,
  };
}
