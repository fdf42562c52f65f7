/**
 * A made-up web of any size with the shape of the real one, as a graph.
 *
 * What is known of that shape goes in; nothing was fitted to the results of an experiment:
 *   - sizes of sites follow a power law (exponent 1.8; Huberman and Adamic 1999: 1.65 to 1.85);
 *   - a page has some 10 links, 9 of them inside its site (Cho and Garcia-Molina 2002);
 *   - links between sites follow a power law of in-links (exponent 2.1; Broder et al. 2000), home pages first by far, and
 *     half of them stay under the same ending of the host.
 * Inside a site pages hang together as a tree with short cuts, and link home: whoever reaches one of them
 * reaches the site. What can be missed is whole sites.
 *
 * The same seed gives the same web. O(links).
 */

import { below, type Random, randomFrom } from "../base/random.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { GraphBuilder, type GraphWeb } from "./graph-web.ts";

export const WEB_PARAMETERS = {
  siteSizeExponent: 1.8,
  /** Of all pages, the most that one site has. */
  siteShareMax: 0.01,
  linksInside: 9,
  linksAbroad: 1,
  inLinkExponent: 2.1,
  /** How many times likelier the next in popularity is a home page than another page. */
  homeWeight: 20,
  linksUnderEnding: 0.5,
} as const;

/** Endings of hosts, and how many of a hundred sites have each. */
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
/** In-links with exponent a fall with the rank as rank^-(1 / (a − 1)); this is 1 less that. */
const SKEW = 1 - 1 / (WEB_PARAMETERS.inLinkExponent - 1);

interface Sites {
  /** Of each site the number of its home page; one more at the end. */
  readonly firsts: readonly number[];
  readonly endings: readonly number[];
}

export function syntheticWeb(seed: number, pageCount: number): GraphWeb {
  const random = randomFrom(seed);
  const sites = makeSites(random, pageCount);
  const popular = pagesByPopularity(random, sites, pageCount);
  const { linksInside, linksAbroad } = WEB_PARAMETERS;
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
      for (let left = aroundMean(random, linksAbroad); left > 0; left--) {
        const isNear = random.next() < WEB_PARAMETERS.linksUnderEnding;
        builder.link(drawPopular(random, isNear ? near : popular.all));
      }
    }
  }
  return builder.web(`synthetic ${pageCount}`, urlsOf(sites));
}

/** Sizes by the power law until all pages are on some site. */
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

/** Every page, the most popular first: chance decides, with more weight on home pages. */
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

/** By the power law from the first place to the last: the inverse of its sum, as an integral. */
function drawPopular(random: Random, pages: Uint32Array): number {
  const sum = (pages.length + 1) ** SKEW - 1;
  const place = Math.floor((1 + random.next() * sum) ** (1 / SKEW)) - 1;
  return pages[Math.min(place, pages.length - 1)] as number;
}

/** Home mostly once, otherwise rather to pages near it. */
function placeInside(random: Random, size: number): number {
  if (random.next() < HOME_LINK_SHARE / WEB_PARAMETERS.linksInside) return 0;
  return Math.floor(size * random.next() ** 2);
}

/** A count that is 0 or more, most often small, with this mean: geometric. */
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
