/** Figure 2 of the paper on bounded bandwidth: the effect of the search depth in the queue. */

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
  type Line,
  meanOf,
  type Plot,
  type Row,
  rounded,
} from "./experiment.ts";
import type { QueueReport } from "./queue-crawl.ts";
import { overWorlds, rateFigures } from "./rate-figures.ts";

const SAME = { queue: "urls", control: "predict" } as const;
const DEPTHS = [1, 2, 6, 20];
const SERVERS: readonly Contest["servers"][] = ["far", "near"];
const CONTESTS = SERVERS.flatMap((servers) =>
  DEPTHS.map((maxD): Contest => Object.assign({ servers, maxD }, SAME)),
);
/** Rates measured in the paper by max_d, in bytes per second. */
const PAPER_BPS: Readonly<Record<number, number>> = { 2: 64_562, 6: 71_788 };

interface Found {
  readonly contest: Contest;
  readonly reports: readonly QueueReport[];
}

export const bandwidthDepth: Experiment = {
  name: "bandwidth-depth",
  paper: `${PAPER}, Figure 2`,
  about:
    "The paper's control of a limit with several search depths, max_d: the mean rate, and the deviation of the order of requests from the queue's (mean number of better URLs overtaken).",
  parameters: { ...LINE_PARAMETERS, ...SAME },
  async run(options) {
    const found: Found[] = [];
    for (const contest of CONTESTS) {
      const reports = await inEveryWorld(options, (seed) => crawlBounded(seed, contest));
      found.push({ contest, reports });
    }
    return { rows: found.map(rowOf), plots: [overTime(found), byDepth(found)] };
  },
};

function rowOf({ contest, reports }: Found): Row {
  const { meanBps, fill, worst } = figuresOf(reports);
  const paperBps = PAPER_BPS[contest.maxD] ?? null;
  return {
    servers: contest.servers,
    maxD: contest.maxD,
    meanBps: Math.round(meanBps),
    fill: rounded(fill, 3),
    worstSecond: rounded(worst, 3),
    rankInversion: rounded(inversionOf(reports), 2),
    paperBps,
    paperFill: paperBps === null ? null : rounded(paperBps / LIMIT_BPS, 3),
  };
}

function figuresOf(reports: readonly QueueReport[]): ReturnType<typeof rateFigures> {
  return overWorlds(reports.map(({ tenths }) => rateFigures(tenths, LIMIT_BPS)));
}

function inversionOf(reports: readonly QueueReport[]): number {
  return meanOf(reports.map(({ rankInversion }) => rankInversion));
}

/** The paper's figure: the same queue with both depths. */
function overTime(found: readonly Found[]): Plot {
  const lines = found
    .filter(({ contest }) => contest.servers === "near" && PAPER_BPS[contest.maxD] !== undefined)
    .toReversed()
    .map(({ contest: { maxD }, reports }) => {
      const bps = secondsOf(reports[0]?.tenths ?? []);
      return shown(`max_d = ${maxD}`, maxD === 6 ? "solid" : "dotted", bps);
    });
  const title = "Measured bandwidth by depth of search, near servers (Figure 2)";
  return { name: "bandwidth-depth", title, x: TIME, y: RATE, lines: [...lines, LIMIT_LINE] };
}

function byDepth(found: readonly Found[]): Plot {
  const paper = Object.entries(PAPER_BPS).map(
    ([depth, bps]) => [Number(depth), (100 * bps) / LIMIT_BPS] as const,
  );
  const lines = SERVERS.map((servers): Line => {
    const points = found
      .filter(({ contest }) => contest.servers === servers)
      .map(({ contest, reports }) => [contest.maxD, 100 * figuresOf(reports).fill] as const);
    return { name: `${servers} servers`, kind: "solid", points };
  });
  return {
    name: "bandwidth-depth-fill",
    title: "Share of the limit by search depth",
    x: { label: "max_d", unit: "" },
    y: { label: "share of the limit", unit: "%" },
    lines: [...lines, { name: "the paper", kind: "dotted", points: paper }],
  };
}
