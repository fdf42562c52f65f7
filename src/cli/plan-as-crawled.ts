/**
 * A plan as a crawl of the same settings would carry it out (`weir plan --as-crawled`).
 *
 * By itself `weir plan` answers the question as it was put: every byte of the limit is a byte of a page,
 * and a deadline may be met at its last moment. A crawl has packets to pay for out of its limit, fills it
 * to 99.5 %, begins with robots.txt, and keeps time in hand before deadlines (decision 012).
 */

import { overheadFor, windowFor } from "../bandwidth/window.ts";
import type { Settings } from "../config/schema.ts";
import { mostSlack, type Slack, slackFor, withSlack } from "../plan/caution.ts";
import type { Objective } from "../plan/plan.ts";
import { planRolling } from "../plan/rolling.ts";
import { hasPlaces } from "../plan/work.ts";
import type { PlanQuestion } from "./plan-answer.ts";
import type { PlanInput, PlannedSite } from "./plan-task.ts";

/** Of its limit, as `bench/bandwidth.ts` measures it; what a crawl plans with is less, to be sure of it. */
const REACHED_SHARE = 0.995;
/** What packets add where connections are kept for many pages, as a part of what they add to a page with its own. */
const KEPT_SHARE = 0.65;
/** Before pages come the robots.txt of all sites, and servers are tried (`bench/deadlines.ts`). */
const BEGIN_SECONDS = 0.04;
const BEGIN_SECONDS_MAX = 1;
/** With more sites than this making hundreds of plans takes too long, and the first is told. */
const ROLLED_SITES_MAX = 100;

/** Beginning as a crawl does, with what it gets of its limit; what servers give is not of our making, and stays. */
export function atCrawlsRate(input: PlanInput, settings: Settings): PlanInput {
  const { task, rateFrom } = input;
  const beginSeconds = Math.min(BEGIN_SECONDS_MAX, BEGIN_SECONDS * task.sites.length);
  const startupSeconds = task.startupSeconds + beginSeconds;
  const rateBps = rateFrom === "caps" ? task.rateBps : payloadBps(task.rateBps, settings);
  return { ...input, task: { ...task, rateBps, startupSeconds } };
}

function payloadBps(limitBps: number, { packetOverhead }: Settings): number {
  const overhead =
    packetOverhead === "auto" ? KEPT_SHARE * overheadFor(windowFor(limitBps)) : packetOverhead;
  return (limitBps * REACHED_SHARE) / (1 + overhead);
}

/** With deadlines as early as a crawl wants to meet them, if it can, and with its plans made anew all the time. */
export function carriedOut(
  input: PlanInput,
  objective: Objective,
): Pick<PlanQuestion, "aims" | "carriedOut"> {
  const { task } = input;
  const wanted = slackOf(input);
  const slack = mostSlack(task, wanted, 0);
  const isRolled = task.sites.length <= ROLLED_SITES_MAX && !hasPlaces(task);
  return {
    aims: slack === undefined ? task : withSlack(task, slack),
    carriedOut: isRolled ? planRolling(task, wanted, objective) : undefined,
  };
}

function slackOf({ task, sites }: PlanInput): Slack {
  const promised = sites.filter(
    ({ wish, leftOut }) => leftOut === undefined && wish.deadlineSeconds !== undefined,
  );
  return slackFor({
    sizes: promised.every(({ sizeFrom }) => sizeFrom === "size"),
    speeds: promised.every((site) => site.capBps >= task.rateBps || isSaid(site)),
  });
}

function isSaid({ capFrom }: PlannedSite): boolean {
  return capFrom === "cap" || capFrom === "limit";
}
