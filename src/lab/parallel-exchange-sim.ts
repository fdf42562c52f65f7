/**
 * Simulates many processes in exchange mode over a link graph, with the production rules for sending.
 *
 * Links to own pages are queued. Links to other pages are dropped when every process knows the page;
 * the rest goes into a batch, which merges repeats and is sent to the owners when it is due. A message
 * arrives before the next page. The processes take turns, one page each, first in, first out.
 */

import { assert } from "../base/assert.ts";
import { OutgoingBatch } from "../partition/batch.ts";
import { HeavyHitters } from "./heavy-hitters.ts";
import { communicationOverhead, coverage, overlap } from "../partition/metrics.ts";
import { FingerprintTable } from "../base/fingerprint-table.ts";
import { type GraphWeb, inLinksOf, mostLinked } from "./graph-web.ts";
import { PageQueue } from "./page-queue.ts";
import type { Division } from "./parallel-sim.ts";

export interface ExchangeRules {
  /** Pages of a process after which its batch is sent; 1 sends after every page. */
  readonly batchPages: number;
  /** Whether a process remembers all URLs it has sent, or only those in the current batch. */
  readonly remembers: "batch" | "all";
  /** Pages that every process knows from the start: each owner starts with its own, and none is sent. */
  readonly popular: FingerprintTable | undefined;
  /**
   * Counters per process for finding popular pages during the crawl: an owner that receives a page as often as
   * there are processes announces it to all of them, and it is not sent any more. 0 disables this.
   */
  readonly finders: number;
}

/** The paper's rules: send after every page, without memory. */
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

/** The pages with the most links to them, as an earlier crawl would report them. */
export function popularIn(web: GraphWeb, count: number): FingerprintTable {
  const popular = new FingerprintTable();
  for (const page of mostLinked(inLinksOf(web), count))
    popular.set(web.high[page] as number, web.low[page] as number, 1);
  return popular;
}

export class ExchangeCrawl {
  readonly #web: GraphWeb;
  readonly #division: Division;
  readonly #rules: ExchangeRules;
  readonly #pageOf: ReadonlyMap<string, number>;
  readonly #queues: readonly PageQueue[];
  readonly #batches: readonly OutgoingBatch[];
  /** By process, one bit for each page that it has sent. */
  readonly #sent: readonly Uint8Array[];
  /** Pages that their owner knows. */
  readonly #known: Uint8Array;
  readonly #fetched: Uint8Array;
  readonly #hitters: readonly HeavyHitters[];
  /** Popular pages that were announced to every process. */
  readonly #announced: Uint8Array;
  #downloads = 0;
  #unique = 0;
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
    this.#fetched = new Uint8Array(web.pageCount);
    this.#announced = new Uint8Array(web.pageCount);
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
      coverage: coverage(this.#unique, this.#web.pageCount),
      overlap: overlap(this.#downloads, this.#unique),
      overhead: communicationOverhead(this.#urlsSent, this.#downloads),
      urlBytesPerPage: communicationOverhead(this.#urlBytesSent, this.#downloads),
    };
  }

  /** Each process starts with the popular pages that it owns. */
  #admitPopular(popular: FingerprintTable): void {
    const { high, low, pageCount } = this.#web;
    for (let page = 0; page < pageCount; page++)
      if (popular.has(high[page] as number, low[page] as number)) this.#admit(page);
  }

  #admit(page: number): void {
    if (this.#known[page] === 1) return;
    this.#known[page] = 1;
    this.#queues[this.#division.owners[page] as number]?.push(page);
  }

  /** Downloads one page, or sends the batch when no page waits. Returns false when there was neither. */
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
    if (this.#fetched[page] === 0) this.#unique += 1;
    this.#fetched[page] = 1;
    const end = offsets[page + 1] as number;
    for (let link = offsets[page] as number; link < end; link++) {
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
    if (this.#announced[target] === 1 || this.#rules.popular?.has(high, low) === true) return;
    if (this.#rules.remembers === "all" && this.#wasSent(proc, target)) return;
    const batch = this.#batches[proc] as OutgoingBatch;
    const owner = this.#division.names[this.#division.owners[target] as number] as string;
    const url = urls[target] as (typeof urls)[number];
    const link = { url, high, low, depth: 0, redirects: 0, score: 0 };
    if (batch.add(owner, link)) return;
    this.#deliver(proc);
    batch.add(owner, link);
  }

  /** Also marks the page as sent. */
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
        assert(page !== undefined, "a sent URL is a page");
        assert(names[owners[page] as number] === owner, "a URL goes to its owner");
        this.#urlsSent += 1;
        this.#urlBytesSent += url.length;
        this.#admit(page);
        const times = this.#hitters[owners[page] as number]?.add(high, low);
        if (times === names.length) this.#announce(page);
      }
  }

  /** Announces a popular page, which costs one URL per other process. */
  #announce(page: number): void {
    if (this.#announced[page] === 1) return;
    this.#announced[page] = 1;
    this.#urlsSent += this.#division.procs - 1;
    this.#urlBytesSent += (this.#division.procs - 1) * (this.#web.urls[page] as string).length;
  }
}

const numbers = new WeakMap<GraphWeb, ReadonlyMap<string, number>>();

/** Cached by web, because many crawls use the same one. */
function numbersOf(web: GraphWeb): ReadonlyMap<string, number> {
  let known = numbers.get(web);
  if (known === undefined)
    numbers.set(web, (known = new Map(web.urls.map((url, page) => [url, page]))));
  return known;
}
