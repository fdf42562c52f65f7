/**
 * The crawl's own work for a store, made up from a seed, and what is needed to measure it.
 *
 * A page brings 80 links: 20 new ones on two sites, and 60 known ones that follow the power law of
 * in-links on the web (exponent 2.1, Broder et al. 2000). A step takes 16 waiting URLs of 4 sites and
 * commits their ends, pages and links together.
 *
 * CPU is that of the main thread inside store calls plus that of all other threads; making up the
 * links is not counted. Times of single calls are by the clock.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { below, randomFrom } from "../src/base/random.ts";
import type { Random } from "../src/base/random.ts";
import type { PageRecord } from "../src/page/page.ts";
import type { Batch, Fingerprints, NewUrl, SiteRow, Store } from "../src/store/store.ts";

const SITES = 5_000;
const TAKES = 4;
const TAKEN_AT_ONCE = 4;
export const LINKS_NEW = 20;
export const LINKS_KNOWN = 60;
/** In-degrees with exponent 2.1 fall with the rank as rank^-(1 / 1.1); this is 1 less 1 / 1.1. */
const RANK_SKEW = 1 - 1 / 1.1;

/** What a store must do to be measured here; ours and its rivals. */
export type LoadedStore = Pick<Store, "waiting" | "lookup" | "close"> & {
  commit(batch: Batch): void | Promise<void>;
};

/** Times of one kind of call, in milliseconds: by the clock, and of this thread's CPU. */
export class Times {
  cpuMs = 0;
  readonly #clock: number[] = [];
  readonly #cpu: number[] = [];
  #startedAtMs = 0;
  #startedAtCpuMs = 0;

  start(): void {
    this.#startedAtCpuMs = ownThreadMs();
    this.#startedAtMs = performance.now();
  }

  stop(): void {
    this.#clock.push(performance.now() - this.#startedAtMs);
    const cpuMs = ownThreadMs() - this.#startedAtCpuMs;
    this.#cpu.push(cpuMs);
    this.cpuMs += cpuMs;
  }

