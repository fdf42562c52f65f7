/** The paper's replication: the savings when all processes know the popular URLs and never send them. */

import type { Random } from "../../base/random.ts";
import type { GraphWeb } from "../graph-web.ts";
import {
  ExchangeCrawl,
  type ExchangeRules,
  PLAIN_RULES,
  popularIn,
} from "../parallel-exchange-sim.ts";
import { divide, drawSeedsInAll } from "../parallel-sim.ts";
import type { Experiment, Plot, Row } from "./experiment.ts";
import { curve, onEveryWeb, PAPER, SYNTHETIC, webParameters } from "./parallel-worlds.ts";

const PAGES = 200_000;
const PROCS = 64;
const SEEDS = 640;
const POPULAR = [0, 10, 100, 1_000, 10_000, 100_000];
/** URLs per page with 40 million pages, recalled from the paper. */
const PAPER_OVERHEAD: Readonly<Record<number, number>> = { 0: 0.86, 10_000: 0.52, 100_000: 0.43 };

export const parallelReplication: Experiment = {
  name: "parallel-replication",
  paper: `${PAPER}, Figure 8`,
  about:
    "URLs sent per page with 64 processes that all know the most popular URLs of an earlier crawl of the same web: at once and without memory, as in the paper; and each URL once per process, as in Weir. Also when popular URLs are found during the crawl with this number of counters per process; their announcements are counted.",
  parameters: { ...webParameters(PAGES), procs: PROCS, partition: "site-hash", seeds: SEEDS },
  run(options) {
    const rows = onEveryWeb(options, PAGES, rowsOf);
    return Promise.resolve({ rows: rows.map(withPaper), plots: [plotOf(rows.map(withPaper))] });
  },
};

function rowsOf(web: GraphWeb, random: Random): Row[] {
  const division = divide(web, "site-hash", PROCS);
  const seeds = drawSeedsInAll(random, division, SEEDS);
  const overhead = (rules: Partial<ExchangeRules>): number =>
    new ExchangeCrawl(web, division, { ...PLAIN_RULES, ...rules }).run(seeds).overhead;
  return POPULAR.filter((count) => count <= web.pageCount / 2).map((count) => {
    const popular = count === 0 ? undefined : popularIn(web, count);
    return {
      popular: count,
      shareOfPages: count / web.pageCount,
      atOnce: overhead({ popular }),
      oncePerProcess: overhead({ popular, remembers: "all" }),
      foundOnTheWay: overhead({ finders: count }),
    };
  });
}

function withPaper(row: Row): Row {
  const known = row["web"] === SYNTHETIC ? PAPER_OVERHEAD[Number(row["popular"])] : undefined;
  return { ...row, paper: known ?? null };
}

/** On a logarithmic axis of the number of replicated URLs. */
function plotOf(all: readonly Row[]): Plot {
  const rows = all
    .filter((row) => row["web"] === SYNTHETIC && row["popular"] !== 0)
    .map((row) => Object.assign({ power: Math.log10(Number(row["popular"])) }, row));
  const paper = Object.entries(PAPER_OVERHEAD)
    .filter(([count]) => count !== "0")
    .map(([count, overhead]) => [Math.log10(Number(count)), overhead] as const);
  return {
    name: "parallel-replication",
    title: "URLs sent per page by the number of replicated URLs, 64 processes (Figure 8)",
    x: { label: "replicated URLs, as a power of ten", unit: "" },
    y: { label: "URLs per page", unit: "" },
    lines: [
      curve("at once", rows, ["power", "atOnce"]),
      curve("each once per process", rows, ["power", "oncePerProcess"]),
      curve("found on the way", rows, ["power", "foundOnTheWay"]),
      { name: "the paper", kind: "dotted", points: paper },
    ],
  };
}
