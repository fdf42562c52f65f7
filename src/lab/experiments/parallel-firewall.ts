/** The paper's firewall mode: the coverage of processes that do not exchange links. */

import { below, type Random } from "../../base/random.ts";
import { coverage } from "../../partition/metrics.ts";
import { type GraphWeb, partOf, siteNumbers } from "../graph-web.ts";
import { crawlFirewalled, divide, drawSeedsEach, drawSeedsInAll } from "../parallel-sim.ts";
import type { Experiment, Plot, Row } from "./experiment.ts";
import {
  curve,
  onEveryWeb,
  PAPER,
  PROCESSES,
  SYNTHETIC,
  webParameters,
} from "./parallel-worlds.ts";

const PAGES = 200_000;
const PROCS = [1, 2, 4, 8, 16, 32, 64];
const SEEDS_EACH = 5;
const SEEDS_IN_ALL = [64, 256, 1024, 4096, 16_384];
const PROCS_BY_SEEDS = [2, 8, 32, 64];
/** Coverages recalled from the paper: 0.9, at least 0.8, and below 0.1. */
const PAPER_COVERAGE: Readonly<Record<number, number>> = { 1: 0.9, 4: 0.8, 64: 0.1 };

export const parallelFirewall: Experiment = {
  name: "parallel-firewall",
  paper: `${PAPER}, Figures 4 and 5`,
  about:
    "Links to other processes' sites are dropped. Coverage by the number of processes with five seeds each, on the whole web and on a random half of its sites; and coverage by the total number of seeds.",
  parameters: { ...webParameters(PAGES), partition: "site-hash", seedsEach: SEEDS_EACH },
  run(options) {
    const rows = onEveryWeb(options, PAGES, (web, random) => [
      ...byProcesses(web, random),
      ...(web.name.startsWith(SYNTHETIC) ? bySeeds(web, random) : []),
    ]);
    return Promise.resolve({
      rows: rows.map(withPaper),
      plots: [processesPlot(rows), seedsPlot(rows)],
    });
  },
};

function byProcesses(web: GraphWeb, random: Random): Row[] {
  const half = halfOf(web, random);
  return PROCS.map((procs) => ({
    vary: "processes",
    procs,
    seeds: procs * SEEDS_EACH,
    coverage: coverageWithEach(web, procs, random),
    coverageOfHalf: coverageWithEach(half, procs, random),
  }));
}

function coverageWithEach(web: GraphWeb, procs: number, random: Random): number {
  const division = divide(web, "site-hash", procs);
  const seeds = drawSeedsEach(random, division, SEEDS_EACH);
  return coverage(crawlFirewalled(web, division, seeds), web.pageCount);
}

function bySeeds(web: GraphWeb, random: Random): Row[] {
  return PROCS_BY_SEEDS.flatMap((procs) => {
    const division = divide(web, "site-hash", procs);
    return SEEDS_IN_ALL.map((seeds) => {
      const drawn = drawSeedsInAll(random, division, seeds);
      const pages = crawlFirewalled(web, division, drawn);
      return { vary: "seeds", procs, seeds, coverage: coverage(pages, web.pageCount) };
    });
  });
}

/** A random half of the sites: the web before it doubled, if it grows by new sites. */
function halfOf(web: GraphWeb, random: Random): GraphWeb {
  const sites = siteNumbers(web);
  const isKept = new Map<number, boolean>();
  return partOf(web, `half of ${web.name}`, (page) => {
    const site = sites[page] as number;
    const kept = isKept.get(site) ?? below(random, 2) === 0;
    isKept.set(site, kept);
    return kept;
  });
}

function withPaper(row: Row): Row {
  const isFirst = row["vary"] === "processes" && row["web"] === SYNTHETIC;
  return { ...row, paper: (isFirst ? PAPER_COVERAGE[Number(row["procs"])] : undefined) ?? null };
}

function processesPlot(all: readonly Row[]): Plot {
  const rows = all.filter(({ vary }) => vary === "processes");
  const webs = [...new Set(rows.map(({ web }) => String(web)))];
  const made = rows.filter(({ web }) => web === SYNTHETIC);
  return {
    name: "parallel-firewall-processes",
    title: "Firewall: coverage by processes, five seeds each (Figure 4)",
    x: PROCESSES,
    y: { label: "coverage", unit: "" },
    lines: [
      ...webs.map((name) =>
        curve(
          name,
          rows.filter(({ web }) => web === name),
          ["procs", "coverage"],
        ),
      ),
      curve("half of the synthetic web", made, ["procs", "coverageOfHalf"], "dotted"),
      curve("the paper", made.map(withPaper), ["procs", "paper"], "dotted"),
    ],
  };
}

function seedsPlot(all: readonly Row[]): Plot {
  const rows = all.filter(({ vary, web }) => vary === "seeds" && web === SYNTHETIC);
  return {
    name: "parallel-firewall-seeds",
    title: "Firewall: coverage by total seeds, synthetic web (Figure 5)",
    x: { label: "seeds", unit: "" },
    y: { label: "coverage", unit: "" },
    lines: PROCS_BY_SEEDS.map((procs) =>
      curve(
        `${procs} processes`,
        rows.filter((row) => row["procs"] === procs),
        ["seeds", "coverage"],
      ),
    ),
  };
}
