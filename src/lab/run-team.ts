/**
 * Runs a crawl of several processes in virtual time: the production loops, link routers, agents and
 * coordinator, on a simulated web and over a bus that fails from a seed. Processes are killed and stopped
 * during the crawl; then the servers' logs and all stores are checked (`judge-team.ts`).
 *
 * Promise: the same plan always gives the same report.
 */

import { silentLog } from "../base/log.ts";
import { below, type Random, randomFrom } from "../base/random.ts";
import { Worker } from "../cluster/worker.ts";
import { Leader } from "../cluster/leader.ts";
import { Ownership } from "../cluster/ownership.ts";
import { firstDivision, partitionOf, topicOwners } from "../cluster/team-setup.ts";
import { ownsContents } from "../config/processes.ts";
import type { Settings } from "../config/schema.ts";
import { defaultSettings } from "../config/sources.ts";
import type { CrawlResult } from "../control/snapshot.ts";
import type { PeerSetup } from "../crawl/ownership.ts";
import { topicSetupFor } from "../crawl/topics/setup.ts";
import type { Membership } from "../exchange/bus.ts";
import { SharedTurns } from "../frontier/shared-turns.ts";
import type { Mode } from "../partition/mode.ts";
import { PopularFound } from "../partition/popular-found.ts";
import type { Partition } from "../partition/partition.ts";
import type { Store } from "../store/store.ts";
import type { LoadedModel } from "../topics/model.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { Outages } from "./outages.ts";
import { ProcessClock } from "./process-clock.ts";
import { type RequestEntry, RequestLog } from "./request-log.ts";
import { type BusFaults, NO_BUS_FAULTS, SimBus } from "./sim-bus.ts";
import { SimClock } from "./sim-clock.ts";
import { SimProcess } from "./sim-process.ts";
import { seedUrls } from "./world.ts";
import { worldModel } from "./world-model.ts";
import { makeWorld, type World, type WorldPlan } from "./world/plan.ts";

export interface TeamPlan {
  readonly seed: number;
  readonly procs: number;
  /** The first seeds of the world; all by default. */
  readonly seedCount?: number;
  readonly world: Partial<WorldPlan>;
  readonly settings: Partial<Settings>;
  readonly coordination: "static" | "dynamic";
  readonly mode: Mode;
  /** With a partition by topic or content hash, processes own contents instead of URLs. */
  readonly partition: NonNullable<Settings["partition"]>;
  readonly bus: BusFaults;
  /** Longest outage of a site, of the own link or of the name server; 0 for none. */
  readonly outageMsMax: number;
  /** Number of times that a process is killed and restarted. */
  readonly kills: number;
  /** Number of times that a process is stopped for longer than its licence. */
  readonly pauses: number;
  /** Whether processes find popular URLs during the crawl. */
  readonly popularFound: boolean;
  /** Share of all URLs that any process fetches, regardless of the owner. */
  readonly sampleShare: number;
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
  /** When processes own contents: the process of each store, and the owner of each part of the contents. */
  readonly contents?: { readonly names: readonly string[]; readonly owners: readonly string[] };
}

const CALM: Omit<TeamPlan, "seed"> = {
  procs: 3,
  world: {},
  settings: {},
  coordination: "static",
  mode: "exchange",
  partition: "site-hash",
  bus: NO_BUS_FAULTS,
  outageMsMax: 0,
  kills: 0,
  pauses: 0,
  popularFound: false,
  sampleShare: 0,
};

const BUCKETS = 64;
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

interface Proc {
  readonly process: SimProcess;
  member: Membership | undefined;
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
  readonly #partition: Partition;
  readonly #ownership: Ownership;
  readonly #disturbedAtMs: number[] = [];
  readonly #over = Promise.withResolvers<void>();
  #leader: Leader | undefined;

