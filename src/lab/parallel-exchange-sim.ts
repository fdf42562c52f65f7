/**
 * Many processes in exchange mode over a web that is only a graph, with the production rules of what is sent: own
 * pages are queued; of the others those known to everybody are left out, the rest goes into the batch, where
 * repeats are merged, and the batch to its owners when it is due.
 *
 * A letter arrives before the next page. Each process takes its pages in the order they came, one at a time, in turn.
 */

import { assert } from "../base/assert.ts";
import { OutgoingBatch } from "../partition/batch.ts";
import { HeavyHitters } from "../partition/heavy-hitters.ts";
import { communicationOverhead, coverage, overlap } from "../partition/metrics.ts";
import { PopularSet } from "../partition/popular.ts";
import { type GraphWeb, inLinksOf, mostLinked } from "./graph-web.ts";
import { PageQueue } from "./page-queue.ts";
import type { Division } from "./parallel-sim.ts";

export interface ExchangeRules {
  /** A batch leaves after so many pages of a process; 1 is at once. */
  readonly batchPages: number;
  /** Whether a process remembers all it has sent, or only the present batch. */
  readonly remembers: "batch" | "all";
  /** Every process knows these, has those of its own to begin with, and sends none. */
  readonly popular: PopularSet | undefined;
  /**
   * With so many counters in each process, popular pages are found on the way: an owner that was sent one as
   * often as there are processes tells all of them, and it is sent no more. 0 for not.
   */
  readonly finders: number;
}

/** As the paper has it: at once, with no memory. */
export const PLAIN_RULES: ExchangeRules = {
  batchPages: 1,
  remembers: "batch",
  popular: undefined,
  finders: 0,
};

export interface Exchanged {
  readonly downloads: number;
  readonly coverage: number;
  readonly overlap: number;
  /** URLs sent per page. */
  readonly overhead: number;
  /** Characters of the URLs sent, per page. */
  readonly urlBytesPerPage: number;
}

const LINKS_MAX = 100_000;

/** The pages that most pages link to, as an earlier crawl would name them. */
export function popularIn(web: GraphWeb, count: number): PopularSet {
  const pages = mostLinked(inLinksOf(web), count);
  return new PopularSet({
    high: pages.map((page) => web.high[page] as number),
    low: pages.map((page) => web.low[page] as number),
  });
}

export class ExchangeCrawl {
  readonly #web: GraphWeb;
  readonly #division: Division;
  readonly #rules: ExchangeRules;
  readonly #pageOf: ReadonlyMap<string, number>;
  readonly #queues: readonly PageQueue[];
  readonly #batches: readonly OutgoingBatch[];
  /** By process, a bit for each page that it has sent. */
  readonly #sent: readonly Uint8Array[];
  /** A page that its owner knows of. */
  readonly #known: Uint8Array;
  readonly #got: Uint8Array;
  readonly #hitters: readonly HeavyHitters[];
  /** A page that everybody was told of. */
  readonly #found: Uint8Array;
  #downloads = 0;
  #different = 0;
  #urlsSent = 0;
  #urlBytesSent = 0;

