/** Figure 5 of the paper on topics: the share of links between pages of the same process. */

import { type Experiment, meanOf, type Plot, type Row, rounded } from "./experiment.ts";
import { shortName, TOPICS_PAPER } from "./topics-accuracy.ts";
import {
  CRAWL_PARAMETERS,
  type CrawledWeb,
  crawledWebs,
  crawledWikipedia,
  meanAt,
  PAPER_ACCURACY,
  WIKIPEDIA,
} from "./topics-crawled.ts";

/** The paper's value on linked pages of the Open Directory; its crawl had "slightly lower" values. */
const PAPER_PERCENT = 62.4;

export const topicsCrawlLocality: Experiment = {
  name: "topics-crawl-locality",
  paper: `${TOPICS_PAPER}, Figure 5`,
  about:
    "Share of the links on a process's pages that lead to its own pages: by topic, by hash of the content, and by topic with a classifier that has only the paper's accuracy and random errors, which is the worst case.",
  parameters: { ...CRAWL_PARAMETERS, poorAccuracyPercent: 100 * PAPER_ACCURACY },
  async run(options) {
    const webs = crawledWebs(options);
    const topics = webs[0]?.topics ?? [];
    const each = topics.map((topic, place) =>
      rowOf(topic, topics.length, {
        topic: meanAt(webs, (web) => web.byTopic.locality, place),
        hash: meanAt(webs, (web) => web.byHash.locality, place),
        poor: meanAt(webs, (web) => web.byPoorTopic.locality, place),
      }),
    );
    const articles = await crawledWikipedia(options);
    const real = articles.length === 0 ? [] : [allRow(WIKIPEDIA, articles)];
    return { rows: [...each, allRow("all", webs), ...real], plots: [plotOf(topics, each)] };
  },
};

function allRow(process: string, webs: readonly CrawledWeb[]): Row {
  const row = rowOf(process, webs[0]?.topics.length ?? 0, {
    topic: meanOf(webs.map((web) => web.byTopic.localityOfAll)),
    hash: meanOf(webs.map((web) => web.byHash.localityOfAll)),
    poor: meanOf(webs.map((web) => web.byPoorTopic.localityOfAll)),
  });
  return { ...row, rightPercent: right(webs), paperPercent: PAPER_PERCENT };
}

interface Shares {
  readonly topic: number;
  readonly hash: number;
  readonly poor: number;
}

function rowOf(process: string, processes: number, { topic, hash, poor }: Shares): Row {
  return {
    process,
    byTopicPercent: rounded(100 * topic, 1),
    timesHash: rounded(topic * processes, 1),
    byHashPercent: rounded(100 * hash, 2),
    poorPercent: rounded(100 * poor, 1),
    rightPercent: null,
    paperPercent: null,
  };
}

function right(webs: readonly CrawledWeb[]): number {
  return rounded(100 * meanOf(webs.map(({ accuracy }) => accuracy)), 1);
}

function plotOf(topics: readonly string[], rows: readonly Row[]): Plot {
  const line = (name: string, figure: string): Plot["lines"][number] => ({
    name,
    kind: "solid",
    points: rows.map((row, place) => [place + 1, Number(row[figure])] as const),
  });
  const base = 100 / Math.max(1, topics.length);
  return {
    name: "topics-crawl-locality",
    title: "Links that stay with their process (Figure 5)",
    x: { label: "process", unit: "", names: topics.map(shortName) },
    y: { label: "links", unit: "%" },
    lines: [
      line("by topic", "byTopicPercent"),
      line("by topic, 60.7 % right", "poorPercent"),
      {
        name: "by hash, 1/n",
        kind: "limit",
        points: [
          [1, base],
          [topics.length, base],
        ],
      },
    ],
  };
}
