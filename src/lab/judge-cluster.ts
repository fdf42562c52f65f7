/**
 * All checkers on a finished crawl of several machines.
 *
 * Two things are forgiven. A request that is under way when its node's licence ends goes on to its end, and
 * whoever asks next cannot know of it: it is not counted as crowding any more. And where a node is lost, or
 * taken for lost, others fetch again what it had: then nothing may be missing, but pages may come twice.
 */

import type { Violation } from "./checkers/violation.ts";
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
