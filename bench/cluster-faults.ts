/**
 * Real processes and a real nats-server, killed, wiped, cut off and stopped while they crawl a world whose truth is
 * known; then what servers saw and all stores together are judged.
 *
 * Usage: node bench/cluster-faults.ts [--kills 100] [--server-kills 30] [--wipes 5] [--cuts 20] [--pauses 5]
 *        [--pages 1000] [--seed 1]
 *
 * Half of the kills hit processes under a supervisor (--procs 4), the others nodes of a cluster of four, each with
 * a way of its own to the server. Nodes leave and join in between. After every fault it is measured how long
 * servers are asked for nothing. Ends with 1 when a promise was broken.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { below, randomFrom } from "../src/base/random.ts";
import type { Ended, Running } from "../test/cli/program.ts";
import { childrenOf, FaultTrial, resultIn } from "../test/cluster/fault-trial.ts";
import { FaultProxy } from "../test/cluster/fault-proxy.ts";
import { NatsServer } from "../test/cluster/nats-server.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "100" },
    "server-kills": { type: "string", default: "30" },
    wipes: { type: "string", default: "5" },
    cuts: { type: "string", default: "20" },
    pauses: { type: "string", default: "5" },
    pages: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
  },
});
const seed = Number(values.seed);
const random = randomFrom(seed);
const PLAN = {
  seed,
  sites: 8,
  pagesPerSite: Number(values.pages),
  delayMs: 400,
  addressDelayMs: 80,
  patienceMs: 3_600_000,
};
/** Longer than a licence; and how long a cut lasts at most. */
const PAUSE_MS = 7_000;
const CUT_MS_MAX = 12_000;
const BETWEEN_MS = 1_000;
const RECOVERED_MS_MAX = 60_000;
/** Three times the usual error of the sample. */
const TOLD_SHARE = 0.093;
const folder = mkdtempSync(join(tmpdir(), "weir-cluster-faults-"));
const recoveries = new Map<string, number[]>();
let broken = 0;

interface Node {
  readonly proxy: FaultProxy;
  readonly folder: string;
  running: Running;
}

/** Four nodes and their faults; the first one started the crawl. */
class Cluster {
  readonly folders: string[] = [];
  readonly nodes: Node[] = [];
  /** Of those who left. */
  readonly ends: Ended[] = [];
  isOver = false;
  readonly #trial: FaultTrial;
  readonly #server: NatsServer;

  constructor(trial: FaultTrial, server: NatsServer) {
    this.#trial = trial;
    this.#server = server;
  }

