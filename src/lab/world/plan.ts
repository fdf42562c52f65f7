/**
 * What kind of web to grow: everything about it follows from these numbers.
 *
 * The defaults are a small, mixed web: sites whose sizes follow a power law, ten links a page of
 * which nine stay at home, a few copies, redirects, errors and closed doors.
 */

import { assert } from "../../base/assert.ts";
import { type Naming, namedSites } from "./naming.ts";
import { TOPICS } from "./vocabulary.ts";

export interface WorldPlan {
  readonly seed: number;
  readonly siteCount: number;
  /** Sizes of sites: half have less than twice the least, one in a hundred a hundred times it. */
  readonly pagesMin: number;
  readonly pagesMax: number;
  /** Each site has its own median page size between these; single pages go up to `bytesMax`. */
  readonly bytesMedianMin: number;
  readonly bytesMedianMax: number;
  readonly bytesMax: number;
  readonly linksMean: number;
  /** Share of links that leave the site. */
  readonly linksAwayShare: number;
  readonly topicCount: number;
  /** Share of a site's pages, and of links away, that keep to the site's topic. */
  readonly topicPurity: number;

  /** Shares of the pages without children that are something else than an ordinary page. */
  readonly copyShare: number;
  readonly nearCopyShare: number;
  readonly movedShare: number;
  readonly goneShare: number;
  readonly forbiddenShare: number;

  /** Shares of the sites. */
  readonly robotsShare: number;
  readonly crawlDelayShare: number;
  readonly sitemapShare: number;
  readonly trapShare: number;

  readonly latencyMsMin: number;
  readonly latencyMsMax: number;
  /** What a site's server takes to begin an answer, beside the way there and back. */
  readonly thinkMsMin: number;
  readonly thinkMsMax: number;
  /** Of a site's server; in simulation, downloads from there at the same time share it. */
  readonly speedBpsMin: number;
  readonly speedBpsMax: number;
  readonly sitesPerAddress: number;
}

export interface World {
  readonly plan: WorldPlan;
  readonly naming: Naming;
}

const DEFAULT_PLAN: WorldPlan = {
  seed: 1,
  siteCount: 10,
  pagesMin: 20,
  pagesMax: 100_000,
  bytesMedianMin: 2_000,
  bytesMedianMax: 16_000,
  bytesMax: 1_000_000,
  linksMean: 10,
  linksAwayShare: 0.1,
  topicCount: TOPICS.length,
  topicPurity: 0.8,
  copyShare: 0.03,
  nearCopyShare: 0.03,
  movedShare: 0.03,
  goneShare: 0.03,
  forbiddenShare: 0.05,
  robotsShare: 0.7,
  crawlDelayShare: 0.2,
  sitemapShare: 0.5,
  trapShare: 0,
  latencyMsMin: 20,
  latencyMsMax: 300,
  thinkMsMin: 0,
  thinkMsMax: 0,
  speedBpsMin: 20_000,
  speedBpsMax: 5_000_000,
  sitesPerAddress: 1,
};

export function makeWorld(wanted: Partial<WorldPlan> = {}, naming?: Naming): World {
  const plan = { ...DEFAULT_PLAN, ...wanted };
  assert(plan.siteCount >= 1 && plan.pagesMin >= 1, "a world has a page");
  assert(plan.pagesMax >= plan.pagesMin, "the largest site is not smaller than the smallest");
  assert(plan.topicCount >= 1 && plan.topicCount <= TOPICS.length, "every topic has its words");
  return { plan, naming: naming ?? namedSites(plan.sitesPerAddress) };
}
