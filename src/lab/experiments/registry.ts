/** All experiments, in the order of the papers. */

import { allocationBatches } from "./allocation-batches.ts";
import { allocationFit } from "./allocation-fit.ts";
import { allocationBandwidth, allocationRigour, allocationSize } from "./allocation-six.ts";
import { bandwidthControl } from "./bandwidth-control.ts";
import { bandwidthDepth } from "./bandwidth-depth.ts";
import { bandwidthPrediction } from "./bandwidth-prediction.ts";
import type { Experiment } from "./experiment.ts";
import { parallelCrossover } from "./parallel-crossover.ts";
import { parallelExchange } from "./parallel-exchange.ts";
import { parallelFirewall } from "./parallel-firewall.ts";
import { parallelPartition } from "./parallel-partition.ts";
import { parallelQuality } from "./parallel-quality.ts";
import { parallelReplication } from "./parallel-replication.ts";
import { topicsAccuracy } from "./topics-accuracy.ts";
import { topicsCrawlLocality } from "./topics-crawl-locality.ts";
import { topicsDistribution } from "./topics-distribution.ts";
import { topicsLocality } from "./topics-locality.ts";
import { topicsFocus } from "./topics-focus.ts";
import { topicsOverlap } from "./topics-overlap.ts";
import { topicsRank } from "./topics-rank.ts";
import { topicsSpeed } from "./topics-speed.ts";

/**
 * All experiments of `weir lab`, in the order of the papers.
 *
 * @example
 * import { EXPERIMENTS } from "weir/lab";
 *
 * for (const { name, paper, about } of EXPERIMENTS) console.log(`${name}: ${about} (${paper})`);
 */
export const EXPERIMENTS: readonly Experiment[] = [
  bandwidthPrediction,
  bandwidthDepth,
  bandwidthControl,
  allocationFit,
  allocationBandwidth,
  allocationSize,
  allocationRigour,
  allocationBatches,
  parallelFirewall,
  parallelCrossover,
  parallelExchange,
  parallelReplication,
  parallelQuality,
  parallelPartition,
  topicsAccuracy,
  topicsLocality,
  topicsSpeed,
  topicsDistribution,
  topicsCrawlLocality,
  topicsOverlap,
  topicsRank,
  topicsFocus,
];
