/**
 * Runs a crawl of several processes in virtual time: the production loops, border posts, agents and
 * coordinator, on a simulated web and over a bus that fails from a seed. Processes are killed and stopped
 * while they work; then servers' logs and all stores together are judged from outside.
 *
 * Promise: the same plan gives the same report every time.
 */

import { assert } from "../base/assert.ts";
import { silentLog } from "../base/log.ts";
import { below, type Random, randomFrom } from "../base/random.ts";
import { Agent } from "../cluster/agent.ts";
import { Coordinator } from "../cluster/coordinator.ts";
import { Dealing } from "../cluster/dealing.ts";
import { COORDINATOR } from "../cluster/notes.ts";
import type { Settings } from "../config/schema.ts";
import { defaultSettings } from "../config/sources.ts";
import { type CrawlHandle, type CrawlParts, startCrawl } from "../crawl/crawler.ts";
import { plainLine } from "../crawl/line.ts";
import { fetcherOptions } from "../crawl/open.ts";
import type { CrawlResult } from "../crawl/snapshot.ts";
import type { TeamMeans } from "../crawl/team.ts";
import type { Membership } from "../exchange/bus.ts";
import { Fetcher } from "../fetch/fetcher.ts";
import type { TransportRequest } from "../fetch/transport.ts";
import { SharedTurns } from "../frontier/shared-turns.ts";
import type { Mode } from "../partition/mode.ts";
import { partitionFor, type PartitionKind } from "../partition/partition.ts";
import { MemoryDisk, openMemoryStore } from "../store/store-memory.ts";
import type { Store } from "../store/store.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { conductOf } from "./faults.ts";
import { ProcessClock } from "./process-clock.ts";
import { type RequestEntry, RequestLog } from "./request-log.ts";
import { type BusFaults, NO_BUS_FAULTS, SimBus } from "./sim-bus.ts";
import { SimClock } from "./sim-clock.ts";
import type { Ending } from "./sim-exchange.ts";
import { openSimOutput, SimArchive } from "./sim-output.ts";
import { SimResolver } from "./sim-resolver.ts";
import { SimTransport } from "./sim-transport.ts";
import { seedUrls, siteNamed } from "./world.ts";
import { makeWorld, type World, type WorldPlan } from "./world/plan.ts";

export interface TeamPlan {
  readonly seed: number;
  readonly procs: number;
  readonly world: Partial<WorldPlan>;
  readonly settings: Partial<Settings>;
  readonly coordination: "static" | "dynamic";
  readonly mode: Mode;
  readonly partition: PartitionKind;
  readonly bus: BusFaults;
  /** How often a process is killed and started again, and stopped for longer than its licence lasts. */
  readonly kills: number;
  readonly pauses: number;
}

export interface TeamReport {
  readonly world: World;
  readonly settings: Settings;
  readonly books: readonly Store[];
  readonly results: readonly CrawlResult[];
  readonly log: readonly RequestEntry[];
  readonly archived: readonly (readonly string[])[];
  readonly disturbedAtMs: readonly number[];
  readonly urlsSent: number;
  readonly virtualMs: number;
  readonly events: number;
}

const CALM: Omit<TeamPlan, "seed"> = {
  procs: 3,
  world: {},
  settings: {},
  coordination: "static",
  mode: "exchange",
  partition: "site-hash",
  bus: NO_BUS_FAULTS,
  kills: 0,
  pauses: 0,
};

const BUCKETS = 64;
const GRAIN = 1;
const LICENCE_MS = 3_000;
const DISTURBED_WITHIN_MS = 30_000;
const RESTART_WITHIN_MS = 4_000;
const MEMORY_BYTES = 4 * 1024 * 1024;
const ENDLESS_MS = 5 * 86_400_000;

export async function runTeam(
  wanted: Partial<TeamPlan> & { readonly seed: number },
): Promise<TeamReport> {
  return new TeamSimulation({ ...CALM, ...wanted }).run();
}

/** One process over all its lives. */
interface Proc {
  readonly name: string;
  readonly disk: MemoryDisk;
  readonly archive: SimArchive;
  readonly random: Random;
  life: Life | undefined;
  result: CrawlResult | undefined;
}

interface Life {
  readonly clock: ProcessClock;
  readonly handle: CrawlHandle;
  readonly member: Membership;
  readonly open: Set<(ending: Ending | undefined) => void>;
}

