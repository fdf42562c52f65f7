/**
 * Runs a crawl in virtual time: the production loops on a simulated web, disk and name service that
 * fail from a seed. The process is killed and resumed, then the checkers run.
 *
 * Promise: the same plan always gives the same report, its trace hash included.
 */

import { createHash } from "node:crypto";
import { assert } from "../base/assert.ts";
import { CrawlError } from "../base/errors.ts";
import { silentLog } from "../base/log.ts";
import { below, type Random, randomFrom } from "../base/random.ts";
import type { Settings } from "../config/schema.ts";
import { defaultSettings } from "../config/sources.ts";
import { startCrawl } from "../crawl/crawl.ts";
import type { CrawlParts } from "../crawl/context.ts";
import { plainLine } from "../crawl/limit/link-budget.ts";
import { fetcherOptions } from "../crawl/open.ts";
import type { CrawlResult } from "../control/snapshot.ts";
import { Fetcher } from "../fetch/fetcher.ts";
import type { TransportRequest } from "../fetch/transport.ts";
import type { Store, Totals } from "../store/store.ts";
import type { CanonicalUrl } from "../url/url.ts";
import type { Violation } from "./violation.ts";
import { inVersion } from "./ageing.ts";
import { type Conduct, conductOf, FaultSource } from "./faults.ts";
import { judge } from "./judge.ts";
import { type RequestEntry, RequestLog } from "./request-log.ts";
import { SimClock } from "./sim-clock.ts";
import type { Ending } from "./sim-exchange.ts";
import { Outages } from "./outages.ts";
import { MemoryDisk } from "./memory-disk.ts";
import { openSimOutput, SimArchive } from "./sim-output.ts";
import { SimResolver } from "./sim-resolver.ts";
import { SimTransport } from "./sim-transport.ts";
import { seedUrls, siteNamed } from "./world.ts";
import { makeWorld, type World, type WorldPlan } from "./world/plan.ts";

/** What {@link runSim} simulates; all but the seed have defaults without faults. */
export interface SimPlan {
  readonly seed: number;
  readonly world: Partial<WorldPlan>;
  readonly settings: Partial<Settings>;
  /** Shares of requests, lookups and commits that fail. */
  readonly faultShare: number;
  readonly dnsFaultShare: number;
  readonly diskFullShare: number;
  /** Number of times that the process is killed and restarted, unless it ends first. */
  readonly crashes: number;
  /** Number of times that the wall clock is set, by up to ten years. */
  readonly wallJumps: number;
  /** The rate of the line that all requests share; undefined when only the servers are slow. */
  readonly linkBps: number | undefined;
  /** Whether sites, the own link and the name server fail for up to two hours. */
  readonly hasOutages: boolean;
  /** A crawl that ends incomplete is started again so much later, as often as it takes; undefined for never. */
  readonly startAgainMs: number | undefined;
  /** Version of a page at an age of the crawl; undefined when no page changes. */
  readonly versionAt: ((url: string, ageMs: number) => number) | undefined;
  /** Replaces parts of the crawl, to plant a fault that the checkers must find. */
  readonly plant: (parts: CrawlParts) => CrawlParts;
}

/** What happened in a simulation, and which promises were broken. */
export interface SimReport {
  /** Hash over every request with its times and end, and over the totals. */
  readonly traceHash: string;
  readonly violations: readonly Violation[];
  readonly totals: Totals;
  /** Result of the run that was not killed. */
  readonly result: CrawlResult | undefined;
  readonly virtualMs: number;
  readonly events: number;
  readonly log: readonly RequestEntry[];
  readonly crashedAtMs: readonly number[];
  /** Runs that ended with work left, and were followed by another. */
  readonly incompleteRuns: number;
  /** URLs that always fail, and the status of their answers. */
  readonly failingUrls: ReadonlyMap<string, number>;
  /** Pages that were stored although a failure was charged to their URL. */
  readonly chargedPages: readonly string[];
}

const CALM: Omit<SimPlan, "seed"> = {
  world: {},
  settings: {},
  faultShare: 0,
  dnsFaultShare: 0,
  diskFullShare: 0,
  crashes: 0,
  wallJumps: 0,
  linkBps: undefined,
  hasOutages: false,
  startAgainMs: undefined,
  versionAt: undefined,
  plant: (parts) => parts,
};

