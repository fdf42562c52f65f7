/** What several processes cost and brought, in a line for people. */

import type { ParallelMetrics } from "../results/parallel-metrics.ts";
import { plural, showCount } from "./amounts.ts";

export function parallelLine(metrics: ParallelMetrics): string {
  const { procs, urlsExchanged, coverage, quality } = metrics;
  const parts = [
    `${plural(metrics.downloaded, "page")} fetched, ${showCount(metrics.unique)} different, overlap ${share(metrics.overlap)}`,
    `${showCount(urlsExchanged)} URLs sent, ${share(metrics.communicationOverhead)} for each page`,
  ];
  if (coverage !== undefined)
    parts.push(
      quality === undefined
        ? `coverage ${share(coverage)}, estimated from a sample`
        : `coverage ${share(coverage)}, quality ${share(quality)}`,
    );
  return `${procs === 1 ? "1 process" : `${showCount(procs)} processes`}: ${parts.join("; ")}`;
}

function share(number: number): string {
  return number.toFixed(3);
}
