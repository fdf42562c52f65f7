/**
 * One crawling process of a cluster: crawls its part, and leads when it is its turn.
 *
 * Every node can lead; one does. Whoever leads coordinates (`leader.ts`), its own crawl like all others, over
 * the bus. The NATS servers may lose everything at any time: letters are kept by who sends them, the
 * division by every node, and what the crawl is by whoever announced it.
 */

import { hostname } from "node:os";
import { systemClock } from "../base/clock.ts";
import { CrawlError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { systemRandom } from "../base/random.ts";
import type { Settings } from "../config/schema.ts";
import type { Division } from "../crawl/ownership.ts";
import { type OpenCrawl, type OpenLocalCrawl, openCrawl } from "../crawl/open.ts";
import type { CrawlResult, Snapshot } from "../control/snapshot.ts";
import type { Bus } from "../exchange/bus.ts";
import type { Registry } from "../exchange/registry.ts";
import type { NatsOptions } from "../exchange/nats-connection.ts";
import { credentialsOf, withoutCredentials } from "../url/credentials.ts";
import { Agent } from "./agent.ts";
import { Candidacy } from "./candidacy.ts";
import { nobodysDivision } from "./dealing.ts";
import { isFinal } from "./whole-view.ts";
import type { Spec } from "./spec.ts";
import { resultOfWhole } from "./merge.ts";
import { withoutShared } from "./shared-line.ts";
import { keepNodeName } from "./team-folder.ts";
import { partitionOf, teamMeansFor } from "./team-means.ts";

export interface NodeOrder {
  readonly spec: Spec;
  readonly folder: string;
  readonly log: Log;
  readonly bus: Bus;
  readonly registry: Registry;
  /** Called again and again until the crawl ends: whoever began it sees to it that it is known. */
  readonly announce: (() => Promise<unknown>) | undefined;
  /** It has just begun the crawl, which was not there before. */
  readonly isBeginning: boolean;
}

export interface OpenNode extends OpenCrawl {
  readonly name: string;
  /** Hands its part over to the others, and ends when that is done. */
  leave(): void;
  /** Ends the crawl of all nodes; the same commands go on. */
  stopAll(why: string): void;
}

const LEASE_MS = 4_000;
const LICENCE_MS = 5_000;
const ANNOUNCE_EVERY_MS = 5_000;
const LAST_WORDS_MS_MAX = 10_000;
const LOOK_EVERY_MS = 100;

export async function openNode(order: NodeOrder): Promise<OpenNode> {
  const node = new ClusterNode(order);
  await node.start();
  return node;
}

export function natsOptionsOf(settings: Settings, log: Log): NatsOptions {
  const { natsCaFile: caFile, natsCertFile: certFile, natsKeyFile: keyFile } = settings;
  const hasTls = (caFile ?? certFile ?? keyFile) !== undefined;
  return {
    // They are shown in messages; what they say of a user is among the credentials.
    servers: settings.natsServers.map(withoutCredentials),
    crawl: settings.crawlName,
    credentials: loginOf(settings),
    tls: hasTls ? { caFile, certFile, keyFile } : undefined,
    domain: settings.natsDomain,
    replicas: settings.natsReplicas,
    log,
  };
}

function loginOf(settings: Settings): NatsOptions["credentials"] {
  const { natsCredentialsFile, natsNkeyFile, natsUser, natsPassword, natsToken } = settings;
  if (natsCredentialsFile !== undefined) return { kind: "file", path: natsCredentialsFile };
  if (natsNkeyFile !== undefined) return { kind: "nkey", path: natsNkeyFile };
  if (natsUser !== undefined)
    return { kind: "password", user: natsUser, password: natsPassword ?? "" };
  return natsToken === undefined
    ? credentialsInUrl(settings.natsServers)
    : { kind: "token", token: natsToken };
}

/** `nats://user:password@host` or `nats://token@host`, as other clients of NATS read it. */
function credentialsInUrl(servers: readonly string[]): NatsOptions["credentials"] {
  const [first] = servers.flatMap((server) => credentialsOf(server) ?? []);
  if (first === undefined) return undefined;
  const { user, password } = first;
  return password === "" ? { kind: "token", token: user } : { kind: "password", user, password };
}

class ClusterNode implements OpenNode {
  readonly name: string;
  readonly done: Promise<CrawlResult>;
  readonly #order: NodeOrder;
  readonly #settle = Promise.withResolvers<CrawlResult>();
  #crawl: OpenLocalCrawl | undefined;
  #agent: Agent | undefined;
  #candidacy: Candidacy | undefined;
  #whole: Snapshot | undefined;
  #timers: NodeJS.Timeout[] = [];
  #refused: CrawlError | undefined;

  constructor(order: NodeOrder) {
    this.#order = order;
    const { spec, folder } = order;
    const usual = `${hostname()}-${Math.floor(systemRandom.next() * 1e6)}`;
    const { nodeName, crawlName } = spec.settings;
    this.name = nodeName ?? keepNodeName(folder, crawlName, usual);
    if (nodeName !== undefined) keepNodeName(folder, crawlName, nodeName);
    this.done = this.#settle.promise;
  }

  async start(): Promise<void> {
    const { spec, folder, log, bus } = this.#order;
    const member = await bus.join(this.name, {
      onParcel: (parcel) => this.#agent?.inbox.onParcel(parcel),
      onReceipt: (receipt) => this.#agent?.inbox.onReceipt(receipt),
      onNote: (from, note) => this.#agent?.inbox.onNote(from, note),
    });
    const place = {
      self: this.name,
      size: 1,
      seeds: spec.seeds,
      division: this.#nothing(),
      bus: member,
    };
    const settings = withoutShared(spec.settings);
    const team = teamMeansFor(spec.settings, place);
    const { seeds, spellings } = spec;
    const change = (key: string, value: string): Promise<string> => this.change(key, value);
    const crawl = await openCrawl({
      settings,
      seeds,
      spellings,
      folder,
      hooks: {},
      log,
      team,
      change,
    });
    this.#crawl = crawl;
    this.#agent = new Agent({
      clock: systemClock,
      crawl: crawl.handle,
      bus: member,
      log,
      spec: spec.digest,
      onRefused: (why) => this.#onRefused(why),
      onLook: (snapshot) => {
        this.#whole = snapshot;
      },
      change: (key, value) => void crawl.change(key, value),
    });
    this.#lead(crawl, this.#agent);
    this.#announceOn();
    crawl.done
      .finally(() => this.#agent?.stop())
      .then(
        (result) => this.#close(result),
        (error: unknown) => this.#fail(this.#refused ?? error),
      )
      .catch((error: unknown) => this.#settle.reject(error));
  }

  snapshot(): Snapshot {
    const own = (this.#crawl as OpenLocalCrawl).snapshot();
    const whole = this.#candidacy?.leader?.snapshot ?? this.#whole;
    return whole === undefined ? own : { ...whole, processId: process.pid };
  }

  stop(why: string): void {
    this.#crawl?.stop(why);
  }

  leave(): void {
    this.#agent?.leave("Ctrl-C");
  }

  stopAll(why: string): void {
    this.#agent?.askToStop(why);
  }

  async change(key: string, value: string): Promise<string> {
    if (this.#agent === undefined) throw new CrawlError("NOT_APPLIED", "This node is starting.");
    return this.#agent.request(key, value);
  }

  #lead(crawl: OpenLocalCrawl, agent: Agent): void {
    const { registry, spec, log, bus } = this.#order;
    this.#candidacy = new Candidacy({
      clock: systemClock,
      log,
      bus,
      registry,
      settings: spec.settings,
      seeds: spec.seeds,
      spec: spec.digest,
      node: this.name,
      leaseMs: LEASE_MS,
      licenceMs: LICENCE_MS,
      known: () => crawl.handle.team?.division ?? this.#nothing(),
      knownChanges: () => agent.changes,
      hasTakenPart: () => agent.hasTakenPart,
      isBeginning: this.#order.isBeginning,
      onFault: (fault) => this.#fail(fault),
    });
  }

  /** The registry may be wiped: then somebody has to say again what is crawled. */
  #announceOn(): void {
    const { announce, log } = this.#order;
    if (announce === undefined) return;
    const again = (): void => {
      announce().catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        log.write({ level: "debug", message: "not announced", values: { why: message } });
      });
    };
    this.#timers.push(setInterval(again, ANNOUNCE_EVERY_MS));
  }

  #onRefused(why: string): void {
    this.#refused = new CrawlError("CLUSTER_MISMATCH", `The cluster refused this node: ${why}.`);
    this.#crawl?.stop(why);
    this.#fail(this.#refused);
  }

  async #close(result: CrawlResult): Promise<void> {
    await this.#candidacy?.farewell();
    await this.#wholeEnd();
    const whole = this.#candidacy?.leader?.snapshot ?? this.#whole;
    await this.#tidy();
    // Whoever began the crawl sums up the whole, the others their part.
    const isWhole = this.#order.announce !== undefined && whole !== undefined;
    this.#settle.resolve(isWhole ? resultOfWhole(whole, result) : result);
  }

  /** Whoever sums up the whole waits for the last words of all, as the leader tells them. */
  async #wholeEnd(): Promise<void> {
    if (this.#order.announce === undefined || this.#candidacy?.leader !== undefined) return;
    for (let waitedMs = 0; waitedMs < LAST_WORDS_MS_MAX; waitedMs += LOOK_EVERY_MS) {
      if (this.#whole !== undefined && isFinal(this.#whole)) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  }

  #fail(error: unknown): void {
    this.#crawl?.stop("the node has failed");
    this.#tidy().then(
      () => this.#settle.reject(error),
      () => this.#settle.reject(error),
    );
  }

  async #tidy(): Promise<void> {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    await this.#candidacy?.stop();
    await this.#order.bus.close();
    await this.#order.registry.close();
  }

  /** Before anybody has said what is whose, nothing is anybody's. */
  #nothing(): Division {
    return nobodysDivision(partitionOf(this.#order.spec.settings));
  }
}
