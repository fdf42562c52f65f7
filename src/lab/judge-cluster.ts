/**
 * Runs all checkers on a finished crawl of several machines, with two exceptions.
 *
 * A request that is open when its node's licence ends continues, and the next owner cannot know of it;
 * it counts towards concurrency only until the end of the licence. When a node is lost, or declared
 * lost, other nodes fetch its pages again; then no page may be missing, but pages may be repeated.
 */

import type { Violation } from "./violation.ts";
import { judgeTeam } from "./judge-team.ts";
import type { RequestEntry } from "./request-log.ts";
import type { ClusterReport } from "./run-cluster.ts";

const REPEATS: ReadonlySet<string> = new Set(["fetched-twice", "stored-twice", "too-many-repeats"]);

export function judgeCluster(report: ClusterReport): Violation[] {
  const log = report.log.map((entry) => endedByLapse(entry, report.lapses));
  const violations = judgeTeam({ ...report, log });
  return report.lost === 0 ? violations : violations.filter(({ rule }) => !REPEATS.has(rule));
}

function endedByLapse(entry: RequestEntry, lapses: ClusterReport["lapses"]): RequestEntry {
  const { by, startMs, endMs } = entry;
  const lapse = lapses.find(({ node, atMs }) => node === by && atMs >= startMs && atMs < endMs);
  return lapse === undefined ? entry : { ...entry, endMs: lapse.atMs };
}