/** A crawl longer than this is considered endless. */
const ENDLESS_MS = 30 * 86_400_000;
const TEN_YEARS_MS = 10 * 365 * 86_400_000;
/** Kills by time happen within this time of a start. */
const CRASH_WITHIN_MS = 20_000;
/** Kills by commit happen within this number of commits of a start. */
const CRASH_WITHIN_COMMITS = 50;
const RESTART_WITHIN_MS = 3_000;
/** Small tables, because the worlds are small and thousands of crawls are started. */
const MEMORY_BYTES = 8 * 1024 * 1024;

/**
 * Simulates a crawl of a synthetic web in virtual time: hours take seconds, and the same plan gives the same report.
 *
 * @example
 * import { runSim } from "weir/lab";
 *
 * const { result, virtualMs, violations } = await runSim({
 *   seed: 1,
 *   world: { siteCount: 3, pagesMax: 40 },
 *   settings: { limitBps: 100_000, delayMs: 500 },
 *   faultShare: 0.02,
 *   crashes: 1,
 * });
 * console.log(`${result?.pages} pages in ${virtualMs / 60_000} minutes`, violations);
 */
export async function runSim(
  wanted: Partial<SimPlan> & { readonly seed: number },
): Promise<SimReport> {
  return new Simulation({ ...CALM, ...wanted }).run();
}

class Simulation {
  readonly #plan: SimPlan;
  readonly #world: World;
  readonly #settings: Settings;
  readonly #random: Random;
  readonly #faults: FaultSource;
  readonly #clock = new SimClock();
  readonly #startMs = this.#clock.nowMs();
  readonly #outages: Outages | undefined;
  readonly #disk = new MemoryDisk();
  readonly #archive = new SimArchive();
  readonly #log = new RequestLog();
  readonly #trace = createHash("sha256");
  readonly #crashedAtMs: number[] = [];
  #result: CrawlResult | undefined;
  #incompleteRuns = 0;
  /** Callbacks that end the requests that are open at the servers. */
  readonly #open = new Set<(ending: Ending | undefined) => void>();

  constructor(plan: SimPlan) {
    this.#plan = plan;
    this.#world = makeWorld({ seed: plan.seed, ...plan.world });
    this.#settings = { ...defaultSettings(), memoryBytes: MEMORY_BYTES, ...plan.settings };
    this.#random = randomFrom(plan.seed);
    if (plan.hasOutages) this.#outages = new Outages(randomFrom(plan.seed + 2), this.#world);
    this.#faults = new FaultSource(randomFrom(plan.seed + 1), plan.faultShare);
  }

  async run(): Promise<SimReport> {
    for (;;) {
      const end = await this.#runOnce();
      const isIncomplete = end === "done" && this.#result?.complete !== true;
      if (end === "crashed") {
        this.#cleanUp();
        await this.#clock.runFor(this.#random.next() * RESTART_WITHIN_MS);
      } else if (isIncomplete && this.#plan.startAgainMs !== undefined) {
        this.#incompleteRuns += 1;
        await this.#clock.runFor(this.#plan.startAgainMs);
      } else break;
    }
    const books = this.#disk.open();
    const { totals } = books;
    this.#trace.update(JSON.stringify(totals));
    return {
      traceHash: this.#trace.digest("hex"),
      violations: this.#judge(books),
      totals,
      result: this.#result,
      virtualMs: this.#clock.nowMs() - this.#startMs,
      events: this.#clock.events,
      log: this.#log.entries,
      crashedAtMs: this.#crashedAtMs,
      incompleteRuns: this.#incompleteRuns,
      failingUrls: this.#outages?.failingUrls ?? new Map(),
      chargedPages: chargedPages(books),
    };
  }

