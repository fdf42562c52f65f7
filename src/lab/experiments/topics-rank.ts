/** Figure 7 of the paper on topics: agreement of a sub-collection's local PageRank with the global one. */

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

export const topicsRank: Experiment = {
  name: "topics-rank",
  paper: `${TOPICS_PAPER}, Figure 7`,
  about:
    "Kendall's τ between the order of a sub-collection's pages by PageRank among themselves and by PageRank among all pages, by topic and by hash of the content. In the paper it is greater by topic in all cases, and nearly equal for all hashes.",
  parameters: CRAWL_PARAMETERS,
  async run(options) {
    const webs = crawledWebs(options);
    const topics = webs[0]?.topics ?? [];
    const rows = topics.map((topic, place): Row => {
      const byTopic = meanAt(webs, (web) => web.byTopic.tau, place);
      const byHash = meanAt(webs, (web) => web.byHash.tau, place);
      return rowOf(topic, byTopic, byHash);
    });
    const articles = await crawledWikipedia(options);
    const real = articles.length === 0 ? [] : [meanRow(WIKIPEDIA, articles)];
    return { rows: [...rows, meanRow("mean", webs), ...real], plots: [plotOf(topics, rows)] };
  },
};

function meanRow(process: string, webs: readonly CrawledWeb[]): Row {
  const mean = (of: (web: CrawledWeb) => PartitionFigures): number =>
    meanOf(webs.flatMap((web) => of(web).tau));
  const byTopic = mean((web) => web.byTopic);
  return rowOf(
    process,
    byTopic,
    mean((web) => web.byHash),
  );
}

function rowOf(process: string, byTopic: number, byHash: number): Row {
  return {
    process,
    tauByTopic: rounded(byTopic, 3),
    tauByHash: rounded(byHash, 3),
    moreByTopic: rounded(byTopic - byHash, 3),
  };
}

function plotOf(topics: readonly string[], rows: readonly Row[]): Plot {
  const line = (name: string, figure: string): Plot["lines"][number] => ({
    name,
    kind: "solid",
    points: rows.map((row, place) => [place + 1, Number(row[figure])] as const),
  });
  return {
    name: "topics-rank",
    title: "PageRank inside against PageRank of all (Figure 7)",
    x: { label: "sub-collection", unit: "", names: topics.map(shortName) },
    y: { label: "Kendall's τ", unit: "" },
    lines: [line("by topic", "tauByTopic"), line("by hash", "tauByHash")],
  };
}
