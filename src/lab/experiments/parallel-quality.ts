/** The paper's quality: the number of link exchanges that processes need to find the best pages. */

import type { Counted, GraphWeb } from "../graph-web.ts";
import { crawlForQuality, importanceIn } from "../parallel-quality-sim.ts";
import { divide } from "../parallel-sim.ts";
import type { Experiment, Plot, Row } from "./experiment.ts";
import {
  curve,
  type DrawSeeds,
  onEveryWeb,
  PAPER,
  pivoted,
  sameSeeds,
  SYNTHETIC,
  webParameters,
} from "./parallel-worlds.ts";

const PAGES = 100_000;
const PROCS = [1, 4, 16, 64];
const SEEDS = 320;
const EXCHANGES = [0, 1, 3, 7, 15, 31, 63, 127];
/** Percentages of the web: the paper's 0.5, 2 and 8 of 40 million pages. */
const PERCENTS = [1.25, 5, 20];
const PERCENTS_OF = { "between sites": PERCENTS, all: [5] } as const;
const COUNTED: readonly Counted[] = ["between sites", "all"];

const byExchanges = (row: Row): string => `${row["exchanges"]} exchanges`;

export const parallelQuality: Experiment = {
  name: "parallel-quality",
  paper: `${PAPER}, Figures 9 to 11`,
  about:
    "Each process fetches its page with the most known links first, and all processes exchange links a number of times in a crawl that ends after a share of the web. Share of the best pages that is fetched, and URLs with counts sent per page. Pages are ranked by links from other sites; and, as in the paper, by all links.",
  parameters: { ...webParameters(PAGES), partition: "site-hash", seeds: SEEDS },
  run(options) {
    const rows = onEveryWeb(options, PAGES, (web, random) => {
      const draw = sameSeeds(random, SEEDS);
      return COUNTED.flatMap((counted) => rowsOf(web, counted, draw));
    });
    const keys = ["web", "counted", "percentOfWeb", "procs"];
    return Promise.resolve({
      rows: pivoted(rows, keys, [byExchanges, "quality"]),
      plots: [
        ...PERCENTS.map((percent) => plotOf(rows, percent, "quality")),
        plotOf(rows, 5, "overhead"),
      ],
    });
  },
};

function rowsOf(web: GraphWeb, counted: Counted, draw: DrawSeeds): Row[] {
  const importance = importanceIn(web, counted);
  return PROCS.flatMap((procs) => {
    const division = divide(web, "site-hash", procs);
    const seeds = draw(division);
    // A single process has no exchanges.
    const times = procs === 1 ? [0] : EXCHANGES;
    return PERCENTS_OF[counted].flatMap((percentOfWeb) =>
      times.map((exchanges) => {
        const pages = Math.round((percentOfWeb / 100) * web.pageCount);
        const found = crawlForQuality(web, division, seeds, { pages, exchanges, importance });
        const { quality, overhead } = found;
        return { counted, percentOfWeb, procs, exchanges, quality, overhead };
      }),
    );
  });
}

function plotOf(all: readonly Row[], percent: number, figure: "quality" | "overhead"): Plot {
  const rows = all.filter(
    (row) =>
      row["web"] === SYNTHETIC &&
      row["counted"] === "between sites" &&
      row["percentOfWeb"] === percent,
  );
  const single = rows.find(({ procs }) => procs === 1)?.[figure];
  const last = EXCHANGES.at(-1) as number;
  return {
    name: `parallel-quality-${figure}-${percent}`,
    title: `${figure === "quality" ? "Quality" : "Overhead"} by exchanges, ${percent} % of the web (Figures 9 to 11)`,
    x: { label: "exchanges", unit: "" },
    y: { label: figure === "quality" ? "quality" : "URLs per page", unit: "" },
    lines: [
      ...PROCS.filter((procs) => procs > 1).map((procs) =>
        curve(
          `${procs} processes`,
          rows.filter((row) => row["procs"] === procs),
          ["exchanges", figure],
        ),
      ),
      ...(typeof single === "number" && figure === "quality"
        ? [
            {
              name: "one process",
              kind: "limit",
              points: [
                [0, single],
                [last, single],
              ],
            } as const,
          ]
        : []),
    ],
  };
}
