/** Deadlines of a crawl that has ended: met, missed, or still open because it was stopped before. */

import type { SiteView, Snapshot } from "../control/snapshot.ts";

/** Whether the site is not done and its deadline has not passed. */
export function isOpen(
  { deadlineMs, finishedMs, forecast }: SiteView,
  { elapsedMs }: Pick<Snapshot, "elapsedMs">,
): boolean {
  if (deadlineMs === undefined || finishedMs !== undefined) return false;
  return (forecast?.deadlineInMs ?? deadlineMs - elapsedMs) > 0;
}

/** Open deadlines are neither met nor missed, so they are counted apart. */
export function standingWords(counts: {
  readonly met: number;
  readonly missed: number;
  readonly open: number;
}): string {
  const { met, missed, open } = counts;
  const judged = met + missed;
  const parts = [
    judged === 0 ? "" : `${met} of ${judged} ${judged === 1 ? "deadline" : "deadlines"} met`,
    open === 0 ? "" : `${open} ${open === 1 ? "deadline" : "deadlines"} still open`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}
