/**
 * The parameters of a synthetic web, which determine it completely.
 *
 * The defaults describe a small, mixed web: site sizes follow a power law, a page has ten links, nine
 * of them on its own site, and there are some copies, redirects, errors and forbidden pages.
 */

import { assert } from "../../base/assert.ts";
import { type Naming, namedSites } from "./naming.ts";
import { TOPICS } from "./vocabulary.ts";

/** Parameters of a synthetic web. Shares are from 0 to 1. */
export interface WorldPlan {
  readonly seed: number;
  readonly siteCount: number;
  /** Bounds of site sizes: half of the sites have less than twice the minimum, 1 % have 100 times it. */
  readonly pagesMin: number;
  readonly pagesMax: number;
  /** Bounds of the sites' median page sizes; single pages have up to `bytesMax`. */
  readonly bytesMedianMin: number;
  readonly bytesMedianMax: number;
  readonly bytesMax: number;
  readonly linksMean: number;
  /** Share of links that leave the site. */
  readonly linksAwayShare: number;
  readonly topicCount: number;
  /** Share of a site's pages, and of its links to other sites, with the site's topic. */
  readonly topicPurity: number;

  /** Shares of the pages without children that are not ordinary pages. */
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
  /** Bounds of the sites' time from request to first byte, without the round trip. */
  readonly thinkMsMin: number;
  readonly thinkMsMax: number;
  /** Bounds of the servers' rates; in simulation, concurrent downloads from a server share its rate. */
  readonly speedBpsMin: number;
  readonly speedBpsMax: number;
  readonly sitesPerAddress: number;
}

/** A synthetic web: its parameters, and the names of its sites. */
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

/**
 * Makes a synthetic web from parameters; all others have defaults. It stores nothing: pages are computed on demand.
 *
 * @example
 * import { makeWorld, pageCountOf } from "weir/lab";
 *
 * const world = makeWorld({ seed: 7, siteCount: 20, pagesMax: 500 });
 * console.log(pageCountOf(world), "pages");
 */
export function makeWorld(wanted: Partial<WorldPlan> = {}, naming?: Naming): World {
  const plan = { ...DEFAULT_PLAN, ...wanted };
  assert(plan.siteCount >= 1 && plan.pagesMin >= 1, "a world has at least one page");
  assert(plan.pagesMax >= plan.pagesMin, "the largest site is not smaller than the smallest");
  assert(plan.topicCount >= 1 && plan.topicCount <= TOPICS.length, "every topic has a vocabulary");
  return { plan, naming: naming ?? namedSites(plan.sitesPerAddress) };
}
