/**
 * The focused crawl that the paper on topics names as its next step: the share of fetched pages on a topic,
 * compared with breadth first.
 *
 * Runs the production loops in virtual time, with the usual second between two requests to a site. The web has
 * many sites for few connections, so that the order of requests matters.
 */

import { topicSetupFor } from "../../crawl/topics/setup.ts";
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
/** Percentages of the web after which the harvest is measured. */
const PERCENTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const;

export const topicsFocus: Experiment = {
  name: "topics-focus",
  paper: `${TOPICS_PAPER}, section 7`,
  about:
    "Searches for one topic with `--order topic`: the share of fetched pages on it, after several shares of the web, compared with breadth first. The most is the share of a crawler that knows every page in advance and never waits.",
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
  /** Share of pages on topic after each of `PERCENTS`. */
  readonly focused: readonly number[];
  readonly breadth: readonly number[];
  readonly most: number;
}

async function harvestsIn(seed: number): Promise<Harvest[]> {
  const world = makeWorld({ seed, ...WEB });
  const pages = pageCountOf(world);
  const breadth = await runCrawl(seed, world, undefined);
  const harvests: Harvest[] = [];
  for (const sought of SOUGHT) {
    const topic = TOPICS.findIndex(({ name }) => name === sought);
    const log = await runCrawl(seed, world, sought);
    harvests.push({
      focused: harvestOf(world, log, { topic, pages }),
      breadth: harvestOf(world, breadth, { topic, pages }),
      most: Math.min(1, onTopicIn(world, topic) / (0.1 * pages)),
    });
  }
  return harvests;
}

/** The servers' log of a crawl of a tenth of the web. */
async function runCrawl(
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
      // Few seeds of all topics, so that the crawl must find pages on the topic.
      seeds: Array.from(
        { length: SEEDS },
        (_, site) => `${world.naming.originOf(site)}/` as CanonicalUrl,
      ),
      topics: topicSetupFor(parts.settings, worldModel()),
    }),
  });
  return log.toSorted((a, b) => a.endMs - b.endMs);
}

/** The harvest by the pages' true topics. */
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
    title: "Fetched pages on the topic",
    x: { label: "of the web fetched", unit: "%" },
    y: { label: "on topic", unit: "%" },
    lines: [
      { name: "--order topic", kind: "solid", points: points(({ focused }) => focused) },
      { name: "breadth first", kind: "dotted", points: points(({ breadth }) => breadth) },
    ],
  };
}
