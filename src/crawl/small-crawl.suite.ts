/**
 * A crawl of a few hand-written URLs in virtual time, for the tests beside the files of a crawl.
 *
 * All parts are the production code. Clock, network, name server, archive and disk are those of the lab, so an hour
 * takes milliseconds and a test sees every request. `context()` is for the test of one part: it has everything that
 * the part needs, and collects the events that the part emits. `run()` runs a whole crawl.
 */

import type { Settings } from "../config/schema.ts";
import { defaultSettings } from "../config/sources.ts";
import type { CrawlResult } from "../control/snapshot.ts";
import { assert } from "../base/assert.ts";
import { randomFrom } from "../base/random.ts";
import type { LogEntry } from "../base/log.ts";
import { Fetcher } from "../fetch/fetcher.ts";
import type { Resolution, Resolver } from "../fetch/resolver.ts";
import type { TransportRequest } from "../fetch/transport.ts";
import type { Conduct } from "../lab/faults.ts";
import { MemoryDisk } from "../lab/memory-disk.ts";
import { SimClock } from "../lab/sim-clock.ts";
import { openSimOutput, SimArchive } from "../lab/sim-output.ts";
import { SimTransport } from "../lab/sim-transport.ts";
import type { Store, WaitingUrl } from "../store/store.ts";
import { siteOf } from "../url/site.ts";
import { canonicalUrl, type CanonicalUrl, isRefused } from "../url/url.ts";
import { candidateOf } from "./candidate.ts";
import { type CrawlHandle, startCrawl } from "./crawl.ts";
import type { CrawlContext, CrawlEvent, CrawlParts } from "./context.ts";
import { plainLine } from "./limit/link-budget.ts";
import { fetcherOptions } from "./open.ts";
import type { Site } from "./site.ts";
import { contextOf } from "./wire.ts";

/** What a server answers: HTML with status 200, another response, or a fault of the connection. */
export type Served =
  | string
  | "refuse"
  | "silence"
  | {
      readonly status?: number;
      readonly headers?: readonly (readonly [name: string, value: string])[];
      readonly body?: string | Uint8Array;
    };

/** By URL; other URLs are answered with 404, and hosts without any URL have no address. */
export type SmallWeb = Record<string, Served>;

export interface SmallPlan extends Partial<Pick<CrawlParts, "hooks" | "topics" | "team">> {
  readonly web?: SmallWeb;
  readonly seeds?: readonly string[];
  readonly settings?: Partial<Settings>;
  readonly randomSeed?: number;
  /** A disk with the data of an earlier run. */
  readonly disk?: MemoryDisk;
  readonly clock?: SimClock;
  /** Share of commits that find the disk full. */
  readonly fullShare?: number;
}

const LATENCY_MS = 10;
const LOOKUP_MS = 5;
const SERVER_BPS = 10_000_000;
const MEMORY_BYTES = 8 * 2 ** 20;

export class SmallCrawl {
  readonly clock: SimClock;
  readonly disk: MemoryDisk;
  readonly archive = new SimArchive();
  readonly store: Store;
  readonly parts: CrawlParts;
  /** May be changed while the crawl runs. */
  readonly web: SmallWeb;
  /** While it is set, no name can be resolved. */
  isNameServerDown = false;
  /** Names in the order of their lookups, and when each was asked for. */
  readonly lookups: { readonly host: string; readonly atMs: number }[] = [];
  /** URLs in the order of their requests, and when each was sent. */
  readonly requests: { readonly url: string; readonly atMs: number }[] = [];
  readonly events: CrawlEvent[] = [];
  readonly logged: LogEntry[] = [];

