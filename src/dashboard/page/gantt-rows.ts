/** The rows of the running plan's chart: all times count from the start; needs no document. */

import { byFinish, type PlanRow } from "../../report/plan-rows.ts";
import type { Look } from "../shapes.ts";

export interface GanttRow extends PlanRow {
  /** When its last URL was settled; undefined while some are waiting. */
  readonly doneSeconds: number | undefined;
  /** Its mean rate so far. */
  readonly pastBps: number;
  /** Share of its known URLs that have ended. */
  readonly shareDone: number;
}

export function ganttRows({ snapshot }: Look): GanttRow[] {
  const { sites, elapsedMs, plan } = snapshot;
  const plannedAtMs = elapsedMs - (plan?.madeAgoMs ?? 0);
  const earlierMs = earlierRunsMs(snapshot.sites, plannedAtMs);
  const rows = sites.flatMap((site): GanttRow[] => {
    const { forecast, finishedMs, deadlineMs, known, pending, bytes } = site;
    const isDone = pending === 0;
    if (forecast === undefined && finishedMs === undefined) return [];
    const doneSeconds =
      isDone && finishedMs !== undefined ? (finishedMs - earlierMs) / 1000 : undefined;
    const startSeconds = plannedAtMs / 1000;
    const deadlineSeconds = deadlineMs === undefined ? undefined : (deadlineMs - earlierMs) / 1000;
    return [
      {
        name: site.site,
        segments: (forecast?.segments ?? []).map(({ fromSeconds, toSeconds, rateBps }) => ({
          fromSeconds: startSeconds + fromSeconds,
          toSeconds: startSeconds + toSeconds,
          rateBps,
        })),
        finishSeconds: doneSeconds ?? startSeconds + (forecast?.finishInMs ?? 0) / 1000,
        deadlineSeconds,
        isLate:
          doneSeconds === undefined
            ? forecast?.isLate === true
            : deadlineSeconds !== undefined && doneSeconds > deadlineSeconds,
        band: undefined,
        doneSeconds,
        pastBps: bytes / Math.max(1, doneSeconds ?? startSeconds),
        shareDone: known === 0 ? 0 : (known - pending) / known,
      },
    ];
  });
  return byFinish(rows) as GanttRow[];
}

/** Deadlines count from the first start; this run may have started later. */
function earlierRunsMs(sites: Look["snapshot"]["sites"], plannedAtMs: number): number {
  for (const { deadlineMs, forecast } of sites)
    if (deadlineMs !== undefined && forecast?.deadlineInMs !== undefined)
      return Math.max(0, deadlineMs - (plannedAtMs + forecast.deadlineInMs));
  return 0;
}