  async begin(): Promise<void> {
    const proxy = await FaultProxy.start(this.#server.port);
    const own = join(folder, `node-${this.folders.length}`);
    this.folders.push(own);
    this.nodes.push({ proxy, folder: own, running: this.#start(own, proxy) });
  }

  async kill(): Promise<void> {
    const node = this.#one();
    const { ended } = node.running;
    node.running.process.kill("SIGKILL");
    await ended;
    node.running = this.#start(node.folder, node.proxy);
  }

  async cut(): Promise<void> {
    const { proxy } = this.#one();
    if (random.next() < 0.5) proxy.cut();
    else proxy.stall();
    await wait(random.next() * CUT_MS_MAX);
    proxy.heal();
  }

  async pause(): Promise<void> {
    const { process: stopped } = this.#one().running;
    stopped.kill("SIGSTOP");
    await wait(PAUSE_MS);
    stopped.kill("SIGCONT");
  }

  async change(): Promise<void> {
    const [leaver] = this.nodes.splice(1 + below(random, this.nodes.length - 1), 1) as [Node];
    leaver.running.process.kill("SIGINT");
    this.ends.push(await leaver.running.ended);
    await leaver.proxy[Symbol.asyncDispose]();
    await this.begin();
  }

  #one(): Node {
    return this.nodes[below(random, this.nodes.length)] as Node;
  }

  #start(own: string, { url }: FaultProxy): Running {
    const meet = ["--nats", url, "--crawl", "faults"];
    if (own !== this.folders[0]) return this.#trial.node(own, ...meet);
    this.isOver = false;
    const running = this.#trial.crawl(own, ...meet);
    void running.ended.then(() => (this.isOver = true));
    return running;
  }
}

await underSupervisor(Math.ceil(Number(values.kills) / 2));
await inCluster();
rmSync(folder, { recursive: true });
console.log(`\n${"fault".padEnd(22)}${"times".padStart(6)}${"longest quiet".padStart(16)}`);
for (const [what, quietMs] of recoveries)
  console.log(
    what.padEnd(22) +
      String(quietMs.length).padStart(6) +
      `${(Math.max(...quietMs) / 1000).toFixed(1)} s`.padStart(16),
  );
console.log(`promises broken: ${broken}`);
const faults = Object.fromEntries([...recoveries].map(([what, all]) => [what, all.length]));
console.log(JSON.stringify({ bench: "cluster-faults", seed, faults, broken }));
process.exitCode = broken === 0 ? 0 : 1;

async function underSupervisor(kills: number): Promise<void> {
  // Kills are close together here; in a cluster each is waited for.
  await using trial = await FaultTrial.start({ ...PLAN, pagesPerSite: PLAN.pagesPerSite / 5 });
  const out = join(folder, "procs");
  let crawl = trial.crawl(out, "--procs", "4");
  let isOver = false;
  const watch = (running: Running): void => void running.ended.then(() => (isOver = true));
  watch(crawl);
  await trial.requestsReach(20);
  for (let kill = 1; kill <= kills && !isOver; kill++) {
    const isWhole = kill % 10 === 0;
    await after(trial, isWhole ? "supervisor killed" : "process killed", async () => {
      const children = childrenOf(crawl.process.pid as number);
      const child = children[below(random, children.length)];
      if (!isWhole) return void (child !== undefined && process.kill(child, "SIGKILL"));
      const { ended } = crawl;
      crawl.process.kill("SIGKILL");
      await ended;
      isOver = false;
      crawl = trial.crawl(out, "--procs", "4");
      watch(crawl);
    });
  }
  judged("--procs 4", trial, [await crawl.ended], [out]);
}

async function inCluster(): Promise<void> {
  await using server = await NatsServer.start();
  await using trial = await FaultTrial.start(PLAN);
  const cluster = new Cluster(trial, server);
  for (let count = 0; count < 4; count++) await cluster.begin();
  await trial.requestsReach(20);
  const kinds: [string, number, () => Promise<void>][] = [
    ["node killed", Math.floor(Number(values.kills) / 2), () => cluster.kill()],
    ["nats-server killed", Number(values["server-kills"]), () => server.restart()],
    ["its store wiped", Number(values.wipes), () => server.wipe()],
    ["node cut off", Number(values.cuts), () => cluster.cut()],
    ["node stopped", Number(values.pauses), () => cluster.pause()],
    ["left, and one joined", 4, () => cluster.change()],
  ];
  const schedule = kinds.flatMap(([what, times, happen]) =>
    Array.from({ length: times }, () => ({ what, happen, place: random.next() })),
  );
  for (const { what, happen } of schedule.toSorted((a, b) => a.place - b.place)) {
    if (cluster.isOver) break;
    await after(trial, what, happen);
  }
  const last = await Promise.all(cluster.nodes.map(({ running }) => running.ended));
  for (const { proxy } of cluster.nodes) await proxy[Symbol.asyncDispose]();
  judged("cluster", trial, [...last, ...cluster.ends], cluster.folders);
}

async function after(trial: FaultTrial, what: string, happen: () => Promise<void>): Promise<void> {
  trial.note();
  await happen();
  trial.note();
  const quietMs = await trial.untilAsked(RECOVERED_MS_MAX);
  recoveries.set(what, [...(recoveries.get(what) ?? []), quietMs]);
  console.error(`${what}: asked again after ${Math.round(quietMs)} ms; ${trial.requests} requests`);
  await wait(random.next() * BETWEEN_MS);
}

function judged(
  what: string,
  trial: FaultTrial,
  ends: readonly Ended[],
  folders: readonly string[],
): void {
  const violations = trial.judge(folders);
  const [first] = ends as [Ended, ...Ended[]];
  const told = first.stdout === "" ? undefined : resultIn(first);
  for (const { code, stderr } of ends)
    if (code !== 0) violations.unshift({ rule: "exit", detail: `${code}: ${stderr.slice(-500)}` });
  // In a cluster the pages of a lost node may be fetched again; the number of different pages is
  // estimated from samples.
  const different = told?.parallel?.unique ?? 0;
  if (Math.abs(different / trial.pages - 1) > TOLD_SHARE)
    violations.push({ rule: "told", detail: `${different} pages, there are ${trial.pages}` });
  broken += violations.length;
  const { length } = trial.faultsAtMs;
  console.log(
    `${what}: ${trial.pages} pages, ${trial.requests} requests, ${length / 2} faults, ${trial.repeats} pages asked for twice, promises broken ${violations.length}`,
  );
  for (const { rule, detail } of violations.slice(0, 20)) console.log(`BROKEN ${rule}: ${detail}`);
}
