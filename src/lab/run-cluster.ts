/**
 * Runs a crawl of several machines in virtual time: the production loops, agents, leaders and their election,
 * on a simulated web, over a bus and a registry that fail from a seed.
 *
 * Nodes, the leader included, are killed and restarted, killed permanently, stopped for longer than their licence,
 * and cut off from the network; nodes join and leave; and the bus and the registry lose all data. Then the servers'
 * logs and all stores are checked (`judge-cluster.ts`).
 *
 * Promise: the same plan always gives the same report.
 */

import { CrawlError } from "../base/errors.ts";
import type { LogEntry } from "../base/log.ts";
import { below, type Random, randomFrom } from "../base/random.ts";
import { Worker, LAPSED } from "../cluster/worker.ts";
import { LeaderElection } from "../cluster/nats/leader-election.ts";
import { DROPPED } from "../cluster/message-reader.ts";
import { emptyDivision } from "../cluster/ownership.ts";
import { partitionOf, teamMeansFor } from "../cluster/team-setup.ts";
import type { Settings } from "../config/schema.ts";
import { defaultSettings } from "../config/sources.ts";
import type { CrawlResult } from "../control/snapshot.ts";
import { topicSetupFor } from "../crawl/topics/setup.ts";
import type { Bus } from "../exchange/bus.ts";
import { MemoryRegistry, MemoryTable, type RegistryFaults } from "./sim-registry.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { ProcessClock } from "./process-clock.ts";
import { RequestLog } from "./request-log.ts";
import type { TeamReport } from "./run-team.ts";
import { type BusFaults, NO_BUS_FAULTS, SimBus } from "./sim-bus.ts";
import { SimClock } from "./sim-clock.ts";
import { SimProcess, type Stage } from "./sim-process.ts";
import { seedUrls } from "./world.ts";
import { makeWorld, type World, type WorldPlan } from "./world/plan.ts";

export interface ClusterPlan {
  readonly seed: number;
  readonly nodes: number;
  readonly world: Partial<WorldPlan>;
  readonly settings: Partial<Settings>;
  readonly bus: BusFaults;
  /** Share of requests to the registry that are lost, and of its answers. */
  readonly registryLossShare: number;
  /** Number of times that each of these events happens, to a random node at a random time. */
  readonly kills: number;
  readonly deaths: number;
  readonly pauses: number;
  readonly cuts: number;
  readonly wipes: number;
  readonly joins: number;
  readonly leaves: number;
  /** What happens at given times from the start. */
  readonly script: readonly ScriptedEvent[];
}

export interface ScriptedEvent {
  readonly atMs: number;
  /** `change` is made by an operator; the others happen to the leader or to a node that does not lead. */
  readonly what:
    | { readonly kind: "kill" | "die" }
    | { readonly kind: "cut"; readonly forMs: number }
    | { readonly kind: "change"; readonly key: string; readonly value: string };
  readonly who: "leader" | "other";
}

/** What an operator was answered, and when. */
export interface Answer {
  readonly key: string;
  readonly atMs: number;
  /** The code of the error; undefined when the change was confirmed. */
  readonly error: string | undefined;
  readonly message: string;
}

export interface ClusterReport extends TeamReport {
  /** Nodes that were killed permanently, or declared lost after their timeout. */
  readonly lost: number;
  /** Number of times that a node became leader. */
  readonly leaders: number;
  /** Ends of licences: the node and the time. */
  readonly lapses: readonly { readonly node: string; readonly atMs: number }[];
  /** Spoilt notes that were delivered, and the most that one receiver reported as dropped. */
  readonly spoilt: number;
  readonly dropped: number;
  readonly answers: readonly Answer[];
  /** Changes that nodes made for themselves. */
  readonly made: readonly { readonly node: string; readonly key: string }[];
  /** The result of the whole, as the last leader reported it; undefined if no node received it. */
  readonly whole: CrawlResult | undefined;
}

const CALM: Omit<ClusterPlan, "seed"> = {
  nodes: 3,
  world: {},
  settings: {},
  bus: NO_BUS_FAULTS,
  registryLossShare: 0,
  kills: 0,
  deaths: 0,
  pauses: 0,
  cuts: 0,
  wipes: 0,
  joins: 0,
  leaves: 0,
  script: [],
};

