/**
 * Generates a link graph of any size with the shape of the real web.
 *
 * The parameters are from the literature; none was fitted to the results of an experiment:
 *   - sizes of sites follow a power law (exponent 1.8; Huberman and Adamic 1999: 1.65 to 1.85);
 *   - a page has about 10 links, 9 of them inside its site (Cho and Garcia-Molina 2002);
 *   - links between sites follow a power law of in-links (exponent 2.1; Broder et al. 2000), mostly to home
 *     pages, and half of them stay under the same top-level domain.
 * The pages of a site form a tree with additional links, and link to the home page: a crawler that reaches
 * one page can reach the whole site, so it can only miss whole sites.
 *
 * The same seed gives the same web. O(links).
 */

import { below, type Random, randomFrom } from "../base/random.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { GraphBuilder, type GraphWeb } from "./graph-web.ts";

export const WEB_PARAMETERS = {
  siteSizeExponent: 1.8,
  /** Largest share of all pages on one site. */
  siteShareMax: 0.01,
  linksInside: 9,
  linksOutside: 1,
  inLinkExponent: 2.1,
  /** Weight of a home page in the popularity order, as a multiple of another page's. */
  homeWeight: 20,
  linksUnderSameEnding: 0.5,
} as const;

/** Top-level domains of hosts, and the percentage of sites with each. */
export const ENDINGS: readonly (readonly [ending: string, percent: number])[] = [
  ["com", 46],
  ["org", 9],
  ["net", 8],
  ["de", 8],
  ["uk", 7],
  ["fr", 5],
  ["jp", 5],
  ["nl", 4],
  ["it", 4],
  ["pl", 4],
];

const CHILDREN = 8;
const HOME_LINK_SHARE = 0.9;
/** In-links with exponent a fall with the rank as rank^-(1 / (a − 1)); this is 1 − 1 / (a − 1). */
const SKEW = 1 - 1 / (WEB_PARAMETERS.inLinkExponent - 1);

interface Sites {
  /** The number of each site's home page, and the page count at the end. */
  readonly firsts: readonly number[];
  readonly endings: readonly number[];
}

export function syntheticWeb(seed: number, pageCount: number): GraphWeb {
  const random = randomFrom(seed);
  const sites = makeSites(random, pageCount);
  const popular = pagesByPopularity(random, sites, pageCount);
  const { linksInside, linksOutside } = WEB_PARAMETERS;
  const builder = new GraphBuilder(pageCount, 11 * pageCount);
  for (const [site, ending] of sites.endings.entries()) {
    const first = sites.firsts[site] as number;
    const size = (sites.firsts[site + 1] as number) - first;
    const near = popular.byEnding[ending] as Uint32Array;
    for (let place = 0; place < size; place++) {
      builder.beginPage();
      for (let left = size > 1 ? aroundMean(random, linksInside) : 0; left > 0; left--)
        builder.link(first + placeInside(random, size));
      for (let child = CHILDREN * place + 1; child <= CHILDREN * (place + 1); child++)
        if (child < size) builder.link(first + child);
      for (let left = aroundMean(random, linksOutside); left > 0; left--) {
        const isNear = random.next() < WEB_PARAMETERS.linksUnderSameEnding;
        builder.link(drawPopular(random, isNear ? near : popular.all));
      }
    }
  }
  return builder.web(`synthetic ${pageCount}`, urlsOf(sites));
}

/** Draws site sizes from the power law until all pages belong to a site. */
function makeSites(random: Random, pageCount: number): Sites {
  const sizeMax = Math.max(1, Math.floor(pageCount * WEB_PARAMETERS.siteShareMax));
  const firsts = [0];
  const endings: number[] = [];
  for (let first = 0; first < pageCount;) {
    const drawn = (1 - random.next()) ** (-1 / (WEB_PARAMETERS.siteSizeExponent - 1));
    const size = Math.min(Math.floor(drawn), sizeMax, pageCount - first);
    first += size;
    firsts.push(first);
    endings.push(drawEnding(random));
  }
  return { firsts, endings };
}

function drawEnding(random: Random): number {
  let left = random.next() * 100;
  return ENDINGS.findIndex(([, percent]) => (left -= percent) < 0);
}

/** All pages in a random order of popularity, with more weight for home pages. */
function pagesByPopularity(
  random: Random,
  { firsts, endings }: Sites,
  pageCount: number,
): { readonly all: Uint32Array; readonly byEnding: readonly Uint32Array[] } {
  const endingOf = new Uint8Array(pageCount);
  const isHome = new Uint8Array(pageCount);
  for (const [site, ending] of endings.entries()) {
    isHome[firsts[site] as number] = 1;
    endingOf.fill(ending, firsts[site], firsts[site + 1]);
  }
  const pages = Uint32Array.from({ length: pageCount }, (_, page) => page);
  const homes = shuffled(
    random,
    pages.filter((page) => isHome[page] === 1),
  );
  const others = shuffled(
    random,
    pages.filter((page) => isHome[page] === 0),
  );
  const all = new Uint32Array(pageCount);
  let home = 0;
  for (let place = 0; place < pageCount; place++) {
    const homeWeight = WEB_PARAMETERS.homeWeight * (homes.length - home);
    const otherWeight = others.length - (place - home);
    const takesHome = random.next() * (homeWeight + otherWeight) < homeWeight;
    all[place] = (takesHome ? homes[home] : others[place - home]) as number;
    if (takesHome) home += 1;
  }
  const byEnding = ENDINGS.map((_, ending) => all.filter((page) => endingOf[page] === ending));
  return { all, byEnding };
}

function shuffled(random: Random, pages: Uint32Array): Uint32Array {
  for (let place = pages.length - 1; place > 0; place--) {
    const other = below(random, place + 1);
    const page = pages[place] as number;
    pages[place] = pages[other] as number;
    pages[other] = page;
  }
  return pages;
}

/** Draws a page by the power law of its rank, with the inverse of the integrated distribution. */
function drawPopular(random: Random, pages: Uint32Array): number {
  const sum = (pages.length + 1) ** SKEW - 1;
  const place = Math.floor((1 + random.next() * sum) ** (1 / SKEW)) - 1;
  return pages[Math.min(place, pages.length - 1)] as number;
}

/** Draws a page of the site: on average 0.9 home links per page, otherwise preferably low numbers. */
function placeInside(random: Random, size: number): number {
  if (random.next() < HOME_LINK_SHARE / WEB_PARAMETERS.linksInside) return 0;
  return Math.floor(size * random.next() ** 2);
}

/** Draws a count from the geometric distribution with this mean. */
function aroundMean(random: Random, mean: number): number {
  return Math.floor(Math.log(1 - random.next()) / Math.log(mean / (mean + 1)));
}

function urlsOf({ firsts, endings }: Sites): CanonicalUrl[] {
  const urls: string[] = [];
  for (const [site, ending] of endings.entries()) {
    const host = `site${site}.${(ENDINGS[ending] as (typeof ENDINGS)[number])[0]}`;
    const size = (firsts[site + 1] as number) - (firsts[site] as number);
    for (let place = 0; place < size; place++)
      urls.push(place === 0 ? `http://${host}/` : `http://${host}/page/${place}`);
  }
  return urls as CanonicalUrl[];
}