  /** Runs the process once, until it ends or is killed. */
  async #runOnce(): Promise<"done" | "crashed"> {
    const killed = Promise.withResolvers<"crashed">();
    let isKilled = false;
    const store = this.#openStore(() => {
      isKilled = true;
      killed.resolve("crashed");
    });
    try {
      const handle = startCrawl(this.#plan.plant(this.#partsOf(store)));
      const cancelEndless = this.#clock.after(ENDLESS_MS, () => handle.stop("endless"));
      this.#scheduleJumps();
      const done = handle.done.then((result) => {
        this.#result = result;
        return "done" as const;
      });
      const end = await this.#clock.runUntil(Promise.race([done, killed.promise]));
      cancelEndless();
      if (end === "crashed") return end;
    } catch (error) {
      // Errors of a killed process are expected.
      if (isKilled) return "crashed";
      // Stopped while the disk was full: the same command resumes.
      if (error instanceof CrawlError && error.code === "DISK_FULL") {
        this.#disk.crash();
        return "crashed";
      }
      throw error;
    }
    await store.close();
    return "done";
  }

  #partsOf(store: Store): CrawlParts {
    const clock = this.#clock;
    const world = this.#world;
    const resolver = new SimResolver(clock, world, this.#random, this.#plan.dnsFaultShare);
    resolver.isDown = () => this.#outages?.areNamesDown(this.#ageMs) ?? false;
    const transport = new SimTransport({
      clock,
      conductOf: (request) => this.#conductOf(request),
      watch: (request) => this.#watch(request),
      ...(this.#plan.linkBps === undefined ? {} : { linkBps: this.#plan.linkBps }),
    });
    return {
      settings: this.#settings,
      // A world writes its URLs in canonical form.
      seeds: seedUrls(world) as CanonicalUrl[],
      clock,
      random: this.#random,
      store,
      resolver,
      fetcher: new Fetcher({ clock, resolver, transport, ...fetcherOptions(this.#settings) }),
      output: openSimOutput(this.#archive, clock, store.marks),
      log: silentLog,
      hooks: {},
      line: plainLine(this.#settings, transport),
    };
  }

  /** Half of the kills happen at a commit, the others at a random time. */
  #openStore(onCrash: () => void): Store {
    const random = this.#random;
    const isDoomed = this.#crashedAtMs.length < this.#plan.crashes;
    const isAtCommit = random.next() < 0.5;
    if (isDoomed && !isAtCommit) {
      this.#clock.after(random.next() * CRASH_WITHIN_MS, () => {
        this.#disk.crash();
        onCrash();
      });
    }
    return this.#disk.openWith({
      random,
      crashAtCommit: isDoomed && isAtCommit ? 1 + below(random, CRASH_WITHIN_COMMITS) : undefined,
      fullShare: this.#plan.diskFullShare,
      onCrash,
    });
  }

  /** Drops the timers of the killed process and ends its connections at the servers. */
  #cleanUp(): void {
    this.#crashedAtMs.push(this.#clock.nowMs());
    this.#clock.forget();
    for (const end of this.#open) end(undefined);
  }

  #scheduleJumps(): void {
    for (let count = 0; count < this.#plan.wallJumps; count++) {
      const byMs = (2 * this.#random.next() - 1) * TEN_YEARS_MS;
      this.#clock.after(this.#random.next() * CRASH_WITHIN_MS, () => this.#clock.jumpWall(byMs));
    }
  }

  /** Since the first start. */
  get #ageMs(): number {
    return this.#clock.nowMs() - this.#startMs;
  }

  #conductOf(request: TransportRequest): Conduct {
    const site = siteNamed(this.#world, request.host);
    assert(site !== undefined, "only names of the world have addresses");
    const etag = request.headers.find(([name]) => name.toLowerCase() === "if-none-match")?.[1];
    const { path } = request;
    const { versionAt } = this.#plan;
    const fault = this.#faults.draw(site.origin, path);
    const worldRequest = { site, path, etag, wallMs: this.#clock.wallMs() };
    if (versionAt === undefined) {
      const conduct = conductOf(this.#world, worldRequest, fault);
      return this.#outages?.conductOf(conduct, site.origin, path, this.#ageMs) ?? conduct;
    }
    const version = versionAt(site.origin + path, this.#ageMs);
    return inVersion(
      conductOf(this.#world, { ...worldRequest, etag: undefined }, fault),
      version,
      etag,
    );
  }

  #watch({ scheme, host, address, path }: TransportRequest): (ending: Ending) => void {
    const site = `${scheme}://${host}`;
    const startMs = this.#clock.nowMs();
    const record = this.#log.begin({ site, address, path, startMs });
    const end = (ending: Ending | undefined): void => {
      this.#open.delete(end);
      const endMs = this.#clock.nowMs();
      const status = ending?.kind === "answer" ? ending.status : 0;
      record({ endMs, status, whole: status > 0 });
      const outcome = ending?.kind === "failed" ? ending.reason : status;
      this.#trace.update(`${site}${path} ${startMs} ${endMs} ${outcome}\n`);
    };
    this.#open.add(end);
    return end;
  }

  #judge(books: Store): Violation[] {
    return judge({
      world: this.#world,
      settings: this.#settings,
      books,
      log: this.#log.entries,
      archived: this.#archive.records.map(({ url }) => url),
      crashedAtMs: this.#crashedAtMs,
      toleranceMs: 0,
    });
  }
}

function chargedPages(books: Store): string[] {
  const charged: string[] = [];
  for (const { url, reason, attempts } of books.urls())
    if (reason === "ok" && attempts > 0) charged.push(url);
  return charged;
}