  /** By the clock: what a share of the calls did not exceed. */
  p(share: number): number {
    return quantile(this.#clock, share);
  }

  /** The same of CPU: what it would be on a machine with nothing else to do, but for the disk. */
  pCpu(share: number): number {
    return quantile(this.#cpu, share);
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** The crawl's own work, made up from a seed; `store` sees nothing but what a crawl would ask. */
export class CrawlLoad {
  readonly takes = new Times();
  readonly lookups = new Times();
  readonly commits = new Times();
  readonly #store: LoadedStore;
  readonly #random: Random;
  #known = 0;
  #pages = 0;

  constructor(store: LoadedStore, seed: number) {
    this.#store = store;
    this.#random = randomFrom(seed);
  }

  get known(): number {
    return this.#known;
  }

  /** CPU that the store has cost so far. */
  get cpuMs(): number {
    const own = this.takes.cpuMs + this.lookups.cpuMs + this.commits.cpuMs;
    return own + otherThreadsMs();
  }

  /** One URL for every site. */
  async begin(): Promise<void> {
    const sites = Array.from({ length: SITES }, (_, index) => siteRow(index + 1));
    await this.#commit({ sites, urls: sites.map((site) => this.#newUrl(site.id, 0)) });
  }

  async step(): Promise<void> {
    const sites = new Set<number>();
    while (sites.size < TAKES) sites.add(1 + below(this.#random, SITES));
    const taken = [...sites].flatMap((siteId) => {
      return timed(this.takes, () => this.#store.waiting(siteId, TAKEN_AT_ONCE));
    });
    const urls: NewUrl[] = [];
    for (const { siteId, depth } of taken) {
      const asked = this.#linksOf();
      const ids = timed(this.lookups, () => this.#store.lookup(asked));
      if (ids.filter((id) => id === 0).length !== LINKS_NEW) throw new Error("a wrong answer");
      const other = 1 + below(this.#random, SITES);
      for (let index = 0; index < LINKS_NEW; index++)
        urls.push(this.#newUrl(index < 15 ? siteId : other, depth + 1));
    }
    await this.#commit({
      sites: [...sites].map(siteRow),
      urls,
      settled: taken.map(({ id }) => ({ id, reason: "ok", attempts: 1 })),
      pages: taken.map(({ id }) => pageRecord(id)),
    });
  }

  async #commit(part: Partial<Batch>): Promise<void> {
    this.#pages += part.pages?.length ?? 0;
    const batch: Batch = {
      sites: [],
      urls: [],
      settled: [],
      retried: [],
      rescored: [],
      reopened: [],
      visits: [],
      pages: [],
      topics: [],
      facts: {},
      outgoing: [],
      delivered: [],
      totals: totals(this.#known, this.#pages),
      marks: {},
      ...part,
    };
    this.commits.start();
    await this.#store.commit(batch);
    this.commits.stop();
  }

  /** The new ones first, under unused fingerprints. */
  #linksOf(): Fingerprints {
    const count = LINKS_NEW + LINKS_KNOWN;
    const high = new Uint32Array(count);
    const low = new Uint32Array(count);
    for (let index = 0; index < count; index++) {
      const id = index < LINKS_NEW ? 2 ** 31 + this.#known + index : this.#knownId();
      high[index] = highOf(id);
      low[index] = lowOf(id);
    }
    return { high, low, count };
  }

  /** By the power law, with the oldest as the most popular; none of the batch under way. */
  #knownId(): number {
    const settled = Math.max(1, this.#known - TAKES * TAKEN_AT_ONCE * LINKS_NEW);
    const top = settled ** RANK_SKEW - 1;
    return Math.min(settled, Math.floor((1 + this.#random.next() * top) ** (1 / RANK_SKEW)));
  }

  #newUrl(siteId: number, depth: number): NewUrl {
    const id = ++this.#known;
    return {
      id,
      url: `https://www.site-${siteId}.example.org/section/${id % 97}/a-page-about-something-${id}`,
      fingerprintHigh: highOf(id),
      fingerprintLow: lowOf(id),
      siteId,
      depth,
      score: -depth,
      redirectedFromId: 0,
      redirects: 0,
    };
  }
}

function timed<T>(times: Times, work: () => T): T {
  times.start();
  const result = work();
  times.stop();
  return result;
}

function ownThreadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** CPU of all threads but this one, since the process began. */
function otherThreadsMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 - ownThreadMs();
}

export function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** Runs this or another file with arguments and answers its first line of JSON; kills it after that. */
export async function measuredIn<T>(file: string, args: readonly string[]): Promise<T> {
  const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const isOver = once(child, "exit");
  for await (const line of createInterface(child.stdout)) {
    child.kill("SIGKILL");
    await isOver;
    return JSON.parse(line) as T;
  }
  throw new Error(`${file} ${args.join(" ")} said nothing`);
}

/** Says the result and stays, to be killed in full sail. */
export async function sayAndWait(result: unknown): Promise<never> {
  console.log(JSON.stringify(result));
  for (;;) await new Promise((resolve) => setTimeout(resolve, 1_000));
}

function siteRow(id: number): SiteRow {
  return {
    id,
    key: `https://www.site-${id}.example.org:443`,
    known: 1,
    pending: 1,
    pages: 0,
    bytes: 0,
    ledger: {},
    robots: { status: 200, text: "User-agent: *\nDisallow: /private/\n", fetchedAtMs: 1.7e12 },
    sitemapsRead: true,
    traps: "",
    round: undefined,
  };
}

function pageRecord(id: number): PageRecord {
  const digest = new Uint8Array(
    new Uint32Array(8).map((_, index) => mix(id + index * 7919)).buffer,
  );
  return {
    id,
    status: 200,
    fetchedAtMs: 1.7e12 + id,
    durationMs: 85.5,
    wireBytes: 9_000,
    bodyBytes: 28_000,
    contentType: "text/html",
    charset: "utf-8",
    title: `A page about something, number ${id}`,
    language: "en",
    digest,
    nearHigh: mix(id),
    nearLow: mix(id + 1),
    etag: `"${mix(id).toString(16)}"`,
    lastModified: "Tue, 01 Jul 2025 10:00:00 GMT",
    likeness: undefined,
    remarks: [],
    links: new Uint8Array(8 * (LINKS_NEW + LINKS_KNOWN)).fill(id),
    archived: { file: "weir-00001.warc.gz", offset: id * 9_000, length: 9_000 },
  };
}

function totals(known: number, done: number): Batch["totals"] {
  return {
    known,
    done,
    failed: 0,
    skipped: 0,
    pages: done,
    bytes: done * 9_000,
    ledger: { page: done * 9_000 },
    crawledMs: done,
    usage: "",
    duplicatesExact: 0,
    duplicatesNear: 0,
    outcomes: { ok: done },
    refusedLinks: {},
    remarks: {},
  };
}

export function highOf(id: number): number {
  return mix(id);
}

export function lowOf(id: number): number {
  return mix(id ^ 0x5bd1e995);
}

function mix(number: number): number {
  let word = number >>> 0;
  word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
  return (word ^ (word >>> 15)) >>> 0;
}
