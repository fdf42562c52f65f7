/**
 * What a crawl gets of its limit, and when its first page comes: for the plan that is told beforehand.
 *
 * A crawl has packets to pay for out of its limit, fills it to the part that is aimed at, and begins with robots.txt.
 */

import { AIM_SHARE } from "../../bandwidth/paced/governor.ts";
import { overheadFor, windowFor } from "../../bandwidth/window.ts";
import type { Settings } from "../../config/schema.ts";
import type { PlanTask } from "../../plan/plan.ts";

/** What packets add where connections are kept for many pages, as a part of what they add to a page with its own. */
const KEPT_SHARE = 0.65;
/** The first connections take a moment, and before pages come the robots.txt of all sites (`bench/deadlines.ts`). */
const BEGIN_SECONDS = 0.1;
const ROBOTS_BYTES = 1000;
/** What a connection costs beside that: it is made, and its first packets are half empty. A site of a page or two has no more of them. */
const CONNECTION_BYTES = 1000;
const PAGE_BYTES = 10_000;

/** A task as a crawl begins it; the limit is undefined where servers alone hold it up, and then the rate stays. */
export function asCrawled(
  task: PlanTask,
  limitBps: number | undefined,
  settings: Pick<Settings, "packetOverhead" | "startupMs" | "concurrencyPerSite">,
): PlanTask {
  const { startupMs } = settings;
  const rateBps = limitBps === undefined ? task.rateBps : payloadBps(limitBps, task, settings);
  const beginSeconds = BEGIN_SECONDS + (ROBOTS_BYTES * task.sites.length) / rateBps;
  return { ...task, rateBps, startupSeconds: startupMs / 1000 + beginSeconds };
}

function payloadBps(
  limitBps: number,
  { sites }: PlanTask,
  { packetOverhead, concurrencyPerSite }: Pick<Settings, "packetOverhead" | "concurrencyPerSite">,
): number {
  if (packetOverhead !== "auto") return (limitBps * AIM_SHARE) / (1 + packetOverhead);
  let pageBytes = 0;
  let connections = 0;
  for (const { bytes } of sites) {
    pageBytes += bytes;
    connections += Math.min(concurrencyPerSite, Math.ceil(bytes / PAGE_BYTES));
  }
  const overhead =
    KEPT_SHARE * overheadFor(windowFor(limitBps)) + (CONNECTION_BYTES * connections) / pageBytes;
  return (limitBps * AIM_SHARE) / (1 + overhead);
}
