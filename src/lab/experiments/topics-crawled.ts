/**
 * One crawl by processes that own contents, with all figures for Figures 4 to 7 of the paper on topics, by
 * topic and by the hash of the content.
 *
 * The result for each seed is cached, because four experiments use it.
 */

import { pageRank } from "../../frontier/pagerank.ts";
import { below, randomFrom } from "../../base/random.ts";
import { PlacingByContent } from "../../crawl/topics/assign.ts";
import type { CanonicalUrl } from "../../url/url.ts";
import { GraphBuilder, type GraphWeb, partOf } from "../graph-web.ts";
import { kendallTau } from "../kendall.ts";
import { crawlContents, localityOf } from "../topics-crawl-sim.ts";
import { mistaken, TOPICS_PLAN, type TopicsWeb, topicsWeb } from "../topics-web.ts";
import { hasTopicsData } from "../topics-data.ts";
import { type ExperimentOptions, meanOf } from "./experiment.ts";
import { classifiedTopics, type Graph, readGraph } from "./topics-locality.ts";

const CRAWL_PAGES = 200_000;
const BATCH_PAGES = 100;
const SEEDS_EACH = 10;
/** The paper's accuracy of Naive Bayes on pages of the Open Directory. */
export const PAPER_ACCURACY = 0.607;

export const CRAWL_PARAMETERS = {
  pages: CRAWL_PAGES,
  processes: 16,
  seedsEach: SEEDS_EACH,
  batchPages: BATCH_PAGES,
  ...TOPICS_PLAN,
} as const;

/** Figures of one partition of contents; lists are by process. */
export interface PartitionFigures {
  readonly ownBytes: readonly number[];
  readonly importedBytes: readonly number[];
  readonly locality: readonly number[];
  readonly localityOfAll: number;
  readonly exportedShare: number;
  /** Number of pages fetched by exactly 1, 2, 3 … processes. */
  readonly fetchedBy: readonly number[];
  readonly overlap: number;
  /** Kendall's τ between each sub-collection's local PageRank and the global one. */
  readonly tau: readonly number[];
}

export interface CrawledWeb {
  readonly topics: readonly string[];
  readonly pages: number;
  /** Accuracy of the classifier. */
  readonly accuracy: number;
  readonly byTopic: PartitionFigures;
  readonly byHash: PartitionFigures;
  /** By topic, with a classifier that has the paper's accuracy and random errors. */
  readonly byPoorTopic: Omit<PartitionFigures, "tau">;
}

const crawled = new Map<string, CrawledWeb>();
const crawledArticles = new Map<number, CrawledWeb>();

/** One crawl per requested world. */
export function crawledWebs(options: ExperimentOptions): CrawledWeb[] {
  const { seed, runs, pages = CRAWL_PAGES } = options;
  return Array.from({ length: runs }, (_, run) => {
    const key = `${seed + run} ${pages}`;
    const known = crawled.get(key) ?? measure(topicsWeb(seed + run, pages), seed + run);
    crawled.set(key, known);
    return known;
  });
}

export const WIKIPEDIA = "Wikipedia for Schools";

/** The same on real pages and links, classified by Naive Bayes as in the paper; empty without the data. */
export async function crawledWikipedia({ seed, runs }: ExperimentOptions): Promise<CrawledWeb[]> {
  if (!hasTopicsData()) return [];
  const seeds = Array.from({ length: runs }, (_, run) => seed + run);
  const isKnown = seeds.every((one) => crawledArticles.has(one));
  const graph = isKnown ? undefined : await readGraph();
  if (graph !== undefined)
    for (const one of seeds) crawledArticles.set(one, measure(articlesWeb(graph, one), one));
  return seeds.flatMap((one) => crawledArticles.get(one) ?? []);
}

