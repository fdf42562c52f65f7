/**
 * A synthetic web as the experiments on topics want it: a graph of pages with their links, and of each page
 * how long it is and where it belongs, by topic and by the hash of its content.
 *
 * Pages are those of a world (`world.ts`): written out, read and judged by the production's classifier and rules,
 * and then forgotten but for these numbers. Redirects are followed; what is gone or closed is no page.
 *
 * Some 100 µs a page, nearly all of it writing and reading.
 */

import { assert } from "../base/assert.ts";
import { defaultSettings } from "../config/sources.ts";
import { type Placing, topicsWithWorld } from "../crawl/placing.ts";
import { topicMeansFor } from "../crawl/topic-means.ts";
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
  /** By page, the number of its topic as the classifier has it, and the process that has its hash. */
  readonly byTopic: Uint8Array;
  readonly byHash: Uint8Array;
  /** As it was written, which nobody knows. */
  readonly trueTopics: Uint8Array;
  /** Home pages, one of each site. */
  readonly homes: readonly number[];
}

/** Pages of a few kilobytes: their words decide, and not how many there are. */
export const TOPICS_PLAN = {
  pagesMin: 20,
  pagesMax: 2_000,
  bytesMedianMin: 1_500,
  bytesMedianMax: 3_000,
  bytesMax: 50_000,
} as const satisfies Partial<WorldPlan>;

const SMALLEST_WEB = 2;

/** At least so many pages and not many more. */
export function topicsWeb(seed: number, pageCount: number): TopicsWeb {
  const world = worldOf(seed, pageCount);
  const pages = [...groundTruth(world)].filter(({ fate }) => fate === "stored");
  const firsts = firstsOf(world, pages);
  const urls = pages.map(({ url }) => url as CanonicalUrl);
  const builder = new GraphBuilder(pages.length, 11 * pages.length);
  for (const { site, page } of pages) {
    builder.beginPage();
    builder.link(firsts.numberOf(site.index, 0));
    for (const link of linksOf(world, site, page.of)) {
      const target = firsts.target(site, link);
      if (target >= 0) builder.link(target);
    }
  }
  const graph = builder.web(`synthetic ${pages.length}`, urls);
  const homes = Array.from({ length: world.plan.siteCount }, (_, site) => firsts.numberOf(site, 0));
  return { graph, homes, ...placed(world, pages) };
}

function worldOf(seed: number, pageCount: number): World {
  const probe = makeWorld({ seed, ...TOPICS_PLAN });
  let sites = 0;
  for (let pages = 0; pages < pageCount || sites < SMALLEST_WEB; sites++)
    pages += siteAt(probe, sites).pageCount;
  return makeWorld({ seed, siteCount: sites, ...TOPICS_PLAN });
}

/** Where each site's pages begin among all that its world says it has, and what they are called here. */
function firstsOf(
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
    assert(parts !== null, "a world's links are written in a few ways only");
    const index = parts[1] === undefined ? from.index : world.naming.siteOf(parts[1]);
    const site = sites[index as number] as Site;
    const page = pageAt(world, site, Number(parts[2] ?? 0));
    return numberOf(site.index, page.kind === "moved" ? page.of : page.number);
  };
  return { numberOf, target };
}

/** What the production says of every page. */
function placed(world: World, pages: readonly TruePage[]): Omit<TopicsWeb, "graph" | "homes"> {
  const model = worldModel();
  const topics = topicsWithWorld(model.trained.topics);
  const classifier = new Classifier(model);
  const placingBy = (partition: "topic" | "content-hash"): Placing => {
    const settings = { ...defaultSettings(), partition, bucketCount: topics.length };
    const means = topicMeansFor(settings, model);
    assert(means !== undefined, "who divides contents tells what they are");
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
  assert(bucket !== undefined, "with no floor of confidence every content is somebody's");
  return bucket;
}

const PURPOSE_MISTAKE = 12;

/** As if the classifier were right only so often, and its mistakes had no reason. */
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