class TeamSimulation {
  readonly #plan: TeamPlan;
  readonly #world: World;
  readonly #settings: Settings;
  readonly #random: Random;
  readonly #clock = new SimClock();
  readonly #startMs = this.#clock.nowMs();
  readonly #bus: SimBus;
  readonly #log = new RequestLog();
  readonly #procs: Proc[];
  readonly #dealing: Dealing;
  readonly #disturbedAtMs: number[] = [];
  readonly #over = Promise.withResolvers<void>();
  #coordinator: Coordinator | undefined;

  constructor(plan: TeamPlan) {
    this.#plan = plan;
    this.#world = makeWorld({ seed: plan.seed, ...plan.world });
    this.#settings = { ...defaultSettings(), memoryBytes: MEMORY_BYTES, ...plan.settings };
    this.#random = randomFrom(plan.seed);
    this.#bus = new SimBus(this.#clock, randomFrom(plan.seed + 1), plan.bus);
    this.#procs = Array.from({ length: plan.procs }, (_, index) => ({
      name: `proc-${index + 1}`,
      disk: new MemoryDisk(),
      archive: new SimArchive(),
      random: randomFrom(plan.seed * 1000 + index),
      life: undefined,
      result: undefined,
    }));
    const partition = partitionFor(plan.partition, { bucketCount: BUCKETS, rules: [] });
    const seeded = this.#seeds.map((url) => partition.bucketOf(url));
    const rules = { coordination: plan.coordination, partition, grain: GRAIN, seeded };
    const workers = this.#procs.map(({ name }) => ({ name, weight: 1 }));
    this.#dealing = new Dealing(rules, workers, undefined);
  }

  async run(): Promise<TeamReport> {
    await this.#clock.runUntil(this.#begin());
    this.#disturb();
    const cancel = this.#clock.after(ENDLESS_MS, () =>
      this.#over.reject(new Error("it never ends")),
    );
    await this.#clock.runUntil(this.#over.promise);
    cancel();
    const urlsSent = this.#coordinator?.exchange().urlsSent ?? 0;
    this.#coordinator?.stop();
    return {
      world: this.#world,
      settings: this.#settings,
      books: this.#procs.map(({ disk }) => openMemoryStore(disk)),
      results: this.#procs.flatMap(({ result }) => (result === undefined ? [] : [result])),
      log: this.#log.entries,
      archived: this.#procs.map(({ archive }) => archive.records.map(({ url }) => url)),
      disturbedAtMs: this.#disturbedAtMs,
      urlsSent,
      virtualMs: this.#clock.nowMs() - this.#startMs,
      events: this.#clock.events,
    };
  }

  get #seeds(): CanonicalUrl[] {
    // A world writes its URLs in canonical form.
    return seedUrls(this.#world) as CanonicalUrl[];
  }

  async #begin(): Promise<void> {
    const member = await this.#bus.join(COORDINATOR, {
      onParcel: () => undefined,
      onReceipt: () => undefined,
      onNote: (from, note) => this.#coordinator?.onNote(from, note),
    });
    this.#coordinator = new Coordinator({
      clock: this.#clock,
      bus: member,
      licenceMs: LICENCE_MS,
      division: this.#dealing.division,
      handOut: (dry, wanted) => {
        if (this.#dealing.handOut(dry, wanted)) this.#coordinator?.redivide(this.#dealing.division);
      },
      onDone: () => undefined,
      limitBps: this.#settings.limitBps,
      pagesMax: this.#settings.pagesMax,
    });
    for (const { name } of this.#procs) this.#coordinator.members.add(name);
    for (const proc of this.#procs) await this.#live(proc);
  }

  /** Starts a process, for the first time or again. */
  async #live(proc: Proc): Promise<void> {
    const clock = new ProcessClock(this.#clock);
    let agent: Agent | undefined;
    const member = await this.#bus.join(proc.name, {
      onParcel: (parcel) => clock.run(() => agent?.inbox.onParcel(parcel)),
      onReceipt: (receipt) => clock.run(() => agent?.inbox.onReceipt(receipt)),
      onNote: (from, note) => clock.run(() => agent?.inbox.onNote(from, note)),
    });
    const open: Life["open"] = new Set();
    const store = openMemoryStore(proc.disk);
    const handle = startCrawl(this.#partsOf(proc, { clock, member, store, open }));
    agent = new Agent({ clock, crawl: handle, bus: member, change: () => undefined });
    const life: Life = { clock, handle, member, open };
    proc.life = life;
    handle.done.then(
      async (result) => {
        agent.stop();
        await store.close();
        proc.result = result;
        if (this.#procs.every(({ result: one }) => one !== undefined)) this.#over.resolve();
      },
      (fault) => {
        if (proc.life === life) this.#over.reject(fault);
      },
    );
  }

  #partsOf(
    proc: Proc,
    { clock, member, store, open }: Omit<Life, "handle"> & { readonly store: Store },
  ): CrawlParts {
    const resolver = new SimResolver(clock, this.#world, proc.random, 0);
    const transport = new SimTransport({
      clock,
      conductOf: (request) => this.#conductOf(request),
      watch: (request) => this.#watch(request, open),
    });
    const settings = { ...this.#settings, limitBps: undefined, pagesMax: undefined };
    return {
      settings,
      seeds: this.#seeds,
      clock,
      random: proc.random,
      store,
      resolver,
      fetcher: new Fetcher({ clock, resolver, transport, ...fetcherOptions(settings) }),
      output: openSimOutput(proc.archive, clock, store.marks),
      log: silentLog,
      hooks: {},
      line: plainLine(settings, transport),
      team: this.#teamMeans(proc, member),
    };
  }

  #teamMeans(proc: Proc, bus: Membership): TeamMeans {
    const { mode, procs, partition: kind } = this.#plan;
    const partition = partitionFor(kind, { bucketCount: BUCKETS, rules: [] });
    return {
      seeds: this.#seeds,
      turns: new SharedTurns(),
      rules: {
        size: procs,
        sitesAreOwn: partition.keepsSites && mode !== "cross-over",
        crossesOver: mode === "cross-over",
        siteConcurrencyMax: this.#settings.concurrencyPerSite,
        addressConcurrencyMax: this.#settings.concurrencyPerAddress,
      },
      border: {
        self: proc.name,
        partition,
        ownsContents: false,
        mode,
        division: this.#dealing.division,
        popular: undefined,
        popularUrls: [],
        bus,
        everyPages: 10,
        everyMs: 1_000,
      },
    };
  }

  #disturb(): void {
    const { kills, pauses } = this.#plan;
    for (let count = 0; count < kills; count++)
      this.#clock.after(this.#random.next() * DISTURBED_WITHIN_MS, () => this.#kill());
    for (let count = 0; count < pauses; count++)
      this.#clock.after(this.#random.next() * DISTURBED_WITHIN_MS, () => this.#pause());
  }

  #kill(): void {
    const proc = this.#procs[below(this.#random, this.#procs.length)] as Proc;
    const { life } = proc;
    if (life === undefined || proc.result !== undefined) return;
    this.#disturbedAtMs.push(this.#clock.nowMs());
    proc.life = undefined;
    life.clock.kill();
    proc.disk.crash();
    for (const end of life.open) end(undefined);
    void life.member.leave();
    this.#coordinator?.gone(proc.name);
    this.#clock.after(this.#random.next() * RESTART_WITHIN_MS, () => {
      this.#live(proc).catch((fault: unknown) => this.#over.reject(fault));
    });
  }

  /** Longer than its licence lasts, by up to as much again. */
  #pause(): void {
    const proc = this.#procs[below(this.#random, this.#procs.length)] as Proc;
    const { life } = proc;
    if (life === undefined || proc.result !== undefined) return;
    this.#disturbedAtMs.push(this.#clock.nowMs());
    life.clock.stop();
    this.#clock.after(LICENCE_MS * (1 + this.#random.next()), () => life.clock.goOn());
  }

  #conductOf(request: TransportRequest): ReturnType<typeof conductOf> {
    const site = siteNamed(this.#world, request.host);
    assert(site !== undefined, "only names of the world have addresses");
    const asked = { site, path: request.path, etag: undefined, wallMs: this.#clock.wallMs() };
    return conductOf(this.#world, asked, undefined);
  }

  #watch(
    { scheme, host, address, path }: TransportRequest,
    open: Life["open"],
  ): (ending: Ending) => void {
    const startMs = this.#clock.nowMs();
    const note = this.#log.begin({ site: `${scheme}://${host}`, address, path, startMs });
    const end = (ending: Ending | undefined): void => {
      open.delete(end);
      const status = ending?.kind === "answer" ? ending.status : 0;
      note({ endMs: this.#clock.nowMs(), status, whole: status > 0 });
    };
    open.add(end);
    return end;
  }
}