const LEASE_MS = 2_000;
const LICENCE_MS = 3_000;
const DISTURBED_FROM_MS = 1_000;
const DISTURBED_WITHIN_MS = 45_000;
const RESTART_WITHIN_MS = 6_000;
const CUT_MS_MAX = 12_000;
const REGISTRY_TIMEOUT_MS = 600;
const MEMORY_BYTES = 4 * 1024 * 1024;
const ENDLESS_MS = 2 * 3_600_000;
const SPEC = "the same for all";

export async function runCluster(
  wanted: Partial<ClusterPlan> & { readonly seed: number },
): Promise<ClusterReport> {
  return new ClusterSimulation({ ...CALM, ...wanted }).run();
}

interface Node {
  readonly process: SimProcess;
  bus: Bus | undefined;
  registry: MemoryRegistry | undefined;
  worker: Worker | undefined;
  election: LeaderElection | undefined;
  /** `leaving`: shutting down; `gone`: has left; `dead`: killed permanently. */
  state: "here" | "leaving" | "gone" | "dead";
}

class ClusterSimulation {
  readonly #plan: ClusterPlan;
  readonly #world: World;
  readonly #settings: Settings;
  readonly #random: Random;
  readonly #clock = new SimClock();
  readonly #startMs = this.#clock.nowMs();
  readonly #bus: SimBus;
  readonly #table = new MemoryTable();
  readonly #log = new RequestLog();
  readonly #stage: Stage;
  readonly #nodes: Node[] = [];
  readonly #disturbedAtMs: number[] = [];
  readonly #over = Promise.withResolvers<void>();
  readonly #lapses: { readonly node: string; readonly atMs: number }[] = [];
  readonly #answers: Answer[] = [];
  readonly #made: { readonly node: string; readonly key: string }[] = [];
  #dropped = 0;
  #whole: CrawlResult | undefined;
  #lost = 0;
  #leaders = 0;

  constructor(plan: ClusterPlan) {
    this.#plan = plan;
    this.#world = makeWorld({ seed: plan.seed, ...plan.world });
    this.#settings = {
      ...defaultSettings(),
      memoryBytes: MEMORY_BYTES,
      bucketCount: 64,
      grain: 1,
      exchangeEveryPages: 10,
      ...plan.settings,
    };
    this.#random = randomFrom(plan.seed);
    this.#bus = new SimBus(this.#clock, randomFrom(plan.seed + 1), plan.bus);
    // A world writes its URLs in canonical form.
    const seeds = seedUrls(this.#world) as CanonicalUrl[];
    this.#stage = { world: this.#world, seeds, clock: this.#clock, log: this.#log };
  }

  async run(): Promise<ClusterReport> {
    for (let count = 0; count < this.#plan.nodes; count++) this.#join();
    this.#disturb();
    const cancel = this.#clock.after(ENDLESS_MS, () =>
      this.#over.reject(new Error("the crawl does not end")),
    );
    await this.#clock.runUntil(this.#over.promise);
    cancel();
    // Dead nodes have no books.
    const nodes = this.#nodes.filter(({ state }) => state !== "dead");
    return {
      world: this.#world,
      settings: this.#settings,
      books: nodes.map(({ process }) => process.books()),
      results: nodes.flatMap(({ process }) => process.result ?? []),
      log: this.#log.entries,
      archived: nodes.map(({ process }) => process.archived()),
      disturbedAtMs: this.#disturbedAtMs,
      urlsSent: 0,
      virtualMs: this.#clock.nowMs() - this.#startMs,
      events: this.#clock.events,
      lost: this.#lost,
      leaders: this.#leaders,
      lapses: this.#lapses,
      spoilt: this.#bus.spoilt,
      dropped: this.#dropped,
      answers: this.#answers,
      made: this.#made,
      whole: this.#whole,
    };
  }

  #join(): void {
    const number = this.#nodes.length + 1;
    const process = new SimProcess(`node-${number}`, this.#plan.seed * 1000 + number, this.#stage);
    const node: Node = {
      process,
      bus: undefined,
      registry: undefined,
      worker: undefined,
      election: undefined,
      state: "here",
    };
    this.#nodes.push(node);
    this.#start(node);
  }

