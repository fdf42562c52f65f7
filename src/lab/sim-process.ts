/**
 * One of several crawling processes in virtual time, over all its restarts. It can be killed, which loses
 * uncommitted data, restarted on the same disk, and paused as by SIGSTOP.
 */

import { assert } from "../base/assert.ts";
import { silentLog } from "../base/log.ts";
import { type Random, randomFrom } from "../base/random.ts";
import type { Settings } from "../config/schema.ts";
import { type CrawlHandle, startCrawl } from "../crawl/crawl.ts";
import type { CrawlParts } from "../crawl/context.ts";
import { plainLine } from "../crawl/limit/link-budget.ts";
import { fetcherOptions } from "../crawl/open.ts";
import type { CrawlResult } from "../control/snapshot.ts";
import type { PeerSetup } from "../crawl/ownership.ts";
import type { TopicSetup } from "../crawl/context.ts";
import { Fetcher } from "../fetch/fetcher.ts";
import type { TransportRequest } from "../fetch/transport.ts";
import { MemoryDisk } from "./memory-disk.ts";
import type { Store } from "../store/store.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { conductOf } from "./faults.ts";
import type { Outages } from "./outages.ts";
import type { ProcessClock } from "./process-clock.ts";
import type { RequestLog } from "./request-log.ts";
import type { SimClock } from "./sim-clock.ts";
import type { Ending } from "./sim-exchange.ts";
import { openSimOutput, SimArchive } from "./sim-output.ts";
import { SimResolver } from "./sim-resolver.ts";
import { SimTransport } from "./sim-transport.ts";
import { siteNamed } from "./world.ts";
import type { World } from "./world/plan.ts";

/** The environment of all processes. */
export interface Stage {
  readonly world: World;
  readonly seeds: readonly CanonicalUrl[];
  readonly clock: SimClock;
  readonly log: RequestLog;
  /** undefined when nothing fails; `startMs` is when its times begin. */
  readonly outages?: { readonly of: Outages; readonly startMs: number } | undefined;
}

export interface Start {
  readonly clock: ProcessClock;
  readonly settings: Settings;
  readonly team: PeerSetup;
  /** undefined when pages are not classified. */
  readonly topics?: TopicSetup | undefined;
}

export interface Run {
  readonly handle: CrawlHandle;
  /** Settles when the crawl has ended; never, when it was killed. */
  readonly done: Promise<CrawlResult>;
}

export class SimProcess {
  readonly name: string;
  readonly random: Random;
  result: CrawlResult | undefined;
  readonly #stage: Stage;
  readonly #disk = new MemoryDisk();
  readonly #archive = new SimArchive();
  #clock: ProcessClock | undefined;
  #starts = 0;
  #open = new Set<(ending: Ending | undefined) => void>();

  constructor(name: string, seed: number, stage: Stage) {
    this.name = name;
    this.random = randomFrom(seed);
    this.#stage = stage;
  }

  get hasStarted(): boolean {
    return this.#starts > 0;
  }

  /** Whether it was started and has neither been killed nor ended. */
  get isAlive(): boolean {
    return this.#clock !== undefined && this.result === undefined;
  }

  start(start: Start): Run {
    const { clock } = start;
    this.#clock = clock;
    this.#starts += 1;
    this.result = undefined;
    this.#open = new Set();
    const store = this.#disk.open();
    const handle = startCrawl(this.#partsOf(start, store));
    const done = Promise.withResolvers<CrawlResult>();
    handle.done.then(
      async (result) => {
        if (this.#clock !== clock) return;
        await store.close();
        this.result = result;
        done.resolve(result);
      },
      (fault) => {
        if (this.#clock === clock) done.reject(fault);
      },
    );
    return { handle, done: done.promise };
  }

  kill(): void {
    const clock = this.#clock;
    this.#clock = undefined;
    clock?.kill();
    this.#disk.crash();
    for (const end of this.#open) end(undefined);
  }

  pauseFor(durationMs: number): void {
    const clock = this.#clock;
    clock?.stop();
    this.#stage.clock.after(durationMs, () => clock?.resume());
  }

  books(): Store {
    return this.#disk.open();
  }

  /** URLs of the records in its archive, in order. */
  archived(): string[] {
    return this.#archive.records.map(({ url }) => url);
  }

  #partsOf({ clock, settings, team, topics }: Start, store: Store): CrawlParts {
    const { world, seeds, outages } = this.#stage;
    const resolver = new SimResolver(clock, world, this.random, 0);
    resolver.isDown = () =>
      outages?.of.areNamesDown(this.#stage.clock.nowMs() - outages.startMs) ?? false;
    const open = this.#open;
    const transport = new SimTransport({
      clock,
      conductOf: (request) => this.#conductOf(request),
      watch: (request) => this.#watch(request, open),
    });
    return {
      settings,
      seeds,
      clock,
      random: this.random,
      store,
      resolver,
      fetcher: new Fetcher({ clock, resolver, transport, ...fetcherOptions(settings) }),
      output: openSimOutput(this.#archive, clock, store.marks),
      log: silentLog,
      hooks: {},
      line: plainLine(settings, transport),
      team,
      topics,
    };
  }

  #conductOf(request: TransportRequest): ReturnType<typeof conductOf> {
    const { world, clock } = this.#stage;
    const site = siteNamed(world, request.host);
    assert(site !== undefined, "only names of the world have addresses");
    const worldRequest = { site, path: request.path, etag: undefined, wallMs: clock.wallMs() };
    const conduct = conductOf(world, worldRequest, undefined);
    const { outages, clock: stageClock } = this.#stage;
    if (outages === undefined) return conduct;
    const atMs = stageClock.nowMs() - outages.startMs;
    return outages.of.conductOf(conduct, site.origin, request.path, atMs);
  }

  #watch(
    { scheme, host, address, path }: TransportRequest,
    open: Set<(ending: Ending | undefined) => void>,
  ): (ending: Ending) => void {
    const { clock, log } = this.#stage;
    const site = `${scheme}://${host}`;
    const record = log.begin({ site, address, path, startMs: clock.nowMs(), by: this.name });
    const end = (ending: Ending | undefined): void => {
      open.delete(end);
      const status = ending?.kind === "answer" ? ending.status : 0;
      record({ endMs: clock.nowMs(), status, whole: status > 0 });
    };
    open.add(end);
    return end;
  }
}