  constructor(plan: TeamPlan) {
    this.#plan = plan;
    this.#world = makeWorld({ seed: plan.seed, ...plan.world });
    this.#settings = {
      ...defaultSettings(),
      memoryBytes: MEMORY_BYTES,
      bucketCount: BUCKETS,
      partition: plan.partition,
      grain: 1,
      ...plan.settings,
    };
    this.#random = randomFrom(plan.seed);
    this.#bus = new SimBus(this.#clock, randomFrom(plan.seed + 1), plan.bus);
    const { outageMsMax } = plan;
    const outages =
      outageMsMax === 0
        ? undefined
        : {
            of: new Outages(randomFrom(plan.seed + 2), this.#world, outageMsMax),
            startMs: this.#startMs,
          };
    const stage = {
      world: this.#world,
      seeds: this.#seeds,
      clock: this.#clock,
      log: this.#log,
      outages,
    };
    this.#procs = Array.from({ length: plan.procs }, (_, index) => ({
      process: new SimProcess(`proc-${index + 1}`, plan.seed * 1000 + index, stage),
      member: undefined,
    }));
    const partition = partitionOf(this.#settings, this.#model);
    this.#partition = partition;
    const seeded = this.#seeds.map((url) => partition.bucketOf(url));
    const { grain } = this.#settings;
    const rules = { coordination: plan.coordination, partition, grain, seeded };
    const names = this.#names;
    const first = firstDivision(topicOwners(this.#settings, names, this.#model), names);
    const workers = names.map((name) => ({ name, weight: 1 }));
    this.#ownership = new Ownership(rules, workers, first);
  }

  async run(): Promise<TeamReport> {
    await this.#clock.runUntil(this.#begin());
    this.#disturb();
    const cancel = this.#clock.after(ENDLESS_MS, () =>
      this.#over.reject(new Error("the crawl does not end")),
    );
    await this.#clock.runUntil(this.#over.promise);
    cancel();
    const urlsSent = this.#leader?.urlsSent ?? 0;
    const owners = this.#leader?.division?.owners ?? [];
    await this.#clock.runUntil(this.#leader?.stop() ?? Promise.resolve());
    return {
      world: this.#world,
      settings: this.#settings,
      books: this.#procs.map(({ process }) => process.books()),
      results: this.#procs.flatMap(({ process }) => process.result ?? []),
      log: this.#log.entries,
      archived: this.#procs.map(({ process }) => process.archived()),
      disturbedAtMs: this.#disturbedAtMs,
      urlsSent,
      virtualMs: this.#clock.nowMs() - this.#startMs,
      events: this.#clock.events,
      ...(this.#model === undefined ? {} : { contents: { names: this.#names, owners } }),
    };
  }

  get #seeds(): CanonicalUrl[] {
    // A world writes its URLs in canonical form.
    return seedUrls(this.#world).slice(0, this.#plan.seedCount) as CanonicalUrl[];
  }

  get #names(): string[] {
    return this.#procs.map(({ process }) => process.name);
  }

  /** undefined when pages are not classified. */
  get #model(): LoadedModel | undefined {
    return ownsContents(this.#settings) ? worldModel() : undefined;
  }

  /** When processes own contents, URLs have no owner, so each process starts with a part of the seeds. */
  #seedsOf(name: string): CanonicalUrl[] {
    if (!ownsContents(this.#settings)) return this.#seeds;
    const place = this.#names.indexOf(name);
    return this.#seeds.filter((_, at) => at % this.#procs.length === place);
  }

  async #begin(): Promise<void> {
    this.#leader = new Leader({
      clock: this.#clock,
      log: silentLog,
      bus: this.#bus,
      settings: { ...this.#settings, coordination: this.#plan.coordination },
      seeds: this.#seeds,
      spec: "",
      term: 0,
      licenceMs: LICENCE_MS,
      nodeTimeoutMs: Infinity,
      isLeading: () => true,
      onFault: (fault) => this.#over.reject(fault),
      model: this.#model,
      record: {
        isStopped: false,
        takeUp: async () => ({
          division: this.#ownership.division,
          changes: [],
          begunAtMs: undefined,
          isResumed: false,
          over: undefined,
          isFirst: true,
        }),
        write: async () => true,
        stop: () => undefined,
      },
    });
    await this.#leader.start();
    for (const proc of this.#procs) await this.#boot(proc);
  }

  /** Starts or restarts a process. */
  async #boot(proc: Proc): Promise<void> {
    const { process } = proc;
    const clock = new ProcessClock(this.#clock);
    let worker: Worker | undefined;
    const member = await this.#bus.join(process.name, {
      onParcel: (parcel) => clock.run(() => worker?.inbox.onParcel(parcel)),
      onReceipt: (receipt) => clock.run(() => worker?.inbox.onReceipt(receipt)),
      onMessage: (from, note) => clock.run(() => worker?.inbox.onMessage(from, note)),
    });
    proc.member = member;
    const settings = { ...this.#settings, limitBps: undefined, pagesMax: undefined };
    const team = this.#teamMeans(process.name, member);
    const topics = this.#model && topicSetupFor(settings, this.#model);
    const life = process.start({ clock, settings, team, topics });
    const { handle } = life;
    const { random } = process;
    worker = new Worker({ clock, crawl: handle, bus: member, random, change: () => undefined });
    life.done.then(
      () => {
        worker.stop();
        if (this.#procs.every((one) => one.process.result !== undefined)) this.#over.resolve();
      },
      (fault) => this.#over.reject(fault),
    );
  }

  #teamMeans(self: string, bus: Membership): PeerSetup {
    const { mode, procs, sampleShare } = this.#plan;
    const partition = this.#partition;
    const crossesOver = mode === "cross-over" || sampleShare > 0;
    return {
      seeds: this.#seedsOf(self),
      turns: new SharedTurns(),
      rules: {
        size: procs,
        sitesAreOwn: partition.keepsSites && !crossesOver,
        crossesOver,
        isHandedOut: this.#plan.coordination === "dynamic",
        siteConcurrencyMax: this.#settings.concurrencyPerSite,
        addressConcurrencyMax: this.#settings.concurrencyPerAddress,
      },
      border: {
        self,
        partition,
        ownsContents: ownsContents(this.#settings),
        mode,
        division: this.#ownership.division,
        sampleShare,
        popular: undefined,
        popularUrls: [],
        popularFound: this.#plan.popularFound ? new PopularFound() : undefined,
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
    const { process } = proc;
    if (!process.isAlive) return;
    this.#disturbedAtMs.push(this.#clock.nowMs());
    process.kill();
    void proc.member?.leave();
    this.#leader?.gone(process.name);
    this.#clock.after(this.#random.next() * RESTART_WITHIN_MS, () => {
      this.#boot(proc).catch((fault: unknown) => this.#over.reject(fault));
    });
  }

  /** Stops a process for one to two times the length of its licence. */
  #pause(): void {
    const { process } = this.#procs[below(this.#random, this.#procs.length)] as Proc;
    if (!process.isAlive) return;
    this.#disturbedAtMs.push(this.#clock.nowMs());
    process.pauseFor(LICENCE_MS * (1 + this.#random.next()));
  }
}