  #start(node: Node): void {
    this.#boot(node).catch((fault: unknown) => this.#over.reject(fault));
  }

  async #boot(node: Node): Promise<void> {
    const { process } = node;
    const { name, random } = process;
    const clock = new ProcessClock(this.#clock);
    const bus = this.#bus.from(name, (callBack) => clock.run(callBack));
    const registry = new MemoryRegistry(this.#table, this.#registryFaults(clock, random));
    registry.isCut = this.#bus.cutOff.has(name);
    let worker: Worker | undefined;
    const member = await bus.join(name, {
      onParcel: (parcel) => worker?.inbox.onParcel(parcel),
      onReceipt: (receipt) => worker?.inbox.onReceipt(receipt),
      onMessage: (from, note) => worker?.inbox.onMessage(from, note),
    });
    const division = emptyDivision(partitionOf(this.#settings));
    const { seeds } = this.#stage;
    const place = { self: name, size: 1, division, seeds, bus: member };
    const team = teamMeansFor(this.#settings, place);
    const settings = { ...this.#settings, limitBps: undefined, pagesMax: undefined };
    const topics = topicSetupFor(settings);
    const isFirstLife = !process.hasStarted;
    const { handle, done } = process.start({ clock, settings, team, topics });
    worker = new Worker({
      clock,
      crawl: handle,
      bus: member,
      random,
      spec: SPEC,
      log: {
        write: ({ message, values }) => {
          if (message === LAPSED) this.#lapses.push({ node: name, atMs: clock.nowMs() });
          if (message === DROPPED) this.#onDropped(Number(values["count"]));
        },
      },
      onRefused: (why) => this.#over.reject(new Error(`${name} was refused: ${why}`)),
      change: (key) => this.#made.push({ node: name, key }),
      onLook: ({ result }) => {
        this.#whole = result ?? this.#whole;
      },
    });
    if (node.state === "leaving") worker.leave("leaving");
    const hasTakenPart = (): boolean => worker.hasTakenPart;
    const election = new LeaderElection({
      clock,
      log: { write: ({ message, values }) => this.#onLog(message, values) },
      bus,
      registry,
      settings: this.#settings,
      seeds: this.#stage.seeds,
      spec: SPEC,
      node: name,
      random,
      leaseMs: LEASE_MS,
      licenceMs: LICENCE_MS,
      known: () => handle.team?.division ?? division,
      knownChanges: () => worker.changes,
      hasTakenPart,
      isBeginning: isFirstLife && node === this.#nodes[0],
      onFault: (fault) => this.#over.reject(fault),
    });
    Object.assign(node, { bus, registry, worker, election });
    done.then(() => this.#onEnded(node)).catch((fault: unknown) => this.#over.reject(fault));
  }

  /** Faults of the registry; they end with the other faults, because otherwise no node could stay leader. */
  #registryFaults(clock: ProcessClock, random: Random): RegistryFaults {
    const { registryLossShare } = this.#plan;
    const untilMs = this.#startMs + DISTURBED_FROM_MS + DISTURBED_WITHIN_MS;
    return {
      clock,
      random,
      delayMsMax: 20,
      timeoutMs: REGISTRY_TIMEOUT_MS,
      get lossShare(): number {
        return clock.nowMs() < untilMs ? registryLossShare : 0;
      },
    };
  }

  /** Everything that nodes send is valid: only spoilt copies may be dropped. */
  #onDropped(count: number): void {
    this.#dropped = Math.max(this.#dropped, count);
    if (this.#bus.spoilt === 0) this.#over.reject(new Error("a message was dropped"));
  }

  #onLog(message: string, { node, count }: LogEntry["values"]): void {
    if (message === DROPPED) this.#onDropped(Number(count));
    if (message === "this node leads") this.#leaders += 1;
    // A live node declared lost returns with pages that other nodes have fetched again.
    if (message.includes("lost") && node !== undefined) this.#lost += 1;
  }

  async #onEnded(node: Node): Promise<void> {
    node.worker?.stop(node.process.result);
    if (node.state === "leaving") node.state = "gone";
    await node.election?.farewell();
    await node.election?.stop();
    await node.bus?.close();
    const isOver = this.#nodes.every(
      ({ process, state }) => state === "gone" || state === "dead" || process.result !== undefined,
    );
    if (isOver) this.#over.resolve();
  }

  #disturb(): void {
    const { kills, deaths, pauses, cuts, wipes, joins, leaves } = this.#plan;
    this.#schedule(kills, () => this.#kill());
    this.#schedule(deaths, () => this.#die());
    this.#schedule(pauses, () => this.#pause());
    this.#schedule(cuts, () => this.#cut());
    this.#schedule(wipes, () => this.#wipe());
    this.#schedule(joins, () => {
      if (this.#nodes.some(({ process }) => process.isAlive)) this.#join();
    });
    this.#schedule(leaves, () => this.#leave());
    for (const event of this.#plan.script)
      this.#clock.after(event.atMs, () => this.#play(event.what, event.who));
  }

  #schedule(times: number, happen: () => void): void {
    for (let count = 0; count < times; count++)
      this.#clock.after(DISTURBED_FROM_MS + this.#random.next() * DISTURBED_WITHIN_MS, happen);
  }

  /** A random live node; with probability 0.4 the leader. */
  #randomNode(isEligible: (node: Node) => boolean = () => true): Node | undefined {
    const alive = this.#nodes.filter((node) => node.process.isAlive && isEligible(node));
    const leader = alive.find(({ election }) => election?.leader !== undefined);
    if (leader !== undefined && this.#random.next() < 0.4) return leader;
    return alive[below(this.#random, alive.length)];
  }

  #play(what: ScriptedEvent["what"], who: ScriptedEvent["who"]): void {
    const isWanted = ({ process, election }: Node): boolean =>
      process.isAlive && (election?.leader !== undefined) === (who === "leader");
    const node = this.#nodes.find((one) => isWanted(one));
    if (node === undefined) return;
    if (what.kind === "change") void this.#change(node, what.key, what.value);
    if (what.kind === "kill") this.#kill(node);
    if (what.kind === "die") this.#die(node);
    if (what.kind === "cut") this.#cut(node, what.forMs);
  }

  async #change(node: Node, key: string, value: string): Promise<void> {
    let [message, error]: [string, string | undefined] = ["", undefined];
    try {
      message = (await node.worker?.request(key, value)) ?? "";
    } catch (fault) {
      if (!(fault instanceof CrawlError)) throw fault;
      [message, error] = [fault.message, fault.code];
    }
    this.#answers.push({ key, atMs: this.#clock.nowMs() - this.#startMs, message, error });
  }

  #end(node: Node): void {
    this.#disturbedAtMs.push(this.#clock.nowMs());
    node.process.kill();
    void node.bus?.close();
    node.worker = node.election = node.bus = node.registry = undefined;
  }

  #kill(node = this.#randomNode()): void {
    if (node === undefined) return;
    this.#end(node);
    this.#clock.after(this.#random.next() * RESTART_WITHIN_MS, () => this.#start(node));
  }

  #die(chosen?: Node): void {
    const isOneOfMany = this.#nodes.filter(({ state }) => state === "here").length > 1;
    const node = isOneOfMany
      ? (chosen ?? this.#randomNode(({ state }) => state === "here"))
      : undefined;
    if (node === undefined) return;
    node.state = "dead";
    this.#lost += 1;
    this.#end(node);
  }

  #pause(): void {
    const node = this.#randomNode();
    if (node === undefined) return;
    this.#disturbedAtMs.push(this.#clock.nowMs());
    node.process.pauseFor(LICENCE_MS * (1 + this.#random.next()));
  }

  #cut(node = this.#randomNode(), forMs?: number): void {
    if (node === undefined) return;
    const { name } = node.process;
    const setCut = (isCut: boolean): void => {
      if (isCut) this.#bus.cutOff.add(name);
      else this.#bus.cutOff.delete(name);
      if (node.registry !== undefined) node.registry.isCut = isCut;
    };
    setCut(true);
    this.#clock.after(forMs ?? this.#random.next() * CUT_MS_MAX, () => setCut(false));
  }

  #wipe(): void {
    this.#bus.wipe();
    this.#table.wipe();
  }

  #leave(): void {
    const isOneOfMany = this.#nodes.filter(({ state }) => state === "here").length > 1;
    const node = isOneOfMany ? this.#randomNode(({ state }) => state === "here") : undefined;
    if (node === undefined) return;
    node.state = "leaving";
    node.worker?.leave("leaving");
  }
}
