/**
 * Computes one site of a world from its number: size, speed, robots.txt and topic.
 *
 * Its pages are numbered from 0, the home page. They form a tree in which page p links to
 * `fanout * p + 1` and the `fanout - 1` pages after it, so every page is reachable from the home page
 * without stored state. Only pages without children (`firstLeaf` and up) can be copies, redirects,
 * errors or forbidden pages, so these never cut off other pages. The home pages of all sites form such
 * a tree too, rooted at site 0.
 */

import { Dice, skewedRank, spread } from "./dice.ts";
import type { World } from "./plan.ts";
import { TOPICS } from "./vocabulary.ts";

export type Trap = "calendar" | "maze" | "session";

/** One site of a world. */
export interface Site {
  readonly index: number;
  readonly origin: string;
  readonly address: string;
  readonly topic: number;
  readonly pageCount: number;
  readonly fanout: number;
  readonly firstLeaf: number;
  readonly style: "file" | "folder";
  /** Folders of its pages. */
  readonly sections: readonly string[];
  readonly bytesMedian: number;
  readonly latencyMs: number;
  readonly thinkMs: number;
  /** Rate of all connections together when the server is least busy. */
  readonly speedBps: number;
  /** The busiest hour of the day (UTC). */
  readonly peakHour: number;
  /** Share of the speed that is lost at the busiest hour. */
  readonly slump: number;
  /** Share of `slump` that remains on Saturdays and Sundays. */
  readonly weekendSlump: number;
  readonly hasRobots: boolean;
  /** Whether robots.txt disallows `/private/`. */
  readonly closesPrivate: boolean;
  readonly crawlDelayMs: number | undefined;
  readonly hasSitemap: boolean;
  readonly trap: Trap | undefined;
}

/** Number of child sites that a home page links to. */
export const SITE_FANOUT = 8;
export const PRIVATE = "private";

const PURPOSE_SITE = 1;
const SECTION_COUNT = 8;
const TRAPS: readonly Trap[] = ["calendar", "maze", "session"];

/**
 * Computes a site from its number, from 0.
 *
 * @example
 * import { makeWorld, siteAt } from "weir/lab";
 *
 * const { origin, pageCount, crawlDelayMs } = siteAt(makeWorld({ siteCount: 3 }), 0);
 * console.log(origin, pageCount, crawlDelayMs);
 */
export function siteAt(world: World, index: number): Site {
  const { plan, naming } = world;
  const dice = new Dice(plan.seed, index, 0, PURPOSE_SITE);
  // Pareto with exponent 1: of all sites, pagesMin / n are larger than n.
  const pageCount = Math.min(plan.pagesMax, Math.floor(plan.pagesMin / (1 - dice.next())));
  const fanout = 3 + dice.below(6);
  const topic = index % plan.topicCount;
  const hasRobots = dice.next() < plan.robotsShare;
  const asksDelay = dice.next() < plan.crawlDelayShare;
  return {
    index,
    origin: naming.originOf(index),
    address: naming.addressOf(index),
    topic,
    pageCount,
    fanout,
    firstLeaf: Math.max(1, Math.ceil((pageCount - 1) / fanout)),
    style: dice.next() < 0.7 ? "file" : "folder",
    sections: sectionsOf(topic, dice),
    bytesMedian: Math.round(spread(dice.next(), plan.bytesMedianMin, plan.bytesMedianMax)),
    latencyMs: Math.round(spread(dice.next(), plan.latencyMsMin, plan.latencyMsMax)),
    speedBps: Math.round(spread(dice.next(), plan.speedBpsMin, plan.speedBpsMax)),
    peakHour: dice.below(24),
    slump: dice.next() * 0.8,
    hasRobots,
    closesPrivate: hasRobots && dice.next() < 0.7,
    crawlDelayMs: hasRobots && asksDelay ? 1000 * (2 + dice.below(3)) : undefined,
    hasSitemap: dice.next() < plan.sitemapShare,
    trap: dice.next() < plan.trapShare ? TRAPS[dice.below(TRAPS.length)] : undefined,
    // Drawn last, so that the other properties of existing seeds do not change.
    weekendSlump: dice.next(),
    thinkMs: Math.round(plan.thinkMsMin + dice.next() * (plan.thinkMsMax - plan.thinkMsMin)),
  };
}

/**
 * Rate of the site's server at a time. Between the busiest and the opposite hour the speed follows two
 * parabolas: smooth, and identical on every machine. The reduction is smaller at weekends.
 *
 * @example
 * import { makeWorld, siteAt, speedBpsAt } from "weir/lab";
 *
 * const site = siteAt(makeWorld(), 0);
 * const atNoonBps = speedBpsAt(site, Date.UTC(2026, 0, 5, 12));
 * console.log(atNoonBps <= site.speedBps);
 */
export function speedBpsAt(site: Site, wallMs: number): number {
  const hour = (((wallMs / 3_600_000) % 24) + 24) % 24;
  const apart = Math.abs(hour - site.peakHour);
  const closeness = 1 - Math.min(apart, 24 - apart) / 12;
  const bend = closeness < 0.5 ? 2 * closeness ** 2 : 1 - 2 * (1 - closeness) ** 2;
  const slump = isWeekend(wallMs) ? site.slump * site.weekendSlump : site.slump;
  return site.speedBps * (1 - slump * bend);
}

/** 1 January 1970 was a Thursday. */
function isWeekend(wallMs: number): boolean {
  const day = Math.floor(wallMs / 86_400_000) + 4;
  const weekday = ((day % 7) + 7) % 7;
  return weekday === 0 || weekday === 6;
}

/** Draws another site as a link target, with preference for popular sites and for its own topic. */
export function linkedSite(world: World, from: Site, dice: Dice): number {
  const { siteCount, topicCount, topicPurity } = world.plan;
  const ofTopic = Math.ceil((siteCount - from.topic) / topicCount);
  const keepsTopic = dice.next() < topicPurity && ofTopic > 1;
  const target = keepsTopic
    ? skewedRank(dice.next(), ofTopic) * topicCount + from.topic
    : skewedRank(dice.next(), siteCount);
  if (target !== from.index) return target;
  // A draw of itself goes to the next site in the ranking.
  const next = target + (keepsTopic ? topicCount : 1);
  return next < siteCount ? next : keepsTopic ? from.topic : 0;
}

function sectionsOf(topic: number, dice: Dice): string[] {
  const words = TOPICS[topic]?.words ?? [];
  const start = dice.below(words.length);
  return Array.from(
    { length: SECTION_COUNT },
    (_, step) => words[(start + step) % words.length] ?? "",
  );
}
