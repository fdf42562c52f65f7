/**
 * Crawls a fixed queue, as in the paper on bounded bandwidth, so that controls of a limit can be
 * compared on the same work; in virtual time, with the production loops.
 *
 * Only the queue's URLs are requested; links are not followed. The rate is measured at the interface.
 * Server speeds are learned in a warm-up that is not measured.
 *
 * The paper's queue contains URLs, so a URL that does not fit blocks all behind it. Weir's queue
 * contains sites, and a waiting site blocks only its own URLs. To crawl the paper's queue with Weir,
 * every URL gets its own host name; the server's speed stays the same.
 */

import { assert } from "../../base/assert.ts";
import { silentLog } from "../../base/log.ts";
import { below, type Random, randomFrom } from "../../base/random.ts";
import type { Settings } from "../../config/schema.ts";
import { defaultSettings } from "../../config/sources.ts";
import { type CrawlHandle, startCrawl } from "../../crawl/crawl.ts";
import type { CrawlParts, LinkSetup } from "../../crawl/context.ts";
import { plainLine } from "../../crawl/limit/link-budget.ts";
import { fetcherOptions } from "../../crawl/open.ts";
import { Fetcher } from "../../fetch/fetcher.ts";
import type { TransportRequest } from "../../fetch/transport.ts";
import { openMemoryStore } from "../../store/sqlite/store-sqlite.ts";
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

/** The work of a crawl and its settings. */
interface WorkPlan {
  readonly seed: number;
  readonly world: Partial<WorldPlan>;
  readonly settings: Partial<Settings>;
  readonly pagesPerSite: number;
  /** The paper's queue of URLs in random order, or Weir's queue of sites. */
  readonly queue: "urls" | "sites";
  /** Share of requests that fail. */
  readonly faultShare?: number;
  /** Longest time from a header to its body, random for each request; they arrive together when absent. */
  readonly bodyMsMax?: number;
  /** Responses arrive only at multiples of this time, from all servers together. */
  readonly burstEveryMs?: number;
  /** Bytes of the TLS handshake of a new connection. */
  readonly handshakeBytes?: number;
  /** Packet overhead as a share of the bytes carried; the crawl then reads the wire's counter. */
  readonly countedShare?: number;
  /** Called at the start, to schedule changes of the running crawl. */
  readonly attend?: (handle: CrawlHandle, clock: SimClock) => void;
  /** Replaces parts of the crawl, to plant a fault that a checker must find. */
  readonly plant?: (parts: CrawlParts) => CrawlParts;
}

export interface QueuePlan extends WorkPlan {
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

/** Figures of the measured seconds, without the warm-up. */
export interface QueueReport {
  /** Bytes that arrived in each tenth of a second. */
  readonly tenths: readonly number[];
  /** The crawl's prediction at the start of each second. */
  readonly predictedBps: readonly number[];
  readonly rankInversion: number;
  readonly requests: number;
}

const TENTHS_IN_SECOND = 10;
/** Only ordinary pages: no copies, redirects, errors or forbidden pages. */
const PLAIN_PAGES = {
  copyShare: 0,
  nearCopyShare: 0,
  movedShare: 0,
  goneShare: 0,
  forbiddenShare: 0,
} satisfies Partial<WorldPlan>;
/** Requests only the queue's URLs, as fast as the limit allows. */
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
  const wire = new SimWire(clock.nowMs(), plan.countedShare);
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
  assert(ranks.waiting > 0, "the queue lasts until the end of the measurement");
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

interface WholeReport {
  /** Bytes of the pages, without headers. */
  readonly bytes: number;
  readonly seconds: number;
}

/** Crawls all pages of one site, and no others, to the end. */
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

interface Probes {
  readonly wire: SimWire;
  readonly watch: (request: TransportRequest) => () => void;
}

function start({ plan, world, clock, queue }: Setting, { wire, watch }: Probes): CrawlHandle {
  const settings = { ...defaultSettings(), ...QUEUE_ONLY, ...plan.settings };
  const { bodyMsMax = 0, burstEveryMs, handshakeBytes, countedShare } = plan;
  if (countedShare !== undefined) settings.packetOverhead = "auto";
  const random = randomFrom(plan.seed);
  const resolver = new SimResolver(clock, world, random);
  const faults = new FaultSource(randomFrom(plan.seed + 1), plan.faultShare ?? 0);
  const conduct = ({ host, path }: TransportRequest): Conduct => {
    const site = siteNamed(world, host);
    assert(site !== undefined, "only names of the world have addresses");
    const worldRequest = { site, path, etag: undefined, wallMs: clock.wallMs() };
    const conduct = conductOf(world, worldRequest, faults.draw(site.origin, path));
    return {
      ...conduct,
      ...(bodyMsMax > 0 && { bodyMs: bodyMsMax * random.next() }),
      ...(burstEveryMs !== undefined && { thinkMs: burstEveryMs - (clock.nowMs() % burstEveryMs) }),
      ...(handshakeBytes !== undefined && { handshakeBytes }),
    };
  };
  const transport = new SimTransport({ clock, wire, conductOf: conduct, watch });
  // The papers' controls do not set windows; they use the system's default.
  const windows = settings.control === "paced" ? transport : { setWindow: () => {} };
  const line = plainLine(settings, windows);
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
    line: countedShare === undefined ? line : counted(line, wire, countedShare),
  };
  return startCrawl(plan.plant?.(parts) ?? parts);
}

/** The line with a counter of its interface. */
function counted(line: LinkSetup, wire: SimWire, overheadShare: number): LinkSetup {
  const counters = { overheadShare: () => overheadShare, takeCarried: () => wire.take() };
  return { ...line, wire: { ...line.wire, ...counters } };
}

/** The first page of every site, then the second page of every site, and so on. */
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

/** One name per page for each site: p0.site7.test, p1.site7.test, … */
function manyHosts(): Naming {
  const named = namedSites();
  return { ...named, siteOf: (authority) => named.siteOf(authority.replace(/^p\d+\./, "")) };
}

function ownHost(origin: string, page: number): string {
  return origin.replace("://", `://p${page}.`);
}

/** Fisher–Yates shuffle: every order is equally likely. */
function shuffled<T>(items: readonly T[], random: Random): T[] {
  const mixed = [...items];
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = below(random, last + 1);
    [mixed[last], mixed[other]] = [mixed[other] as T, mixed[last] as T];
  }
  return mixed;
}
