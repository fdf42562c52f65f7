/**
 * Processes that own contents crawl a web that is only a graph, with the rules of production: a link is followed by
 * whoever has its page, a page that is another's by its content goes to its owner in the next batch, and the owner
 * treats it as its own download. The same URL may be fetched by several.
 *
 * Each process takes its pages in the order they came, one at a time, in turn; a download takes no time and
 * none fails. A process knows a URL once, by a bit; 16 processes over 200,000 pages take a second.
 */

import { assert } from "../base/assert.ts";
import { PageQueue } from "./page-queue.ts";
import type { GraphWeb } from "./graph-web.ts";

export interface ContentCrawl {
  readonly graph: GraphWeb;
  readonly bytes: Uint32Array;
  /** By page, the process that owns its content. */
  readonly owners: Uint8Array;
  readonly procs: number;
  /** Pages leave for their owners after so many of a process; at once where nothing else is to be done. */
  readonly batchPages: number;
  /** By process, the pages that it begins with. */
  readonly seeds: readonly (readonly number[])[];
}

export interface ContentCrawled {
  /** Bytes of pages that a process fetched and keeps, that others fetched for it, and that it gave away. */
  readonly ownBytes: Float64Array;
  readonly importedBytes: Float64Array;
  readonly exportedBytes: Float64Array;
  readonly downloadedBytes: number;
  /** By page, how many processes fetched it. */
  readonly fetchedBy: Uint8Array;
  readonly downloads: number;
  /** Different pages that were got. */
  readonly pages: number;
}

const KNOWN = 1;
const KEPT = 2;

export function crawlContents(crawl: ContentCrawl): ContentCrawled {
  return new ContentCrawlSim(crawl).run();
}

class ContentCrawlSim {
  readonly #crawl: ContentCrawl;
  readonly #queues: readonly PageQueue[];
  /** By process and page: whether it knows the URL, and has its page. */
  readonly #states: readonly Uint8Array[];
  readonly #leaving: readonly PageQueue[];
  readonly #own: Float64Array;
  readonly #imported: Float64Array;
  readonly #exported: Float64Array;
  readonly #fetchedBy: Uint8Array;
  #downloads = 0;
  #downloadedBytes = 0;
  #pages = 0;

  constructor(crawl: ContentCrawl) {
    this.#crawl = crawl;
    const { procs, graph } = crawl;
    const each = Array.from({ length: procs });
    this.#queues = each.map(() => new PageQueue());
    this.#leaving = each.map(() => new PageQueue());
    this.#states = each.map(() => new Uint8Array(graph.pageCount));
    this.#own = new Float64Array(procs);
    this.#imported = new Float64Array(procs);
    this.#exported = new Float64Array(procs);
    this.#fetchedBy = new Uint8Array(graph.pageCount);
  }

  run(): ContentCrawled {
    for (const [proc, pages] of this.#crawl.seeds.entries())
      for (const page of pages) this.#meet(proc, page);
    for (let isBusy = true; isBusy;) {
      isBusy = false;
      for (let proc = 0; proc < this.#crawl.procs; proc++) if (this.#takeTurn(proc)) isBusy = true;
    }
    return {
      ownBytes: this.#own,
      importedBytes: this.#imported,
      exportedBytes: this.#exported,
      downloadedBytes: this.#downloadedBytes,
      fetchedBy: this.#fetchedBy,
      downloads: this.#downloads,
      pages: this.#pages,
    };
  }

  #takeTurn(proc: number): boolean {
    const page = this.#nextOf(proc);
    if (page !== undefined) this.#download(proc, page);
    const leaving = this.#leaving[proc] as PageQueue;
    if (leaving.size === 0) return page !== undefined;
    if (page === undefined || leaving.size >= this.#crawl.batchPages) this.#deliver(leaving);
    return true;
  }

  /** What others have brought meanwhile need not be fetched. */
  #nextOf(proc: number): number | undefined {
    const queue = this.#queues[proc] as PageQueue;
    const state = this.#states[proc] as Uint8Array;
    for (let page = queue.shift(); page !== undefined; page = queue.shift())
      if (state[page] === KNOWN) return page;
    return undefined;
  }

  #download(proc: number, page: number): void {
    const { bytes, owners } = this.#crawl;
    const length = bytes[page] as number;
    this.#downloads += 1;
    this.#downloadedBytes += length;
    this.#fetchedBy[page] = (this.#fetchedBy[page] as number) + 1;
    if (owners[page] === proc) {
      add(this.#own, proc, length);
      this.#keep(proc, page);
    } else {
      add(this.#exported, proc, length);
      this.#leaving[proc]?.push(page);
    }
  }

  #deliver(leaving: PageQueue): void {
    const { owners, bytes } = this.#crawl;
    for (let page = leaving.shift(); page !== undefined; page = leaving.shift()) {
      const owner = owners[page] as number;
      if (((this.#states[owner] as Uint8Array)[page] as number) >= KEPT) continue;
      add(this.#imported, owner, bytes[page] as number);
      this.#keep(owner, page);
    }
  }

  #keep(proc: number, page: number): void {
    const state = this.#states[proc] as Uint8Array;
    assert((state[page] as number) < KEPT, "a page is kept once");
    state[page] = KEPT;
    this.#pages += 1;
    const { offsets, targets } = this.#crawl.graph;
    const behind = offsets[page + 1] as number;
    for (let link = offsets[page] as number; link < behind; link++)
      this.#meet(proc, targets[link] as number);
  }

  #meet(proc: number, page: number): void {
    const state = this.#states[proc] as Uint8Array;
    if (state[page] !== 0) return;
    state[page] = KNOWN;
    this.#queues[proc]?.push(page);
  }
}

function add(sums: Float64Array, place: number, amount: number): void {
  sums[place] = (sums[place] as number) + amount;
}

/** Of the links of each process's pages, the share that stays with the process; and of all links. */
export function localityOf(
  { offsets, targets, pageCount }: GraphWeb,
  owners: Uint8Array,
  procs: number,
): { readonly all: number; readonly byProcess: readonly number[] } {
  const links = new Float64Array(procs);
  const within = new Float64Array(procs);
  for (let page = 0; page < pageCount; page++) {
    const owner = owners[page] as number;
    const behind = offsets[page + 1] as number;
    for (let link = offsets[page] as number; link < behind; link++) {
      add(links, owner, 1);
      if (owners[targets[link] as number] === owner) add(within, owner, 1);
    }
  }
  const byProcess = Array.from(within, (count, proc) => count / Math.max(1, links[proc] as number));
  return { all: sumOf(within) / Math.max(1, sumOf(links)), byProcess };
}

function sumOf(counts: Float64Array): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
