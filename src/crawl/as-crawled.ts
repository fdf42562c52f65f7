/**
 * What a crawl gets of its limit, and when its first page comes: for the plan that is told beforehand.
 *
 * A crawl has packets to pay for out of its limit, fills it to the part that is aimed at, and begins with robots.txt.
 */

import { AIM_SHARE } from "../bandwidth/governor.ts";
import { overheadFor, windowFor } from "../bandwidth/window.ts";
import type { Settings } from "../config/schema.ts";
import type { PlanTask } from "../plan/plan.ts";

/** What packets add where connections are kept for many pages, as a part of what they add to a page with its own. */
const KEPT_SHARE = 0.65;
/** The first connections take a moment, and before pages come the robots.txt of all sites (`bench/deadlines.ts`). */
const BEGIN_SECONDS = 0.1;
const ROBOTS_BYTES = 1000;

/** A task as a crawl begins it; the limit is undefined where servers alone hold it up, and then the rate stays. */
export function asCrawled(
  task: PlanTask,
  limitBps: number | undefined,
  { packetOverhead, startupMs }: Pick<Settings, "packetOverhead" | "startupMs">,
): PlanTask {
  const rateBps = limitBps === undefined ? task.rateBps : payloadBps(limitBps, packetOverhead);
  const beginSeconds = BEGIN_SECONDS + (ROBOTS_BYTES * task.sites.length) / rateBps;
  return { ...task, rateBps, startupSeconds: startupMs / 1000 + beginSeconds };
}

function payloadBps(limitBps: number, packetOverhead: Settings["packetOverhead"]): number {
  const overhead =
    packetOverhead === "auto" ? KEPT_SHARE * overheadFor(windowFor(limitBps)) : packetOverhead;
  return (limitBps * AIM_SHARE) / (1 + overhead);
}
