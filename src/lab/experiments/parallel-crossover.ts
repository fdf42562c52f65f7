/** The paper's cross-over mode: how often are pages downloaded in vain before the web is covered? */

import type { Random } from "../../base/random.ts";
import type { GraphWeb } from "../graph-web.ts";
import { type CrossedPoint, crawlCrossing, divide, drawSeedsEach } from "../parallel-sim.ts";
import type { Experiment, Plot, Row } from "./experiment.ts";
import {
  curve,
  dash,
  onEveryWeb,
  PAPER,
  pivoted,
  SYNTHETIC,
  webParameters,
} from "./parallel-worlds.ts";

const PAGES = 100_000;
const PROCS = [2, 4, 8, 16, 32, 64];
const SEEDS_EACH = 5;
const OVERLAP_MAX = 5;
const COVERAGES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98];
/** As remembered: near full coverage, with 4 processes. */
const PAPER_POINT = { procs: 4, coverage: 0.98, overlap: 2.5 };

export const parallelCrossover: Experiment = {
  name: "parallel-crossover",
  paper: `${PAPER}, Figure 6`,
  about:
    "A process with nothing of its own left follows links to others' sites. How many downloads repeat pages of other processes, per different page, when so much of the web has been got? Empty where that much is never got.",
  parameters: {
    ...webParameters(PAGES),
    partition: "site-hash",
    seedsEach: SEEDS_EACH,
    overlapMax: OVERLAP_MAX,
  },
  run(options) {
    const rows = onEveryWeb(options, PAGES, (web, random) =>
      PROCS.flatMap((procs) => rowsOf(web, procs, random)),
    );
    const byCoverage = [(row: Row) => `at ${row["coverage"]}`, "overlap"] as const;
    const table = pivoted(rows, ["web", "procs"], byCoverage);
    return Promise.resolve({ rows: table.map(withPaper), plots: [plotOf(rows)] });
  },
};

function rowsOf(web: GraphWeb, procs: number, random: Random): Row[] {
  const division = divide(web, "site-hash", procs);
  const seeds = drawSeedsEach(random, division, SEEDS_EACH);
  const watch = { every: 0.01, overlapMax: OVERLAP_MAX };
  const points = crawlCrossing(web, division, seeds, watch);
  return COVERAGES.map((wanted) => ({
    procs,
    coverage: wanted,
    overlap: overlapAt(points, wanted),
  }));
}

function overlapAt(points: readonly CrossedPoint[], wanted: number): number | null {
  return points.find((point) => point.coverage >= wanted)?.overlap ?? null;
}

function withPaper(row: Row): Row {
  const isPaper = row["web"] === SYNTHETIC && row["procs"] === PAPER_POINT.procs;
  return { ...row, [`paper, at ${PAPER_POINT.coverage}`]: isPaper ? PAPER_POINT.overlap : null };
}

function plotOf(rows: readonly Row[]): Plot {
  const made = rows.filter(({ web }) => web === SYNTHETIC);
  return {
    name: "parallel-crossover",
    title: "Cross-over: overlap when so much is got, synthetic web (Figure 6)",
    x: { label: "coverage", unit: "" },
    y: { label: "overlap", unit: "" },
    lines: [
      ...PROCS.map((procs) =>
        curve(
          `${procs} processes`,
          made.filter((row) => row["procs"] === procs),
          ["coverage", "overlap"],
        ),
      ),
      dash("the paper, 4 processes", [PAPER_POINT.coverage, PAPER_POINT.overlap], 0.02),
    ],
  };
}
