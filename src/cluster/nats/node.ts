/**
 * One crawling process of a cluster: crawls its part, and leads when it is elected.
 *
 * Every node can lead; one does. The leader coordinates all nodes, its own included, over the bus (`leader.ts`). The NATS
 * servers may lose everything at any time: messages are kept by their senders, the division by every node, and the
 * crawl's definition by the node that announced it.
 */

import { hostname } from "node:os";
import { systemClock } from "../../base/clock.ts";
import { CrawlError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { systemRandom } from "../../base/random.ts";
import type { Settings } from "../../config/schema.ts";
import type { Division } from "../../crawl/ownership.ts";
import { type OpenCrawl, type OpenLocalCrawl, openCrawl } from "../../crawl/open.ts";
import type { CrawlResult, Snapshot } from "../../control/snapshot.ts";
import type { Bus } from "../../exchange/bus.ts";
import type { Registry } from "../../exchange/registry.ts";
import type { NatsOptions } from "../../exchange/nats/connection.ts";
import { credentialsOf, withoutCredentials } from "../../url/credentials.ts";
import { Worker } from "../worker.ts";
import { LeaderElection } from "./leader-election.ts";
import { emptyDivision } from "../ownership.ts";
import type { Spec } from "./spec.ts";
import type { Look } from "../messages.ts";
import { withoutShared } from "../shared-limit.ts";
import { keepNodeName } from "../team-folder.ts";
import { partitionOf, teamMeansFor } from "../team-setup.ts";

interface NodeOrder {
  readonly spec: Spec;
  readonly folder: string;
  readonly log: Log;
  readonly bus: Bus;
  readonly registry: Registry;
  /** Called repeatedly until the crawl ends: the node that began the crawl keeps it announced. */
  readonly announce: (() => Promise<unknown>) | undefined;
  /** It has just begun the crawl, which did not exist before. */
  readonly isBeginning: boolean;
}

interface OpenNode extends OpenCrawl {
  readonly name: string;
  /** Hands its part over to the other nodes, and then ends. */
  leave(): void;
  /** Stops all nodes; the same commands resume. */
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
    // Shown in messages; users and passwords are among the credentials.
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

/** `nats://user:password@host` or `nats://token@host`, as in other clients of NATS. */
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
  #worker: Worker | undefined;
  #election: LeaderElection | undefined;
  /** The last news of a leader on another node. */
  #whole: Pick<Look, "snapshot" | "result"> | undefined;
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
      onParcel: (parcel) => this.#worker?.inbox.onParcel(parcel),
      onReceipt: (receipt) => this.#worker?.inbox.onReceipt(receipt),
      onMessage: (from, control) => this.#worker?.inbox.onMessage(from, control),
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
    this.#worker = new Worker({
      clock: systemClock,
      crawl: crawl.handle,
      bus: member,
      log,
      spec: spec.digest,
      onRefused: (why) => this.#onRefused(why),
      onLook: (look) => {
        this.#whole = look;
      },
      change: (key, value) => void crawl.change(key, value),
    });
    this.#lead(crawl, this.#worker);
    this.#announceOn();
    crawl.done
      .then(
        (result) => this.#close(result),
        (error: unknown) => this.#fail(this.#refused ?? error),
      )
      .catch((error: unknown) => this.#settle.reject(error));
  }

  snapshot(): Snapshot {
    const own = (this.#crawl as OpenLocalCrawl).snapshot();
    const whole = this.#election?.leader?.snapshot() ?? this.#whole?.snapshot;
    return whole === undefined ? own : { ...whole, processId: process.pid };
  }

  stop(why: string): void {
    this.#crawl?.stop(why);
  }

  leave(): void {
    this.#worker?.leave("Ctrl-C");
  }

  stopAll(why: string): void {
    this.#worker?.askToStop(why);
  }

  async change(key: string, value: string): Promise<string> {
    if (this.#worker === undefined) throw new CrawlError("NOT_APPLIED", "This node is starting.");
    return this.#worker.request(key, value);
  }

  #lead(crawl: OpenLocalCrawl, worker: Worker): void {
    const { registry, spec, log, bus } = this.#order;
    this.#election = new LeaderElection({
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
      knownChanges: () => worker.changes,
      hasTakenPart: () => worker.hasTakenPart,
      isBeginning: this.#order.isBeginning,
      onFault: (fault) => this.#fail(fault),
    });
  }

  /** The registry may be wiped: then the crawl has to be announced again. */
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

  async #close(own: CrawlResult): Promise<void> {
    this.#worker?.stop(own);
    await this.#election?.farewell();
    // The node that began the crawl reports the whole, the others their part.
    const whole = this.#order.announce === undefined ? undefined : await this.#wholeResult();
    await this.#tidy();
    this.#settle.resolve(whole ?? own);
  }

  /** From this leader, or in the last news of another one. */
  async #wholeResult(): Promise<CrawlResult | undefined> {
    for (let waitedMs = 0; waitedMs < LAST_WORDS_MS_MAX; waitedMs += LOOK_EVERY_MS) {
      const result = this.#election?.leader?.result() ?? this.#whole?.result;
      if (result !== undefined && result !== null) return result;
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    const { log } = this.#order;
    const message = "no leader reported the whole crawl: this is the result of this node";
    log.write({ level: "warn", message, values: {} });
    return undefined;
  }

  #fail(error: unknown): void {
    this.#worker?.stop();
    this.#crawl?.stop("the node has failed");
    this.#tidy().then(
      () => this.#settle.reject(error),
      () => this.#settle.reject(error),
    );
  }

  async #tidy(): Promise<void> {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    await this.#election?.stop();
    await this.#order.bus.close();
    await this.#order.registry.close();
  }

  /** Until a leader has sent a division, no part has an owner. */
  #nothing(): Division {
    return emptyDivision(partitionOf(this.#order.spec.settings));
  }
}
