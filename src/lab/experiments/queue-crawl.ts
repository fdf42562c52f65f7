/**
 * Crawls a queue that is fixed beforehand, as the paper on bounded bandwidth did, so that ways of
 * holding a limit can be compared on the very same work; in virtual time, with the production loops.
 *
 * No links are followed, nothing is asked for but the queue's URLs. The rate is what a counter at the
 * interface sees. The speeds of servers are learnt in a warm-up that is not watched.
 *
 * The paper's queue is one row of URLs, so that one that does not fit stands in the way of all behind
 * it. Weir's is a row of sites, and a site that has to wait keeps only its own URLs waiting. To crawl the
 * paper's row with Weir, every URL gets a host of its own; what its server gives is the same.
 */

import { assert } from "../../base/assert.ts";
import { silentLog } from "../../base/log.ts";
import { below, type Random, randomFrom } from "../../base/random.ts";
import type { Settings } from "../../config/schema.ts";
import { defaultSettings } from "../../config/sources.ts";
import { type CrawlHandle, type CrawlParts, startCrawl } from "../../crawl/crawler.ts";
import { plainLine } from "../../crawl/line.ts";
import { fetcherOptions } from "../../crawl/open.ts";
import { Fetcher } from "../../fetch/fetcher.ts";
import type { TransportRequest } from "../../fetch/transport.ts";
import { openMemoryStore } from "../../store/store-memory.ts";
import type { CanonicalUrl } from "../../url/url.ts";
import { type Conduct, conductOf, FaultSource } from "../faults.ts";
import { SimClock } from "../sim-clock.ts";
import { SimResolver } from "../sim-resolver.ts";
import { SimTransport } from "../sim-transport.ts";
import { SimWire } from "../sim-wire.ts";
import { siteNamed } from "../world.ts";
import { namedSites, type Naming } from "../world/naming.ts";
import { bytesOf, pathOf } from "../world/page.ts";
import { makeWorld, type World, type WorldPlan } from "../world/plan.ts";
import { siteAt } from "../world/site.ts";
import { RankWatch } from "./rank-watch.ts";

/** What is to be crawled, and how. */
export interface WorkPlan {
  readonly seed: number;
  readonly world: Partial<WorldPlan>;
  readonly settings: Partial<Settings>;
  readonly pagesPerSite: number;
  /** A row of URLs, drawn at random, as in the paper; or Weir's row of sites, each with its own. */
  readonly queue: "urls" | "sites";
  /** The share of requests that go wrong. */
  readonly faultShare?: number;
  /** What somebody does to the crawl while it runs; called at its beginning. */
  readonly attend?: (handle: CrawlHandle, clock: SimClock) => void;
  /** Changes what the crawl is given: for planting a mistake that a checker must find. */
  readonly plant?: (parts: CrawlParts) => CrawlParts;
}

