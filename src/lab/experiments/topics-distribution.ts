/** Figure 4 of the paper on topics: bytes that each process fetched itself, and that it received from others. */

import { type Experiment, meanOf, type Plot, type Row, rounded } from "./experiment.ts";
import { shortName, TOPICS_PAPER } from "./topics-accuracy.ts";
import {
  CRAWL_PARAMETERS,
  type CrawledWeb,
  crawledWebs,
  crawledWikipedia,
  type PartitionFigures,
  meanAt,
  WIKIPEDIA,
} from "./topics-crawled.ts";

type Kind = "byTopic" | "byHash";

export const topicsDistribution: Experiment = {
  name: "topics-distribution",
  paper: `${TOPICS_PAPER}, Figure 4`,
  about:
    "Sixteen processes crawl a web of sixteen topics, and own either topics or hashes of contents: bytes that each process fetched for itself, bytes that others fetched for it, and the share of all bytes that was handed over. Pages are generated and classified by the production classifier.",
  parameters: CRAWL_PARAMETERS,
  async run(options) {
    const webs = crawledWebs(options);
    const rows = rowsOf(webs);
    const articles = await crawledWikipedia(options);
    const real = articles.length === 0 ? [] : [allRow(WIKIPEDIA, articles, rowsOf(articles))];
    const plots = [plotOf(webs[0]?.topics ?? [], rows)];
    return { rows: [...rows, allRow("all", webs, rows), ...real], plots };
  },
};

function rowsOf(webs: readonly CrawledWeb[]): Row[] {
  return (webs[0]?.topics ?? []).map((topic, place): Row => ({
    process: topic,
    ownMB: megabytes(webs, "byTopic", "ownBytes", place),
    importedMB: megabytes(webs, "byTopic", "importedBytes", place),
    ownByHashMB: megabytes(webs, "byHash", "ownBytes", place),
    importedByHashMB: megabytes(webs, "byHash", "importedBytes", place),
    exportedPercent: null,
    exportedByHashPercent: null,
    leastByHashPercent: null,
  }));
}

function megabytes(
  webs: readonly CrawledWeb[],
  kind: Kind,
  figure: keyof Pick<PartitionFigures, "ownBytes" | "importedBytes">,
  place: number,
): number {
  return rounded(meanAt(webs, (web) => web[kind][figure], place) / 1e6, 1);
}

function allRow(process: string, webs: readonly CrawledWeb[], rows: readonly Row[]): Row {
  const sum = (name: string): number =>
    rounded(
      rows.reduce((total, row) => total + Number(row[name]), 0),
      1,
    );
  const exported = (kind: Kind): number =>
    rounded(100 * meanOf(webs.map((web) => web[kind].exportedShare)), 1);
  return {
    process,
    ownMB: sum("ownMB"),
    importedMB: sum("importedMB"),
    ownByHashMB: sum("ownByHashMB"),
    importedByHashMB: sum("importedByHashMB"),
    exportedPercent: exported("byTopic"),
    exportedByHashPercent: exported("byHash"),
    // (n − 1) / n, when every URL is fetched by one process.
    leastByHashPercent: rounded(100 * (1 - 1 / Math.max(1, rows.length)), 1),
  };
}

function plotOf(topics: readonly string[], rows: readonly Row[]): Plot {
  const line = (name: string, figure: string, kind: "solid" | "dotted"): Plot["lines"][number] => ({
    name,
    kind,
    points: rows.map((row, place) => [place + 1, Number(row[figure])] as const),
  });
  return {
    name: "topics-distribution",
    title: "What each process keeps (Figure 4)",
    x: { label: "process", unit: "", names: topics.map(shortName) },
    y: { label: "pages", unit: "MB" },
    lines: [
      line("by topic, own", "ownMB", "solid"),
      line("by topic, imported", "importedMB", "solid"),
      line("by hash, own", "ownByHashMB", "dotted"),
      line("by hash, imported", "importedByHashMB", "dotted"),
    ],
  };
}
