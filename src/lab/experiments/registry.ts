/** Every experiment there is, by name, in the order of the papers. */

import { bandwidthControl } from "./bandwidth-control.ts";
import { bandwidthDepth } from "./bandwidth-depth.ts";
import { bandwidthPrediction } from "./bandwidth-prediction.ts";
import type { Experiment } from "./experiment.ts";

export const EXPERIMENTS: readonly Experiment[] = [
  bandwidthPrediction,
  bandwidthDepth,
  bandwidthControl,
];