/** All of the watched seconds only. */
export interface QueuePlan extends WorkPlan {
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

export interface QueueReport {
  /** Bytes that arrived in each tenth of a second. */
  readonly tenths: readonly number[];
  /** What the crawl expected to take, at the beginning of each second. */
  readonly predictedBps: readonly number[];
  readonly rankInversion: number;
  readonly requests: number;
}

const TENTHS_IN_SECOND = 10;
/** Every page is a page: no copies, no redirects, no closed doors. */
const PLAIN_PAGES = {
  copyShare: 0,
  nearCopyShare: 0,
  movedShare: 0,
  goneShare: 0,
  forbiddenShare: 0,
} satisfies Partial<WorldPlan>;
/** The queue and nothing else, as fast as the limit allows. */
const QUEUE_ONLY = {
  depthMax: 0,
  ignoreRobots: true,
  sitemaps: false,
  nearDuplicates: false,
  delayMs: 0,
  addressDelayMs: 0,
  packetOverhead: 0,
  timeZone: "UTC",
} satisfies Partial<Settings>;

export async function crawlQueue(plan: QueuePlan): Promise<QueueReport> {
  const { warmUpSeconds, seconds } = plan;
  const world = worldFor(plan);
  const clock = new SimClock();
  const wire = new SimWire(clock.nowMs());
  const queue = queueOf(world, plan);
  const ranks = new RankWatch(queue);
  const watch = ({ host, path }: TransportRequest): (() => void) => {
    ranks.begin(`http://${host}${path}`);
    return () => {};
  };
  const handle = start({ plan, world, clock, queue }, { wire, watch });
  plan.attend?.(handle, clock);
  await clock.runFor(warmUpSeconds * 1000);
  ranks.forget();
  const predictedBps: number[] = [];
  for (let second = 0; second < seconds; second++) {
    predictedBps.push(handle.snapshot().predictedBps);
    await clock.runFor(1000);
  }
  assert(ranks.waiting > 0, "a queue that runs dry measures nothing");
  const from = warmUpSeconds * TENTHS_IN_SECOND;
  const length = seconds * TENTHS_IN_SECOND;
  const tenths = Array.from({ length }, (_, tenth) => wire.tenths[from + tenth] ?? 0);
  const report = {
    tenths,
    predictedBps,
    rankInversion: ranks.meanInversion,
    requests: ranks.requests,
  };
  handle.stop("the experiment is over");
  await clock.runUntil(handle.done);
  return report;
}

export interface WholeReport {
  /** Of the pages alone, without headers. */
  readonly bytes: number;
  readonly seconds: number;
}

/** Crawls all pages of one site, and nothing else, to the end. */
export async function crawlWhole(plan: WorkPlan, siteIndex: number): Promise<WholeReport> {
  const world = worldFor(plan);
  const site = siteAt(world, siteIndex);
  const pages = Array.from({ length: plan.pagesPerSite }, (_, page) => page);
  // A world writes its URLs in canonical form.
  const queue = pages.map((page) => (site.origin + pathOf(world, site, page)) as CanonicalUrl);
  const clock = new SimClock();
  const startMs = clock.nowMs();
  const wire = new SimWire(startMs);
  const handle = start({ plan, world, clock, queue }, { wire, watch: () => () => {} });
  await clock.runUntil(handle.done);
  return {
    bytes: pages.reduce((sum, page) => sum + bytesOf(world, site, page), 0),
    seconds: (clock.nowMs() - startMs) / 1000,
  };
}

function worldFor({ seed, world, queue, pagesPerSite }: WorkPlan): World {
  const sizes = { pagesMin: pagesPerSite, pagesMax: pagesPerSite };
  const wanted = { ...PLAIN_PAGES, ...world, ...sizes, seed };
  return makeWorld(wanted, queue === "urls" ? manyHosts() : undefined);
}

interface Setting {
  readonly plan: WorkPlan;
  readonly world: World;
  readonly clock: SimClock;
  readonly queue: readonly CanonicalUrl[];
}

interface Witnesses {
  readonly wire: SimWire;
  readonly watch: (request: TransportRequest) => () => void;
}

function start({ plan, world, clock, queue }: Setting, { wire, watch }: Witnesses): CrawlHandle {
  const settings = { ...defaultSettings(), ...QUEUE_ONLY, ...plan.settings };
  const random = randomFrom(plan.seed);
  const resolver = new SimResolver(clock, world, random);
  const faults = new FaultSource(randomFrom(plan.seed + 1), plan.faultShare ?? 0);
  const conduct = ({ host, path }: TransportRequest): Conduct => {
    const site = siteNamed(world, host);
    assert(site !== undefined, "only names of the world have addresses");
    const asked = { site, path, etag: undefined, wallMs: clock.wallMs() };
    return conductOf(world, asked, faults.draw(site.origin, path));
  };
  const transport = new SimTransport({ clock, wire, conductOf: conduct, watch });
  const parts: CrawlParts = {
    settings,
    seeds: queue,
    clock,
    random,
    store: openMemoryStore(),
    resolver,
    fetcher: new Fetcher({ clock, resolver, transport, ...fetcherOptions(settings) }),
    output: undefined,
    log: silentLog,
    hooks: {},
    // The papers' ways know nothing of windows; theirs are as wide as the system makes them.
    line: plainLine(settings, settings.control === "paced" ? transport : { setWindow: () => {} }),
  };
  return startCrawl(plan.plant?.(parts) ?? parts);
}

/** In turn through all sites: of the first page of each, then of the second, and so on. */
function queueOf(world: World, { seed, queue: kind, pagesPerSite }: QueuePlan): CanonicalUrl[] {
  const sites = Array.from({ length: world.plan.siteCount }, (_, index) => siteAt(world, index));
  const queue: CanonicalUrl[] = [];
  for (let page = 0; page < pagesPerSite; page++)
    for (const site of sites) {
      const origin = kind === "sites" ? site.origin : ownHost(site.origin, page);
      // A world writes its URLs in canonical form.
      queue.push((origin + pathOf(world, site, page)) as CanonicalUrl);
    }
  return kind === "sites" ? queue : shuffled(queue, randomFrom(seed));
}

/** site7.test by as many other names as it has pages: p0.site7.test, p1.site7.test, … */
function manyHosts(): Naming {
  const named = namedSites();
  return { ...named, siteOf: (authority) => named.siteOf(authority.replace(/^p\d+\./, "")) };
}

function ownHost(origin: string, page: number): string {
  return origin.replace("://", `://p${page}.`);
}

/** Fisher and Yates: every order is as likely as any other. */
function shuffled<T>(items: readonly T[], random: Random): T[] {
  const mixed = [...items];
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = below(random, last + 1);
    [mixed[last], mixed[other]] = [mixed[other] as T, mixed[last] as T];
  }
  return mixed;
}