  constructor(web: GraphWeb, division: Division, rules: ExchangeRules) {
    const { names } = division;
    this.#web = web;
    this.#division = division;
    this.#rules = rules;
    this.#pageOf = numbersOf(web);
    this.#queues = names.map(() => new PageQueue());
    this.#batches = names.map(
      () => new OutgoingBatch({ pagesMax: rules.batchPages, linksMax: LINKS_MAX }),
    );
    const bytes = rules.remembers === "all" ? Math.ceil(web.pageCount / 8) : 0;
    this.#sent = names.map(() => new Uint8Array(bytes));
    this.#known = new Uint8Array(web.pageCount);
    this.#got = new Uint8Array(web.pageCount);
    this.#found = new Uint8Array(web.pageCount);
    this.#hitters = rules.finders === 0 ? [] : names.map(() => new HeavyHitters(rules.finders));
  }

  run(seeds: readonly (readonly number[])[]): Exchanged {
    for (const pages of seeds) for (const page of pages) this.#admit(page);
    const { popular } = this.#rules;
    if (popular !== undefined) this.#admitPopular(popular);
    for (let isBusy = true; isBusy;) {
      isBusy = false;
      for (let proc = 0; proc < this.#queues.length; proc++)
        if (this.#takeTurn(proc)) isBusy = true;
    }
    return {
      downloads: this.#downloads,
      coverage: coverage(this.#different, this.#web.pageCount),
      overlap: overlap(this.#downloads, this.#different),
      overhead: communicationOverhead(this.#urlsSent, this.#downloads),
      urlBytesPerPage: communicationOverhead(this.#urlBytesSent, this.#downloads),
    };
  }

  /** Each process begins with what everybody knows and it owns. */
  #admitPopular(popular: PopularSet): void {
    const { high, low, pageCount } = this.#web;
    for (let page = 0; page < pageCount; page++)
      if (popular.has(high[page] as number, low[page] as number)) this.#admit(page);
  }

  #admit(page: number): void {
    if (this.#known[page] === 1) return;
    this.#known[page] = 1;
    this.#queues[this.#division.owners[page] as number]?.push(page);
  }

  /** One page; or, when there is none, whatever the batch holds. False when there was neither. */
  #takeTurn(proc: number): boolean {
    const page = this.#queues[proc]?.shift();
    const batch = this.#batches[proc] as OutgoingBatch;
    if (page !== undefined) this.#download(proc, page);
    if (batch.isDue || (page === undefined && batch.links > 0)) {
      this.#deliver(proc);
      return true;
    }
    return page !== undefined;
  }

  #download(proc: number, page: number): void {
    const { offsets, targets } = this.#web;
    const { owners } = this.#division;
    this.#downloads += 1;
    if (this.#got[page] === 0) this.#different += 1;
    this.#got[page] = 1;
    const behind = offsets[page + 1] as number;
    for (let link = offsets[page] as number; link < behind; link++) {
      const target = targets[link] as number;
      if (owners[target] === proc) this.#admit(target);
      else this.#offer(proc, target);
    }
    this.#batches[proc]?.endPage();
  }

  #offer(proc: number, target: number): void {
    const { urls, high: highs, low: lows } = this.#web;
    const high = highs[target] as number;
    const low = lows[target] as number;
    if (this.#found[target] === 1 || this.#rules.popular?.has(high, low) === true) return;
    if (this.#rules.remembers === "all" && this.#wasSent(proc, target)) return;
    const batch = this.#batches[proc] as OutgoingBatch;
    const owner = this.#division.names[this.#division.owners[target] as number] as string;
    const url = urls[target] as (typeof urls)[number];
    const link = { url, high, low, depth: 0, redirects: 0, score: 0 };
    if (batch.add(owner, link)) return;
    this.#deliver(proc);
    batch.add(owner, link);
  }

  /** And it is from now on. */
  #wasSent(proc: number, target: number): boolean {
    const sent = this.#sent[proc] as Uint8Array;
    const bit = 1 << (target & 7);
    const before = sent[target >> 3] as number;
    sent[target >> 3] = before | bit;
    return (before & bit) !== 0;
  }

  #deliver(proc: number): void {
    const { names, owners } = this.#division;
    for (const [owner, links] of (this.#batches[proc] as OutgoingBatch).takeAll())
      for (const { url, high, low } of links) {
        const page = this.#pageOf.get(url);
        assert(page !== undefined, "what was sent is a page");
        assert(names[owners[page] as number] === owner, "a URL goes to its owner");
        this.#urlsSent += 1;
        this.#urlBytesSent += url.length;
        this.#admit(page);
        const times = this.#hitters[owners[page] as number]?.add(high, low);
        if (times === names.length) this.#tell(page);
      }
  }

  /** Which costs a URL for each of the others. */
  #tell(page: number): void {
    if (this.#found[page] === 1) return;
    this.#found[page] = 1;
    this.#urlsSent += this.#division.procs - 1;
    this.#urlBytesSent += (this.#division.procs - 1) * (this.#web.urls[page] as string).length;
  }
}

const numbers = new WeakMap<GraphWeb, ReadonlyMap<string, number>>();

/** Made once for each web, since many crawls go over the same. */
function numbersOf(web: GraphWeb): ReadonlyMap<string, number> {
  let known = numbers.get(web);
  if (known === undefined)
    numbers.set(web, (known = new Map(web.urls.map((url, page) => [url, page]))));
  return known;
}
