/** Which way of dividing the web is even, keeps links together, and moves little when a process joins? */

import { assignGroups, reassign } from "../../partition/assignment.ts";
import { coverage } from "../../partition/metrics.ts";
import {
  BUCKETS_DEFAULT,
  partitionFor,
  type PartitionKind,
  type PartitionRule,
} from "../../partition/partition.ts";
import type { GraphWeb } from "../graph-web.ts";
import { ExchangeCrawl, PLAIN_RULES } from "../parallel-exchange-sim.ts";
import { crawlFirewalled, divide, type Division } from "../parallel-sim.ts";
import { ENDINGS } from "../synthetic-web.ts";
import type { Experiment, Plot, Row } from "./experiment.ts";
import {
  curve,
  type DrawSeeds,
  onEveryWeb,
  PAPER,
  PROCESSES,
  sameSeeds,
  SYNTHETIC,
  webParameters,
} from "./parallel-worlds.ts";

const PAGES = 100_000;
const PROCS = [4, 16, 64];
const SEEDS = 640;
const KINDS: readonly PartitionKind[] = ["url-hash", "site-hash", "hierarchical"];
/** A group for each ending of hosts in the synthetic web. */
const RULES = ENDINGS.map(([ending]): PartitionRule => ({
  match: { kind: "suffix", suffix: ending },
  group: ending,
}));

export const parallelPartition: Experiment = {
  name: "parallel-partition",
  paper: `${PAPER}, Section 3.3`,
  about:
    "The three partition functions: the largest process's pages against the mean; the share of links that lead to another process; URLs sent per page (at once); coverage in firewall mode; and the pages that move when one process joins, as a multiple of its share: newly assigned, adjusted, and with a plain remainder of the hash. Hierarchical is by the ending of the host.",
  parameters: { ...webParameters(PAGES), buckets: BUCKETS_DEFAULT, seeds: SEEDS },
  run(options) {
    const rows = onEveryWeb(options, PAGES, (web, random) => {
      const draw = sameSeeds(random, SEEDS);
      // The endings of one university's hosts are all the same.
      const kinds = web.name.startsWith(SYNTHETIC) ? KINDS : KINDS.slice(0, 2);
      return kinds.flatMap((kind) => PROCS.map((procs) => rowOf(web, kind, procs, draw)));
    });
    return Promise.resolve({ rows, plots: [plotOf(rows)] });
  },
};

function rowOf(web: GraphWeb, kind: PartitionKind, procs: number, draw: DrawSeeds): Row {
  const rules = kind === "hierarchical" ? RULES : [];
  const division = divide(web, kind, procs, rules);
  const seeds = draw(division);
  return {
    partition: kind,
    procs,
    largest: largestOf(division),
    linksAbroad: linksAbroad(web, division),
    urlsPerPage: new ExchangeCrawl(web, division, PLAIN_RULES).run(seeds).overhead,
    firewallCoverage: coverage(crawlFirewalled(web, division, seeds), web.pageCount),
    ...movedOnJoin(web, kind, procs, rules),
  };
}

function largestOf({ procs, owners }: Division): number {
  const pages = new Float64Array(procs);
  for (const owner of owners) pages[owner] = (pages[owner] as number) + 1;
  return Math.max(...pages) / (owners.length / procs);
}

function linksAbroad({ offsets, targets, pageCount }: GraphWeb, { owners }: Division): number {
  let abroad = 0;
  for (let page = 0; page < pageCount; page++) {
    const behind = offsets[page + 1] as number;
    for (let link = offsets[page] as number; link < behind; link++)
      if (owners[targets[link] as number] !== owners[page]) abroad += 1;
  }
  return abroad / targets.length;
}

function movedOnJoin(
  web: GraphWeb,
  kind: PartitionKind,
  procs: number,
  rules: readonly PartitionRule[],
): Row {
  const partition = partitionFor(kind, { bucketCount: BUCKETS_DEFAULT, rules });
  const workers = Array.from({ length: procs + 1 }, (_, proc) => ({ name: `p${proc}`, weight: 1 }));
  const before = assignGroups(partition, workers.slice(1));
  const buckets = web.urls.map((url) => partition.bucketOf(url));
  const moved = (isMoved: (bucket: number) => boolean): number =>
    (buckets.filter(isMoved).length / web.pageCount) * (procs + 1);
  const anew = assignGroups(partition, workers);
  const adjusted = reassign(before, workers, partition.groups);
  return {
    movedAnew: moved((bucket) => anew[bucket] !== before[bucket]),
    movedAdjusted: moved((bucket) => adjusted[bucket] !== before[bucket]),
    movedByRemainder:
      rules.length === 0 ? moved((bucket) => bucket % procs !== bucket % (procs + 1)) : null,
  };
}

function plotOf(all: readonly Row[]): Plot {
  const rows = all.filter(({ web }) => web === SYNTHETIC);
  return {
    name: "parallel-partition",
    title: "Share of links that lead to another process, synthetic web",
    x: PROCESSES,
    y: { label: "share of links", unit: "" },
    lines: KINDS.map((kind) =>
      curve(
        kind,
        rows.filter(({ partition }) => partition === kind),
        ["procs", "linksAbroad"],
      ),
    ),
  };
}
