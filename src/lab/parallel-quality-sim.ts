/**
 * Measures the quality of a crawl by many processes that fetch the most linked pages first, and the cost of
 * exchanging links for it.
 *
 * Each process fetches its own page with the most known links. Links to other processes' pages are merged in a
 * production batch, which is sent at `exchanges` times, spread evenly over the crawl. With 0 exchanges this is
 * firewall mode.
 */

import { assert } from "../base/assert.ts";
import { OutgoingBatch } from "../partition/batch.ts";
import { communicationOverhead, quality } from "../partition/metrics.ts";
import { type Counted, type GraphWeb, inLinksOf, mostLinked, siteNumbers } from "./graph-web.ts";
import { PageQueue } from "./page-queue.ts";
import type { Division } from "./parallel-sim.ts";

interface QualityRules {
  /** The crawl ends after this number of pages. */
  readonly pages: number;
  /** Number of times that all processes send their batches. */
  readonly exchanges: number;
  readonly importance: Importance;
}

/** The measure of importance, and the pages ranked by it. */
interface Importance {
  readonly counted: Counted;
  readonly inLinks: Uint32Array;
  /** All pages, best first. */
  readonly ranked: Uint32Array;
  /** By page, its site, whose own links do not count; undefined when all links count. */
  readonly sites: Uint32Array | undefined;
}

interface QualityFound {
  readonly downloads: number;
  readonly quality: number;
  /** URLs (with link counts) sent per page. */
  readonly overhead: number;
}

export function importanceIn(web: GraphWeb, counted: Counted): Importance {
  const inLinks = inLinksOf(web, counted);
  const ranked = mostLinked(inLinks, web.pageCount);
  return { counted, inLinks, ranked, sites: counted === "all" ? undefined : siteNumbers(web) };
}

export function crawlForQuality(
  web: GraphWeb,
  division: Division,
  seeds: readonly (readonly number[])[],
  rules: QualityRules,
): QualityFound {
  const crawl = new BacklinkCrawl(web, division, rules);
  for (const pages of seeds) for (const page of pages) crawl.addLinks(page, 0);
  for (let exchange = 1; exchange <= rules.exchanges; exchange++) {
    crawl.runUntil(Math.floor((rules.pages * exchange) / (rules.exchanges + 1)));
    crawl.exchange();
  }
  crawl.runUntil(rules.pages);
  const got = new Set(crawl.fetched);
  return {
    downloads: got.size,
    quality: quality(bestOf(rules.importance, rules.pages, got), got),
    overhead: communicationOverhead(crawl.urlsSent, got.size),
  };
}

/** The best pages; among ties for the last places, fetched pages are preferred. */
function bestOf(
  { inLinks, ranked }: Importance,
  count: number,
  got: ReadonlySet<number>,
): Set<number> {
  const least = inLinks[ranked[count - 1] as number] as number;
  const best = new Set<number>();
  const equal: number[] = [];
  for (const page of ranked) {
    const links = inLinks[page] as number;
    if (links < least) break;
    if (links > least) best.add(page);
    else equal.push(page);
  }
  for (const isGot of [true, false])
    for (const page of equal) if (best.size < count && got.has(page) === isGot) best.add(page);
  return best;
}

class BacklinkCrawl {
  readonly fetched: number[] = [];
  urlsSent = 0;
  readonly #web: GraphWeb;
  readonly #division: Division;
  readonly #sends: boolean;
  readonly #queues: readonly MostLinkedQueue[];
  readonly #batches: readonly OutgoingBatch[];
  readonly #pageOf = new Map<string, number>();
  /** By page, the links that its owner knows. */
  readonly #counts: Uint32Array;
  readonly #isFetched: Uint8Array;
  readonly #sites: Uint32Array | undefined;
  #turn = 0;

  constructor(web: GraphWeb, division: Division, { exchanges, importance }: QualityRules) {
    this.#web = web;
    this.#division = division;
    this.#sends = exchanges > 0;
    this.#sites = importance.sites;
    this.#counts = new Uint32Array(web.pageCount);
    this.#isFetched = new Uint8Array(web.pageCount);
    this.#queues = division.names.map(() => new MostLinkedQueue(this.#counts, this.#isFetched));
    this.#batches = division.names.map(
      () => new OutgoingBatch({ pagesMax: Infinity, linksMax: Infinity }),
    );
  }

  /** Adds links to a page that its owner has learned of. */
  addLinks(page: number, links: number): void {
    if (this.#isFetched[page] === 1) return;
    this.#counts[page] = (this.#counts[page] as number) + links;
    this.#queues[this.#division.owners[page] as number]?.push(page);
  }

  /** Downloads until this number of pages is reached, or no process knows any more. */
  runUntil(pages: number): void {
    const { procs } = this.#division;
    for (let dry = 0; dry < procs && this.fetched.length < pages; this.#turn += 1) {
      const proc = this.#turn % procs;
      const page = this.#queues[proc]?.pop();
      dry = page === undefined ? dry + 1 : 0;
      if (page !== undefined) this.#download(proc, page);
    }
  }

  exchange(): void {
    for (const batch of this.#batches)
      for (const links of batch.takeAll().values())
        for (const { url, count } of links) {
          const page = this.#pageOf.get(url);
          assert(page !== undefined, "a sent URL is a page");
          this.urlsSent += 1;
          this.addLinks(page, count);
        }
  }

  #download(proc: number, page: number): void {
    const { offsets, targets } = this.#web;
    const { owners } = this.#division;
    this.#isFetched[page] = 1;
    this.fetched.push(page);
    const end = offsets[page + 1] as number;
    for (let link = offsets[page] as number; link < end; link++) {
      const target = targets[link] as number;
      const isWithinSite = this.#sites !== undefined && this.#sites[target] === this.#sites[page];
      if (owners[target] === proc) this.addLinks(target, isWithinSite ? 0 : 1);
      else if (this.#sends) this.#send(proc, target);
    }
  }

  #send(proc: number, target: number): void {
    const { urls, high, low } = this.#web;
    const url = urls[target] as (typeof urls)[number];
    this.#pageOf.set(url, target);
    const owner = this.#division.names[this.#division.owners[target] as number] as string;
    const halves = { high: high[target] as number, low: low[target] as number };
    this.#batches[proc]?.add(owner, { url, ...halves, depth: 0, redirects: 0, score: 0 });
  }
}

/** Counts above this are treated as equal, because such a page is next in any case. */
const COUNT_MAX = 4096;

/** Returns the page with the most links first; among ties, the one that reached its count first. */
class MostLinkedQueue {
  readonly #counts: Uint32Array;
  readonly #isFetched: Uint8Array;
  readonly #byCount: PageQueue[] = [];
  #most = 0;

  constructor(counts: Uint32Array, isGot: Uint8Array) {
    this.#counts = counts;
    this.#isFetched = isGot;
  }

  /** Adds a page again each time its count grows; `pop` skips its earlier entries. */
  push(page: number): void {
    const count = this.#placeOf(page);
    let queue = this.#byCount[count];
    if (queue === undefined) this.#byCount[count] = queue = new PageQueue();
    queue.push(page);
    this.#most = Math.max(this.#most, count);
  }

  pop(): number | undefined {
    for (; this.#most >= 0; this.#most--) {
      const queue = this.#byCount[this.#most];
      for (let page = queue?.shift(); page !== undefined; page = queue?.shift())
        if (this.#isFetched[page] === 0 && this.#placeOf(page) === this.#most) return page;
    }
    this.#most = 0;
    return undefined;
  }

  #placeOf(page: number): number {
    return Math.min(COUNT_MAX, this.#counts[page] as number);
  }
}
