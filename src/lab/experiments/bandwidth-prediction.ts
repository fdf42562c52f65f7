/** Figure 1 of the paper on bounded bandwidth: the predicted and the measured rate. */

import { secondsOf } from "../sim-wire.ts";
import {
  type Contest,
  crawlBounded,
  LIMIT_BPS,
  LIMIT_LINE,
  LINE_PARAMETERS,
  PAPER,
  RATE,
  shown,
  TIME,
} from "./bounded-line.ts";
import { type Experiment, inEveryWorld, meanOf, type Row, rounded } from "./experiment.ts";
import type { QueueReport } from "./queue-crawl.ts";
import { rateFigures } from "./rate-figures.ts";

const CONTEST: Contest = { servers: "far", queue: "urls", control: "predict", maxD: 6 };

export const bandwidthPrediction: Experiment = {
  name: "bandwidth-prediction",
  paper: `${PAPER}, Figure 1`,
  about:
    "The paper's control of a limit, `predict`: the measured and the predicted rate, CB, of each second. According to the paper they are close, and the prediction stays below the limit.",
  parameters: { ...LINE_PARAMETERS, ...CONTEST },
  async run(options) {
    const reports = await inEveryWorld(options, (seed) => crawlBounded(seed, CONTEST));
    const rows = reports.map((report, run) => rowOf(options.seed + run, report));
    const [first] = reports;
    const lines =
      first === undefined
        ? []
        : [
            shown("measured", "solid", secondsOf(first.tenths)),
            shown("predicted", "dotted", first.predictedBps),
            LIMIT_LINE,
          ];
    const title = "Measured and predicted bandwidth (Figure 1)";
    return { rows, plots: [{ name: "bandwidth-prediction", title, x: TIME, y: RATE, lines }] };
  },
};

function rowOf(seed: number, { tenths, predictedBps }: QueueReport): Row {
  const measuredBps = secondsOf(tenths);
  const { meanBps, fill, worst } = rateFigures(tenths, LIMIT_BPS);
  const apart = measuredBps.map((bps, second) => Math.abs(bps - (predictedBps[second] ?? 0)));
  const aboveLimit = predictedBps.filter((bps) => bps > LIMIT_BPS * (1 + 1e-9)).length;
  return {
    seed,
    measuredBps: Math.round(meanBps),
    predictedBps: Math.round(meanOf(predictedBps)),
    meanApartBps: Math.round(meanOf(apart)),
    fill: rounded(fill, 3),
    worstSecond: rounded(worst, 3),
    predictedAboveLimit: rounded(aboveLimit / predictedBps.length, 3),
  };
}
