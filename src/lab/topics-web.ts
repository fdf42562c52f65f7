/**
 * Generates a link graph for the experiments on topics: for each page its links, its length, and its owner by
 * topic and by the hash of its content.
 *
 * The pages are those of a world (`world.ts`). Each is generated, classified by the production code, and reduced
 * to these numbers. Redirects are followed; missing and forbidden pages are left out.
 *
 * About 100 µs per page, nearly all of it for generating and parsing.
 */

import { assert } from "../base/assert.ts";
import { defaultSettings } from "../config/sources.ts";
import type { Placing } from "../crawl/parse-page.ts";
import { topicsWithWorld } from "../crawl/topics/assign.ts";
import { topicSetupFor } from "../crawl/topics/setup.ts";
import { digestOf } from "../page/digest.ts";
import { Classifier, type Verdict } from "../topics/classify.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { GraphBuilder, type GraphWeb } from "./graph-web.ts";
import { groundTruth, type TruePage } from "./ground-truth.ts";
import { worldModel } from "./world-model.ts";
import { bodyOf } from "./world.ts";
import { hashAt } from "./world/dice.ts";
import { linksOf, pageAt, topicOf } from "./world/page.ts";
import { makeWorld, type World, type WorldPlan } from "./world/plan.ts";
import { type Site, siteAt } from "./world/site.ts";
import { TOPICS } from "./world/vocabulary.ts";

export interface TopicsWeb {
  readonly graph: GraphWeb;
  readonly topics: readonly string[];
  readonly bytes: Uint32Array;
  /** The topic of each page according to the classifier. */
  readonly byTopic: Uint8Array;
  /** The bucket of each page according to its content hash. */
  readonly byHash: Uint8Array;
  /** The topic that each page was generated from. */
  readonly trueTopics: Uint8Array;
  /** The home page of each site. */
  readonly homes: readonly number[];
}

/** Pages of a few kilobytes, so that topics depend on the words and not on the length. */
export const TOPICS_PLAN = {
  pagesMin: 20,
  pagesMax: 2_000,
  bytesMedianMin: 1_500,
  bytesMedianMax: 3_000,
  bytesMax: 50_000,
} as const satisfies Partial<WorldPlan>;

const SMALLEST_WEB = 2;

/** Generates at least `pageCount` pages, in whole sites. */
export function topicsWeb(seed: number, pageCount: number): TopicsWeb {
  const world = worldOf(seed, pageCount);
  const pages = [...groundTruth(world)].filter(({ fate }) => fate === "stored");
  const numberings = pageNumbersOf(world, pages);
  const urls = pages.map(({ url }) => url as CanonicalUrl);
  const builder = new GraphBuilder(pages.length, 11 * pages.length);
  for (const { site, page } of pages) {
    builder.beginPage();
    builder.link(numberings.numberOf(site.index, 0));
    for (const link of linksOf(world, site, page.of)) {
      const target = numberings.target(site, link);
      if (target >= 0) builder.link(target);
    }
  }
  const graph = builder.web(`synthetic ${pages.length}`, urls);
  const homes = Array.from({ length: world.plan.siteCount }, (_, site) =>
    numberings.numberOf(site, 0),
  );
  return { graph, homes, ...placedPages(world, pages) };
}

function worldOf(seed: number, pageCount: number): World {
  const probe = makeWorld({ seed, ...TOPICS_PLAN });
  let sites = 0;
  for (let pages = 0; pages < pageCount || sites < SMALLEST_WEB; sites++)
    pages += siteAt(probe, sites).pageCount;
  return makeWorld({ seed, siteCount: sites, ...TOPICS_PLAN });
}

/** Maps pages of sites, and links between them, to page numbers of the graph. */
function pageNumbersOf(
  world: World,
  pages: readonly TruePage[],
): {
  readonly numberOf: (site: number, page: number) => number;
  readonly target: (from: Site, link: string) => number;
} {
  const sites = Array.from({ length: world.plan.siteCount }, (_, index) => siteAt(world, index));
  let all = 0;
  const before = sites.map(({ pageCount }) => (all += pageCount) - pageCount);
  const numbers = new Int32Array(all).fill(-1);
  for (const [number, { site, page }] of pages.entries())
    numbers[(before[site.index] as number) + page.number] = number;
  const numberOf = (site: number, page: number): number =>
    numbers[(before[site] as number) + page] as number;
  const target = (from: Site, link: string): number => {
    const parts = /^(?:http:\/\/([^/]+))?\/(?:.*-(\d+)(?:\.html|\/))?(?:#.*)?$/.exec(link);
    assert(parts !== null, "a world's links have one of a few known forms");
    const index = parts[1] === undefined ? from.index : world.naming.siteOf(parts[1]);
    const site = sites[index as number] as Site;
    const page = pageAt(world, site, Number(parts[2] ?? 0));
    return numberOf(site.index, page.kind === "moved" ? page.of : page.number);
  };
  return { numberOf, target };
}

/** Computes the owners of every page with the production code. */
function placedPages(world: World, pages: readonly TruePage[]): Omit<TopicsWeb, "graph" | "homes"> {
  const model = worldModel();
  const topics = topicsWithWorld(model.trained.topics);
  const classifier = new Classifier(model);
  const placingBy = (partition: "topic" | "content-hash"): Placing => {
    const settings = { ...defaultSettings(), partition, bucketCount: topics.length };
    const means = topicSetupFor(settings, model);
    assert(means !== undefined, "a partition by content classifies pages");
    return means.placing;
  };
  const [placingByTopic, placingByHash] = [placingBy("topic"), placingBy("content-hash")];
  const bytes = new Uint32Array(pages.length);
  const byTopic = new Uint8Array(pages.length);
  const byHash = new Uint8Array(pages.length);
  const trueTopics = new Uint8Array(pages.length);
  for (const [number, { site, page }] of pages.entries()) {
    const body = bodyOf(world, site, page);
    const verdict = classifier.ofHtml(body);
    const digest = digestOf(body);
    bytes[number] = body.length;
    byTopic[number] = bucketOf(placingByTopic, digest, verdict);
    byHash[number] = bucketOf(placingByHash, digest, verdict);
    trueTopics[number] = topics.indexOf(TOPICS[topicOf(world, site, page.of)]?.name ?? "");
  }
  return { topics, bytes, byTopic, byHash, trueTopics };
}

function bucketOf(placing: Placing, digest: Uint8Array, verdict: Verdict): number {
  const { bucket } = placing.place({ digest, verdict });
  assert(bucket !== undefined, "without a minimum confidence, every content has an owner");
  return bucket;
}

const PURPOSE_MISTAKE = 12;

/** Topics of a classifier with this accuracy and random errors. */
export function mistaken(
  { byTopic, topics }: TopicsWeb,
  accuracy: number,
  seed: number,
): Uint8Array {
  return byTopic.map((topic, page) => {
    if (hashAt(seed, page, 0, PURPOSE_MISTAKE) / 2 ** 32 < accuracy) return topic;
    const other = hashAt(seed, page, 1, PURPOSE_MISTAKE) % (topics.length - 1);
    return other < topic ? other : other + 1;
  });
}
