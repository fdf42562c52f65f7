/**
 * A plan as a crawl of the same settings would carry it out (`weir plan --as-crawled`).
 *
 * By itself `weir plan` answers the question as it was put: every byte of the limit is a byte of a page,
 * and a deadline may be met at its last moment. A crawl begins with the plan that is made here
 * (`plan/promise/first-plan.ts`), which keeps time in hand before deadlines (decision 012).
 */

import type { Settings } from "../config/schema.ts";
import { asCrawled } from "../crawl/deadlines/first-plan.ts";
import { type Slack, slackFor } from "../plan/promise/slack.ts";
import type { PlanInput, PlannedSite } from "./plan-task.ts";

/** Beginning as a crawl does, with what it gets of its limit; what servers give is not of our making, and stays. */
export function atCrawlsRate(input: PlanInput, settings: Settings): PlanInput {
  const { task, rateFrom } = input;
  const limitBps = rateFrom === "caps" ? undefined : task.rateBps;
  return { ...input, task: asCrawled(task, limitBps, settings) };
}

/** What a crawl would keep in hand. */
export function crawlsSlack({ task, sites }: PlanInput): Slack {
  const promised = sites.filter(
    ({ wish, leftOut }) => leftOut === undefined && wish.deadlineSeconds !== undefined,
  );
  return slackFor({
    sizes: promised.every(({ sizeFrom }) => sizeFrom === "size"),
    speeds: promised.every((site) => site.capBps >= task.rateBps || isSaid(site)),
  });
}

function isSaid({ wish }: PlannedSite): boolean {
  return wish.capBps !== undefined || wish.limitBps !== undefined;
}
