/**
 * The focused crawl that the paper on topics names as its next step: how many of the pages that were fetched are
 * about the topic that is looked for, against breadth first?
 *
 * The production loops in virtual time, with a second between two questions to a site as always. There are few connections for
 * the size of the web, so that somebody has to decide what goes first.
 */

import { topicMeansFor } from "../../crawl/topic-means.ts";
import type { CanonicalUrl } from "../../url/url.ts";
import { groundTruth, pageCountOf } from "../ground-truth.ts";
import type { RequestEntry } from "../request-log.ts";
import { runSim } from "../run-sim.ts";
import { TOPICS_PLAN } from "../topics-web.ts";
import { siteNamed } from "../world.ts";
import { worldModel } from "../world-model.ts";
import { pageUnder, topicOf } from "../world/page.ts";
import { makeWorld, type World, type WorldPlan } from "../world/plan.ts";
import { TOPICS } from "../world/vocabulary.ts";
import {
  type Experiment,
  inEveryWorld,
  meanOf,
  type Plot,
  type Row,
  rounded,
} from "./experiment.ts";
import { TOPICS_PAPER } from "./topics-accuracy.ts";

const WEB = {
  ...TOPICS_PLAN,
  siteCount: 320,
  pagesMax: 1_000,
  crawlDelayShare: 0,
} as const satisfies Partial<WorldPlan>;
const SOUGHT = ["arts", "science", "sports"] as const;
const SEEDS = 16;
const CONNECTIONS = 4;
/** Of the web; the harvest is looked at after each. */
const PERCENTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const;

export const topicsFocus: Experiment = {
  name: "topics-focus",
  paper: `${TOPICS_PAPER}, section 7`,
  about:
    "Looks for one topic with `--order topic`: the share of fetched pages that are about it, after so much of the web, against breadth first. The most is what a crawler would get that knew every page in advance and never had to wait.",
  parameters: { ...WEB, seeds: SEEDS, connections: CONNECTIONS, sought: SOUGHT.join(", ") },
  async run(options) {
    const worlds = await inEveryWorld(options, harvestsIn);
    const rows = SOUGHT.map((sought, place): Row =>
      rowOf(
        sought,
        worlds.map((one) => one[place] as Harvest),
      ),
    );
    const all = rowOf("all", worlds.flat());
    return { rows: [...rows, all], plots: [plotOf(worlds.flat())] };
  },
};

interface Harvest {
  /** Shares on topic after each of the percents. */
  readonly focused: readonly number[];
  readonly breadth: readonly number[];
  readonly most: number;
}

async function harvestsIn(seed: number): Promise<Harvest[]> {
  const world = makeWorld({ seed, ...WEB });
  const pages = pageCountOf(world);
  const breadth = await crawled(seed, world, undefined);
  const harvests: Harvest[] = [];
  for (const sought of SOUGHT) {
    const topic = TOPICS.findIndex(({ name }) => name === sought);
    const log = await crawled(seed, world, sought);
    harvests.push({
      focused: harvestOf(world, log, { topic, pages }),
      breadth: harvestOf(world, breadth, { topic, pages }),
      most: Math.min(1, onTopicIn(world, topic) / (0.1 * pages)),
    });
  }
  return harvests;
}

/** A crawl of a tenth of the web, as its servers saw it. */
async function crawled(
  seed: number,
  world: World,
  topic: string | undefined,
): Promise<readonly RequestEntry[]> {
  const { log } = await runSim({
    seed,
    world: WEB,
    settings: {
      order: topic === undefined ? "breadth" : "topic",
      topic,
      scope: "any",
      connectionsMax: CONNECTIONS,
      pagesMax: Math.ceil(pageCountOf(world) / 10),
    },
    plant: (parts) => ({
      ...parts,
      // Few, and of all topics by turns, so that what is looked for has to be found.
      seeds: Array.from(
        { length: SEEDS },
        (_, site) => `${world.naming.originOf(site)}/` as CanonicalUrl,
      ),
      topics: topicMeansFor(parts.settings, worldModel()),
    }),
  });
  return log.toSorted((a, b) => a.endMs - b.endMs);
}

/** By what the pages truly are. */
function harvestOf(
  world: World,
  log: readonly RequestEntry[],
  { topic, pages }: { readonly topic: number; readonly pages: number },
): number[] {
  const shares: number[] = [];
  let [fetched, onTopic] = [0, 0];
  for (const { site: origin, path, status, whole } of log) {
    const site = siteNamed(world, origin.replace("http://", ""));
    const page = site === undefined ? undefined : pageUnder(world, site, path);
    if (site === undefined || page === undefined || status !== 200 || !whole) continue;
    fetched += 1;
    if (topicOf(world, site, page.of) === topic) onTopic += 1;
    const percent = PERCENTS[shares.length];
    if (percent !== undefined && fetched >= (percent / 100) * pages) shares.push(onTopic / fetched);
  }
  return shares;
}

function onTopicIn(world: World, topic: number): number {
  let count = 0;
  for (const { fate, site, page } of groundTruth(world))
    if (fate === "stored" && topicOf(world, site, page.of) === topic) count += 1;
  return count;
}

function rowOf(sought: string, harvests: readonly Harvest[]): Row {
  const at = (of: (harvest: Harvest) => readonly number[], percent: number): number =>
    meanOf(harvests.map((harvest) => of(harvest)[percent - 1] ?? 0));
  const focused = at((harvest) => harvest.focused, 10);
  const breadth = at((harvest) => harvest.breadth, 10);
  return {
    topic: sought,
    "focused at 1 % of the web": rounded(100 * at((harvest) => harvest.focused, 1), 1),
    "at 5 %": rounded(100 * at((harvest) => harvest.focused, 5), 1),
    "at 10 %": rounded(100 * focused, 1),
    "breadth first at 10 %": rounded(100 * breadth, 1),
    "most at 10 %": rounded(100 * meanOf(harvests.map(({ most }) => most)), 1),
    times: rounded(focused / breadth, 1),
  };
}

function plotOf(harvests: readonly Harvest[]): Plot {
  const points = (of: (harvest: Harvest) => readonly number[]): (readonly [number, number])[] =>
    PERCENTS.map((percent, place) => [
      percent,
      100 * meanOf(harvests.map((harvest) => of(harvest)[place] ?? 0)),
    ]);
  return {
    name: "topics-focus",
    title: "Fetched pages that are about the topic looked for",
    x: { label: "of the web fetched", unit: "%" },
    y: { label: "on topic", unit: "%" },
    lines: [
      { name: "--order topic", kind: "solid", points: points(({ focused }) => focused) },
      { name: "breadth first", kind: "dotted", points: points(({ breadth }) => breadth) },
    ],
  };
}
