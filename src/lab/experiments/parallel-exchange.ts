/** The paper's exchange mode: the number of URLs sent between processes, and ways to reduce it. */

import type { PartitionKind } from "../../partition/partition.ts";
import type { GraphWeb } from "../graph-web.ts";
import {
  ExchangeCrawl,
  type Exchanged,
  type ExchangeRules,
  PLAIN_RULES,
} from "../parallel-exchange-sim.ts";
import { divide } from "../parallel-sim.ts";
import type { Experiment, Plot, Row } from "./experiment.ts";
import {
  curve,
  dash,
  type DrawSeeds,
  onEveryWeb,
  PAPER,
  PROCESSES,
  sameSeeds,
  SYNTHETIC,
  webParameters,
} from "./parallel-worlds.ts";

const PAGES = 100_000;
/** Partition by URL is slow, and three points show its curve. */
const PROCS = { "site-hash": [2, 4, 8, 16, 32, 64], "url-hash": [2, 16, 64] } as const;
const SEEDS = 640;
const BATCH_PAGES = 100;
const KINDS = ["site-hash", "url-hash"] as const;
/** URLs per page, recalled from the paper. */
const PAPER_OVERHEAD = {
  "site-hash": { 2: 0.4, 16: 0.8, 64: 0.86 },
  "url-hash": { 2: 5 },
} as const;

export const parallelExchange: Experiment = {
  name: "parallel-exchange",
  paper: `${PAPER}, Figure 7`,
  about:
    "URLs sent to other processes per page downloaded: at once and without memory, as in the paper; in batches of 100 pages with repeats merged; and each URL once per process, as in Weir, which stores the URLs it has sent.",
  parameters: { ...webParameters(PAGES), seeds: SEEDS, batchPages: BATCH_PAGES },
  run(options) {
    const rows = onEveryWeb(options, PAGES, (web, random) => {
      const draw = sameSeeds(random, SEEDS);
      return KINDS.flatMap((kind) => PROCS[kind].map((procs) => rowOf(web, kind, procs, draw)));
    });
    return Promise.resolve({
      rows: rows.map(withPaper),
      plots: [sitePlot(rows.map(withPaper)), urlPlot(rows.map(withPaper))],
    });
  },
};

function rowOf(web: GraphWeb, kind: PartitionKind, procs: number, draw: DrawSeeds): Row {
  const division = divide(web, kind, procs);
  const seeds = draw(division);
  const crawl = (rules: Partial<ExchangeRules>): Exchanged =>
    new ExchangeCrawl(web, division, { ...PLAIN_RULES, ...rules }).run(seeds);
  const plain = crawl({});
  return {
    partition: kind,
    procs,
    atOnce: plain.overhead,
    batched: crawl({ batchPages: BATCH_PAGES }).overhead,
    oncePerProcess: crawl({ batchPages: BATCH_PAGES, remembers: "all" }).overhead,
    coverage: plain.coverage,
    overlap: plain.overlap,
    urlBytesPerPage: plain.urlBytesPerPage,
  };
}

function withPaper(row: Row): Row {
  const ofKind: Readonly<Record<number, number>> =
    PAPER_OVERHEAD[row["partition"] === "url-hash" ? "url-hash" : "site-hash"];
  const known = ofKind[Number(row["procs"])];
  return { ...row, paper: (row["web"] === SYNTHETIC ? known : undefined) ?? null };
}

function sitePlot(all: readonly Row[]): Plot {
  const rows = all.filter((row) => row["partition"] === "site-hash" && row["web"] === SYNTHETIC);
  return {
    name: "parallel-exchange-site",
    title: "Exchange by site: URLs sent per page, synthetic web (Figure 7)",
    x: PROCESSES,
    y: { label: "URLs per page", unit: "" },
    lines: [
      curve("at once", rows, ["procs", "atOnce"]),
      curve("batches of 100 pages", rows, ["procs", "batched"]),
      curve("each once per process", rows, ["procs", "oncePerProcess"]),
      curve("the paper, at once", rows, ["procs", "paper"], "dotted"),
    ],
  };
}

function urlPlot(all: readonly Row[]): Plot {
  const rows = all.filter(({ web }) => web === SYNTHETIC);
  const of = (kind: PartitionKind): Row[] => rows.filter(({ partition }) => partition === kind);
  return {
    name: "parallel-exchange-url",
    title: "Exchange by site and by URL, synthetic web (Figure 7)",
    x: PROCESSES,
    y: { label: "URLs per page", unit: "" },
    lines: [
      curve("url-hash, at once", of("url-hash"), ["procs", "atOnce"]),
      curve("url-hash, each once per process", of("url-hash"), ["procs", "oncePerProcess"]),
      curve("site-hash, at once", of("site-hash"), ["procs", "atOnce"]),
      dash("the paper, url-hash at 2", [2, PAPER_OVERHEAD["url-hash"][2]], 1),
    ],
  };
}
