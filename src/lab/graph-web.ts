/**
 * A web as a link graph of page numbers, for simulating many processes over millions of pages.
 *
 * Memory: 4 bytes per link and about 150 per page, most of them for the URL.
 */

import { assert } from "../base/assert.ts";
import { fingerprintOf } from "../url/fingerprint.ts";
import { siteOf } from "../url/site.ts";
import type { CanonicalUrl } from "../url/url.ts";

export interface GraphWeb {
  readonly name: string;
  readonly pageCount: number;
  /** Page n links to targets[offsets[n]] … targets[offsets[n + 1] - 1], each once and never to itself. */
  readonly offsets: Uint32Array;
  readonly targets: Uint32Array;
  readonly urls: readonly CanonicalUrl[];
  readonly high: Uint32Array;
  readonly low: Uint32Array;
}

/** Builds a graph from pages in order, each followed by its links. */
export class GraphBuilder {
  readonly #offsets: Uint32Array;
  readonly #pageCount: number;
  /** By target, the last page that links to it, so that repeated links count once. */
  readonly #lastFrom: Uint32Array;
  #targets: Uint32Array;
  #pages = 0;
  #links = 0;

  constructor(pageCount: number, linksExpected: number) {
    this.#pageCount = pageCount;
    this.#offsets = new Uint32Array(pageCount + 1);
    this.#lastFrom = new Uint32Array(pageCount);
    this.#targets = new Uint32Array(linksExpected);
  }

  /** Starts the next page; its links follow. */
  beginPage(): void {
    this.#offsets[this.#pages] = this.#links;
    this.#pages += 1;
    this.#lastFrom[this.#pages - 1] = this.#pages;
  }

  link(target: number): void {
    if (this.#lastFrom[target] === this.#pages) return;
    this.#lastFrom[target] = this.#pages;
    if (this.#links === this.#targets.length) this.#grow();
    this.#targets[this.#links] = target;
    this.#links += 1;
  }

  web(name: string, urls: readonly CanonicalUrl[]): GraphWeb {
    const pageCount = this.#pageCount;
    assert(this.#pages === pageCount && urls.length === pageCount, "every page was added");
    this.#offsets[pageCount] = this.#links;
    const high = new Uint32Array(pageCount);
    const low = new Uint32Array(pageCount);
    for (const [page, url] of urls.entries()) {
      const fingerprint = fingerprintOf(url);
      high[page] = fingerprint.high;
      low[page] = fingerprint.low;
    }
    const targets = this.#targets.subarray(0, this.#links);
    return { name, pageCount, offsets: this.#offsets, targets, urls, high, low };
  }

  #grow(): void {
    const larger = new Uint32Array(2 * this.#targets.length + 1024);
    larger.set(this.#targets);
    this.#targets = larger;
  }
}

/** Which links count: all, or only those from other sites, which a site cannot make for itself. */
export type Counted = "all" | "between sites";

/** Number of pages that link to each page. */
export function inLinksOf(web: GraphWeb, counted: Counted = "all"): Uint32Array {
  const { pageCount, offsets, targets } = web;
  const sites = counted === "all" ? undefined : siteNumbers(web);
  const counts = new Uint32Array(pageCount);
  for (let page = 0; page < pageCount; page++) {
    const end = offsets[page + 1] as number;
    for (let link = offsets[page] as number; link < end; link++) {
      const target = targets[link] as number;
      if (sites === undefined || sites[page] !== sites[target])
        counts[target] = (counts[target] as number) + 1;
    }
  }
  return counts;
}

/** The number of each page's site. */
export function siteNumbers({ urls }: GraphWeb): Uint32Array {
  const numbers = new Map<string, number>();
  return Uint32Array.from(urls, (url) => {
    const site = siteOf(url);
    const number = numbers.get(site) ?? numbers.size;
    numbers.set(site, number);
    return number;
  });
}

/** The pages with the most links to them, best first; ties in the order of their numbers. */
export function mostLinked(counts: Uint32Array, countMax: number): Uint32Array {
  const pages = Uint32Array.from(counts.keys());
  pages.sort((a, b) => (counts[b] as number) - (counts[a] as number) || a - b);
  return pages.slice(0, countMax);
}

/** The subgraph of the pages that are kept. */
export function partOf(web: GraphWeb, name: string, isKept: (page: number) => boolean): GraphWeb {
  const { pageCount, offsets, targets, urls } = web;
  const kept: number[] = [];
  const numbers = new Int32Array(pageCount).fill(-1);
  for (let page = 0; page < pageCount; page++)
    if (isKept(page)) numbers[page] = kept.push(page) - 1;
  const builder = new GraphBuilder(kept.length, targets.length >> 1);
  for (const page of kept) {
    builder.beginPage();
    const end = offsets[page + 1] as number;
    for (let link = offsets[page] as number; link < end; link++) {
      const number = numbers[targets[link] as number] as number;
      if (number >= 0) builder.link(number);
    }
  }
  return builder.web(
    name,
    kept.map((page) => urls[page] as CanonicalUrl),
  );
}
