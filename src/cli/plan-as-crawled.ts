/**
 * A plan as a crawl with the same settings would carry it out (`weir plan --as-crawled`).
 *
 * Without the flag, `weir plan` counts every byte of the limit as a byte of a page, and deadlines
 * may be met at the last moment. A crawl starts with the plan made here
 * (`plan/promise/first-plan.ts`), which has a reserve before deadlines (decision 012).
 */

import type { Settings } from "../config/schema.ts";
import { asCrawled } from "../crawl/deadlines/first-plan.ts";
import { type Reserve, reserveFor } from "../plan/promise/reserves.ts";
import type { PlanInput, PlannedSite } from "./plan-task.ts";

/**
 * The task with the start and the share of the limit that a crawl has; the rates of servers stay.
 */
export function atCrawlsRate(input: PlanInput, settings: Settings): PlanInput {
  const { task, rateFrom } = input;
  const limitBps = rateFrom === "caps" ? undefined : task.rateBps;
  return { ...input, task: asCrawled(task, limitBps, settings) };
}

/** The reserve of a crawl. */
export function crawlsReserve({ task, sites }: PlanInput): Reserve {
  const promised = sites.filter(
    ({ wish, leftOut }) => leftOut === undefined && wish.deadlineSeconds !== undefined,
  );
  return reserveFor({
    sizes: promised.every(({ sizeFrom }) => sizeFrom === "size"),
    servers: promised.every((site) => site.capBps >= task.rateBps || isSaid(site)),
  });
}

function isSaid({ wish }: PlannedSite): boolean {
  return wish.capBps !== undefined || wish.limitBps !== undefined;
}
