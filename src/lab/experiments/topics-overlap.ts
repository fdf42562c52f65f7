/** Figure 6 of the paper on topics: the number of pages fetched by exactly i processes. */

import { type Experiment, meanOf, type Plot, type Row, rounded } from "./experiment.ts";
import { TOPICS_PAPER } from "./topics-accuracy.ts";
import {
  CRAWL_PARAMETERS,
  type CrawledWeb,
  crawledWebs,
  crawledWikipedia,
  meanAt,
  WIKIPEDIA,
} from "./topics-crawled.ts";

export const topicsOverlap: Experiment = {
  name: "topics-overlap",
  paper: `${TOPICS_PAPER}, Figure 6`,
  about:
    "URLs are not exchanged, so several processes may fetch the same page: the number of pages fetched by exactly i processes, by topic and by hash of the content. Last row: overlap, the repeated fetches per page.",
  parameters: CRAWL_PARAMETERS,
  async run(options) {
    const webs = crawledWebs(options);
    const rows = (webs[0]?.topics ?? []).map((_, place): Row => ({
      processes: place + 1,
      pagesByTopic: Math.round(meanAt(webs, (web) => web.byTopic.fetchedBy, place)),
      pagesByHash: Math.round(meanAt(webs, (web) => web.byHash.fetchedBy, place)),
    }));
    const articles = await crawledWikipedia(options);
    const real = articles.length === 0 ? [] : [overlapRow(`overlap, ${WIKIPEDIA}`, articles)];
    return { rows: [...rows, overlapRow("overlap", webs), ...real], plots: [plotOf(rows)] };
  },
};

function overlapRow(name: string, webs: readonly CrawledWeb[]): Row {
  return {
    processes: name,
    pagesByTopic: rounded(meanOf(webs.map((web) => web.byTopic.overlap)), 2),
    pagesByHash: rounded(meanOf(webs.map((web) => web.byHash.overlap)), 2),
  };
}

/** On a logarithmic scale, as in the paper. */
function plotOf(rows: readonly Row[]): Plot {
  const line = (name: string, figure: string): Plot["lines"][number] => ({
    name,
    kind: "solid",
    points: rows
      .filter((row) => Number(row[figure]) > 0)
      .map((row) => [Number(row["processes"]), Math.log10(Number(row[figure]))] as const),
  });
  return {
    name: "topics-overlap",
    title: "Pages fetched by exactly i processes (Figure 6)",
    x: { label: "i", unit: "" },
    y: { label: "log10 of pages", unit: "" },
    lines: [line("by topic", "pagesByTopic"), line("by hash", "pagesByHash")],
  };
}