  constructor(plan: SmallPlan = {}) {
    this.web = plan.web ?? {};
    this.clock = plan.clock ?? new SimClock();
    this.disk = plan.disk ?? new MemoryDisk();
    const { clock, disk } = this;
    const random = randomFrom(plan.randomSeed ?? 1);
    const onCrash = (): void => assert(false, "no crash was planned");
    const fullShare = plan.fullShare ?? 0;
    this.store = disk.openWith({ random, fullShare, crashAtCommit: undefined, onCrash });
    const settings = {
      ...defaultSettings(),
      memoryBytes: MEMORY_BYTES,
      delayMs: 0,
      addressDelayMs: 0,
      sitemaps: false,
      ...plan.settings,
    };
    const resolver: Resolver = { resolve: (host) => this.#resolve(host) };
    const transport = new SimTransport({ clock, conductOf: (request) => this.#serve(request) });
    this.parts = {
      settings,
      seeds: (plan.seeds ?? Object.keys(this.web).slice(0, 1)).map(urlOf),
      clock,
      random,
      store: this.store,
      resolver,
      fetcher: new Fetcher({ clock, resolver, transport, ...fetcherOptions(settings) }),
      output: openSimOutput(this.archive, clock, this.store.marks),
      log: { write: (entry) => void this.logged.push(entry) },
      hooks: plan.hooks ?? {},
      line: plainLine(settings, transport),
      ...(plan.topics === undefined ? {} : { topics: plan.topics }),
      ...(plan.team === undefined ? {} : { team: plan.team }),
    };
  }

  /** The shared data of a crawl, for the test of one part; its events are in `events`. */
  context(): CrawlContext {
    const { signal } = new AbortController();
    return contextOf(this.parts, signal, (event) => void this.events.push(event));
  }

  start(): CrawlHandle {
    return startCrawl(this.parts);
  }

  /** Runs a crawl to its end, and closes its store, so that another crawl can resume it. */
  async run(): Promise<CrawlResult> {
    const result = await this.clock.runUntil(this.start().done);
    await this.store.close();
    return result;
  }

  /** Requests of pages, as paths, in order. */
  get pathsRequested(): string[] {
    return this.requests
      .map(({ url }) => new URL(url).pathname)
      .filter((path) => path !== "/robots.txt");
  }

  eventsOf<Kind extends CrawlEvent["kind"]>(
    kind: Kind,
  ): Extract<CrawlEvent, { readonly kind: Kind }>[] {
    return this.events.filter(
      (event): event is Extract<CrawlEvent, { readonly kind: Kind }> => event.kind === kind,
    );
  }

  async #resolve(host: string): Promise<Resolution> {
    this.lookups.push({ host, atMs: this.clock.nowMs() });
    await new Promise<void>((goOn) => void this.clock.after(LOOKUP_MS, goOn));
    if (this.isNameServerDown) return { kind: "failed", reason: "dns_timeout", detail: host };
    const hosts = [...new Set(Object.keys(this.web).map((url) => new URL(url).hostname))];
    const place = hosts.indexOf(host);
    if (place < 0) return { kind: "failed", reason: "dns_nxdomain", detail: host };
    return { kind: "addresses", addresses: [`203.0.113.${place + 1}`] };
  }

  #serve({ scheme, host, path }: TransportRequest): Conduct {
    const url = `${scheme}://${host}${path}`;
    this.requests.push({ url, atMs: this.clock.nowMs() });
    const served = this.web[url] ?? { status: 404 };
    const isFault = served === "refuse" || served === "silence";
    const {
      status = 200,
      headers = [],
      body = "",
    } = typeof served === "string" ? { body: served } : served;
    const bytes = Buffer.from(body);
    return {
      connect: isFault ? served : "accept",
      latencyMs: LATENCY_MS,
      answer: {
        status,
        statusText: "",
        headers: [
          ["content-type", "text/html; charset=utf-8"],
          ["content-length", String(bytes.length)],
          ...headers,
        ],
        body: bytes,
      },
      speedBps: SERVER_BPS,
      breaksOff: undefined,
    };
  }
}

/** A page with these links. */
export function pageWith(...links: readonly string[]): string {
  return `<title>page</title>${links.map((link) => `<a href="${link}">link</a>`).join(" ")}`;
}

export function urlOf(text: string): CanonicalUrl {
  const url = canonicalUrl(text);
  assert(!isRefused(url), "a test uses URLs that can be crawled");
  return url;
}

/** Adds a waiting URL as admission does, without its rules; the id is the next one. */
export function addUrl(
  context: CrawlContext,
  text: string,
  depth = 0,
): { site: Site; row: WaitingUrl } {
  const url = urlOf(text);
  const site = context.sites.of(siteOf(url));
  const { high, low } = candidateOf({ url, written: undefined });
  const id = context.counters.known + 1;
  const row = { id, url, written: undefined, siteId: site.id, depth, score: 0 };
  const whole = { ...row, redirectedFromId: 0, redirects: 0 };
  context.batch.addUrl({ ...whole, fingerprintHigh: high, fingerprintLow: low });
  context.counters.found();
  site.found(true);
  return { site, row: { ...whole, attempts: 0, etag: "", lastModified: "" } };
}
