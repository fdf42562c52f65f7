/**
 * Computes one page of a site from its number: kind, path, size, topic and links.
 *
 * The path contains the number, so that a path maps to its page without a table.
 */

import { Dice, hashAt, skewedRank, unitAt } from "./dice.ts";
import type { World } from "./plan.ts";
import { linkedSite, PRIVATE, type Site, SITE_FANOUT, siteAt } from "./site.ts";
import { TOPICS } from "./vocabulary.ts";

/**
 * - `page`: an ordinary page; `forbidden`: an ordinary page that robots.txt disallows;
 * - `copy`: equals page `of` byte for byte; `near`: equals it except for one line;
 * - `moved`: redirects to page `of`; `gone`: answers with an error.
 */
export type PageKind = "page" | "forbidden" | "copy" | "near" | "moved" | "gone";

export interface Page {
  readonly number: number;
  readonly kind: PageKind;
  readonly path: string;
  /** The page that it copies or redirects to; otherwise its own number. */
  readonly of: number;
}

const PURPOSE_KIND = 2;
const PURPOSE_PATH = 3;
const PURPOSE_ORIGINAL = 4;
const PURPOSE_LINKS = 5;
const PURPOSE_BYTES = 6;
const PURPOSE_TOPIC = 7;

export function pageAt(world: World, site: Site, number: number): Page {
  const kind = kindOf(world, site, number);
  const repeats = kind === "copy" || kind === "near" || kind === "moved";
  const draw = unitAt(world.plan.seed, site.index, number, PURPOSE_ORIGINAL);
  const of = repeats ? Math.floor(draw * site.firstLeaf) : number;
  return { number, kind, of, path: pathOf(world, site, number) };
}

/** The page at a path; undefined when there is none. */
export function pageUnder(world: World, site: Site, path: string): Page | undefined {
  if (path === "/") return pageAt(world, site, 0);
  const digits = /-(\d{1,9})(?:\.html|\/)$/.exec(path)?.[1];
  if (digits === undefined) return undefined;
  const number = Number(digits);
  if (number === 0 || number >= site.pageCount) return undefined;
  const page = pageAt(world, site, number);
  return page.path === path ? page : undefined;
}

export function pathOf(world: World, site: Site, number: number): string {
  if (number === 0) return "/";
  const word = hashAt(world.plan.seed, site.index, number, PURPOSE_PATH);
  const words = TOPICS[site.topic]?.words ?? [];
  const closed = number >= site.firstLeaf && kindOf(world, site, number) === "forbidden";
  const section = closed ? PRIVATE : site.sections[word % site.sections.length];
  const slug = words[(word >>> 8) % words.length];
  return site.style === "file"
    ? `/${section}/${slug}-${number}.html`
    : `/${section}/${slug}-${number}/`;
}

export function bytesOf(world: World, site: Site, number: number): number {
  const unit = unitAt(world.plan.seed, site.index, number, PURPOSE_BYTES);
  // Pareto with exponent 2 has a finite mean; the scale gives the site's median.
  const bytes = (site.bytesMedian * Math.SQRT1_2) / Math.sqrt(1 - unit);
  return Math.min(world.plan.bytesMax, Math.round(bytes));
}

export function topicOf(world: World, site: Site, number: number): number {
  const unit = unitAt(world.plan.seed, site.index, number, PURPOSE_TOPIC);
  const { topicCount, topicPurity } = world.plan;
  if (unit < topicPurity) return site.topic;
  return Math.floor(((unit - topicPurity) / (1 - topicPurity)) * topicCount);
}

/**
 * The links in the text of an ordinary page, in order: its children, then popular pages of this and
 * other sites. A home page also links to the home pages of its site's children.
 */
export function linksOf(world: World, site: Site, number: number): string[] {
  const links: string[] = [];
  const first = site.fanout * number + 1;
  const end = Math.min(site.pageCount, first + site.fanout);
  for (let child = first; child < end; child++) links.push(pathOf(world, site, child));
  if (number === 0) linkChildSites(world, site, links);

  const dice = new Dice(world.plan.seed, site.index, number, PURPOSE_LINKS);
  // Children take one link per page on average; the rest is uniform around the remaining mean.
  const more = dice.below(2 * Math.max(0, world.plan.linksMean - 1) + 1);
  for (let count = 0; count < more; count++) links.push(popularLink(world, site, dice));
  return links;
}

function popularLink(world: World, site: Site, dice: Dice): string {
  const { siteCount, linksMean, linksAwayShare } = world.plan;
  // Links to children stay on the site, so the other links must compensate.
  const awayShare = (linksAwayShare * linksMean) / Math.max(1, linksMean - 1);
  if (siteCount > 1 && dice.next() < awayShare) {
    const there = siteAt(world, linkedSite(world, site, dice));
    const path = pathOf(world, there, skewedRank(dice.next(), there.firstLeaf));
    return there.origin + path;
  }
  const path = pathOf(world, site, skewedRank(dice.next(), site.pageCount));
  // Different spellings of the same page's URL.
  const spelling = dice.below(16);
  if (spelling === 0) return site.origin + path;
  if (spelling === 1) return `${path}#notes`;
  return path;
}

function linkChildSites(world: World, site: Site, links: string[]): void {
  const first = SITE_FANOUT * site.index + 1;
  const end = Math.min(world.plan.siteCount, first + SITE_FANOUT);
  for (let child = first; child < end; child++) {
    links.push(`${world.naming.originOf(child)}/`);
  }
}

function kindOf(world: World, site: Site, number: number): PageKind {
  if (number < site.firstLeaf) return "page";
  const { seed, copyShare, nearCopyShare, movedShare, goneShare, forbiddenShare } = world.plan;
  let unit = unitAt(seed, site.index, number, PURPOSE_KIND);
  if ((unit -= copyShare) < 0) return "copy";
  if ((unit -= nearCopyShare) < 0) return "near";
  if ((unit -= movedShare) < 0) return "moved";
  if ((unit -= goneShare) < 0) return "gone";
  if ((unit -= forbiddenShare) < 0 && site.closesPrivate) return "forbidden";
  return "page";
}