/** A web of all articles on one site, with random articles as seeds. */
function articlesWeb(articles: Graph, seed: number): TopicsWeb {
  const { examples, links, bytes, digests } = articles;
  const { topics, count } = examples;
  const builder = new GraphBuilder(count, links.length >> 1);
  const targetsOf = Map.groupBy(
    Array.from({ length: links.length >> 1 }, (_, link) => link),
    (link) => links[2 * link] as number,
  );
  for (let page = 0; page < count; page++) {
    builder.beginPage();
    for (const link of targetsOf.get(page) ?? []) builder.link(links[2 * link + 1] as number);
  }
  const urls = digests.map((_, page) => `http://articles.test/${page}` as CanonicalUrl);
  const placing = new PlacingByContent(topics.length);
  const random = randomFrom(seed);
  return {
    graph: builder.web(WIKIPEDIA, urls),
    topics,
    bytes: Uint32Array.from(bytes),
    byTopic: Uint8Array.from(classifiedTopics(examples, "naive-bayes", seed)),
    byHash: Uint8Array.from(
      digests,
      (digest) => placing.place({ digest, verdict: undefined }).bucket ?? 0,
    ),
    trueTopics: Uint8Array.from(digests, (_, page) => examples.topicOf(page)),
    homes: topics.flatMap(() => Array.from({ length: SEEDS_EACH }, () => below(random, count))),
  };
}

function measure(web: TopicsWeb, seed: number): CrawledWeb {
  const { graph, topics, byTopic, byHash, trueTopics } = web;
  const global = pageRank(graph);
  const right = byTopic.filter((topic, page) => topic === trueTopics[page]).length;
  const procs = topics.length;
  return {
    topics,
    pages: graph.pageCount,
    accuracy: right / graph.pageCount,
    byTopic: { ...crawlDivided(web, byTopic), tau: tauOf(graph, byTopic, procs, global) },
    byHash: { ...crawlDivided(web, byHash), tau: tauOf(graph, byHash, procs, global) },
    byPoorTopic: crawlDivided(web, mistaken(web, PAPER_ACCURACY, seed)),
  };
}

function crawlDivided(web: TopicsWeb, owners: Uint8Array): Omit<PartitionFigures, "tau"> {
  const { graph, bytes, homes, topics } = web;
  const procs = topics.length;
  // Seeds are dealt to the processes in turn, as in production.
  const first = homes.slice(0, SEEDS_EACH * procs);
  const seeds = topics.map((_, proc) => first.filter((_home, at) => at % procs === proc));
  const done = crawlContents({ graph, bytes, owners, procs, batchPages: BATCH_PAGES, seeds });
  const { all, byProcess } = localityOf(graph, owners, procs);
  const fetchedBy = topics.map(() => 0);
  for (const times of done.fetchedBy)
    if (times > 0) fetchedBy[times - 1] = (fetchedBy[times - 1] ?? 0) + 1;
  const exported = done.exportedBytes.reduce((sum, count) => sum + count, 0);
  return {
    ownBytes: [...done.ownBytes],
    importedBytes: [...done.importedBytes],
    locality: byProcess,
    localityOfAll: all,
    exportedShare: exported / done.downloadedBytes,
    fetchedBy,
    overlap: (done.downloads - done.pages) / done.pages,
  };
}

function tauOf(
  graph: GraphWeb,
  owners: Uint8Array,
  procs: number,
  global: Float64Array,
): readonly number[] {
  return Array.from({ length: procs }, (_, proc) => {
    const isKept = (page: number): boolean => owners[page] === proc;
    const local = pageRank(partOf(graph, `part ${proc}`, isKept));
    return kendallTau(
      local,
      global.filter((_rank, page) => isKept(page)),
    );
  });
}

/** The mean over all worlds of one process's figure. */
export function meanAt(
  webs: readonly CrawledWeb[],
  of: (web: CrawledWeb) => readonly number[],
  place: number,
): number {
  return meanOf(webs.map((web) => of(web)[place] ?? 0));
}
