/**
 * Figure 3 of the paper on bounded bandwidth: control by prediction, control by the rate of the last
 * second (on-off), and Weir's own control.
 */

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
import {
  type Experiment,
  inEveryWorld,
  meanOf,
  type Plot,
  type Row,
  rounded,
} from "./experiment.ts";
import type { QueueReport } from "./queue-crawl.ts";
import { overWorlds, rateFigures } from "./rate-figures.ts";

const SAME = { servers: "far", maxD: 6 } as const;
const CONTROLS: readonly Contest["control"][] = ["onoff", "predict", "paced"];
const QUEUES: readonly Contest["queue"][] = ["urls", "sites"];
const CONTESTS = QUEUES.flatMap((queue) =>
  CONTROLS.map((control): Contest => Object.assign({ queue, control }, SAME)),
);

export const bandwidthControl: Experiment = {
  name: "bandwidth-control",
  paper: `${PAPER}, Figure 3`,
  about:
    "Three controls of a limit on the same work: `onoff` starts a download below the limit and stops one above it, `predict` is the paper's, `paced` is Weir's own; with the paper's queue of URLs and with Weir's queue of sites.",
  parameters: { ...LINE_PARAMETERS, ...SAME },
  async run(options) {
    const rows: Row[] = [];
    const plots: Plot[] = [];
    for (const contest of CONTESTS) {
      const reports = await inEveryWorld(options, (seed) => crawlBounded(seed, contest));
      rows.push(rowOf(contest, reports));
      plots.push(plotOf(contest, reports[0]?.tenths ?? []));
    }
    return { rows, plots };
  },
};

function rowOf({ queue, control }: Contest, reports: readonly QueueReport[]): Row {
  const figures = overWorlds(reports.map(({ tenths }) => rateFigures(tenths, LIMIT_BPS)));
  return {
    queue,
    control,
    meanBps: Math.round(figures.meanBps),
    fill: rounded(figures.fill, 3),
    deviation: rounded(figures.deviation, 3),
    worstSecond: rounded(figures.worst, 3),
    secondsAbove: rounded(figures.above, 3),
    secondsAbove105: rounded(figures.above105, 3),
    rankInversion: rounded(meanOf(reports.map(({ rankInversion }) => rankInversion)), 2),
  };
}

function plotOf({ queue, control }: Contest, tenths: readonly number[]): Plot {
  const lines = [shown(control, "solid", secondsOf(tenths)), LIMIT_LINE];
  const title = `Measured bandwidth: ${control}, a queue of ${queue} (Figure 3)`;
  return { name: `bandwidth-control-${control}-${queue}`, title, x: TIME, y: RATE, lines };
}
