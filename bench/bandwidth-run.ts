/**
 * One run of the bandwidth bench: a crawler, its servers, a limit, and what the line saw of it.
 *
 * The crawl is started, watched from outside, and interrupted after the measured time; it never
 * ends by itself, so that all of that time there is work. Measured are the one-second windows that
 * lie between 2 s after the first byte and the interruption.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Assignment, Contender } from "./bandwidth-contenders.ts";
import { LINE_COUNT, type Network, SITE_PORT } from "./bandwidth-net.ts";
import { documentPaths, type Mix, type ServerOptions } from "./bandwidth-server.ts";
import {
  firstBytesAtMs,
  meanBps,
  type Sample,
  type Window,
  windowsOf,
} from "./bandwidth-windows.ts";

export type Servers = "fast" | "spread" | "slow" | "late";

export interface Case {
  readonly mix: Mix;
  readonly servers: Servers;
  readonly limitBps: number | undefined;
  /** The speeds of shaped lines hang on the limit they are to fill, also in a run without one. */
  readonly speedsForBps: number;
  readonly seconds: number;
  readonly tls?: boolean;
  readonly connections?: number;
  readonly perSite?: number;
  /** Done in the middle of the crawl. */
  readonly meanwhile?: (assignment: Assignment) => Promise<void>;
}

export interface Run {
  readonly samples: readonly Sample[];
  readonly windows: readonly Window[];
  readonly firstByteAtMs: number;
  /** Whether the crawler was still at it when it was interrupted. */
  readonly lasted: boolean;
  /** What it said about itself. */
  readonly result: Readonly<Record<string, unknown>> | undefined;
  readonly errors: string;
  /** Of one core, its children included. */
  readonly crawlerCpu: number;
  /** Of the whole machine. */
  readonly machineBusy: number;
}

export interface Bench {
  readonly network: Network;
  /** A folder that is gone at the end, whatever the end is. */
  readonly scratch: string;
  readonly tls: { readonly key: string; readonly cert: string };
  readonly docsFolder: string | undefined;
}

const SETTLING_MS = 2000;
const FIRST_BYTE_PATIENCE_MS = 20_000;
const QUIET_MS = 500;
const QUIET_PATIENCE_MS = 10_000;
const STOP_GRACE_MS = 8000;
const STOP_PATIENCE_MS = 20_000;
const FIRST_BYTE_MS_MAX = 3000;
/** Late servers send a header at once, and its body after a time between these. */
const LATE_BODY_MS = [1000, 3000] as const;
const SPREAD = 100;
const SLOWEST_BPS_MIN = 10_000;
const SEEDS_PER_SITE = 20;
const SITES_PER_LINE = 10;
const TLS_SITES_PER_LINE = 5;
const LOOK_MS = 50;
const LINE_STEP_MS = 100;
const CLOCK_TICKS_PER_S = 100;
/** What an operator allows who wants such servers to fill such a limit. */
interface Allowance {
  readonly connections: number;
  readonly perSite: number;
  readonly processes: number;
  readonly seedsPerSite: number;
}
const USUAL = { processes: 1, seedsPerSite: SEEDS_PER_SITE };
/** Slow first bytes need many requests under way, */
const ALLOWANCES: Readonly<Record<Servers, Allowance>> = {
  fast: { connections: 256, perSite: 4, ...USUAL },
  spread: { connections: 256, perSite: 4, ...USUAL },
  slow: { connections: 2048, perSite: 32, ...USUAL },
  late: { connections: 2048, perSite: 32, ...USUAL },
};
/** and of small pages far more still: 6,600 for 50 MB/s, too many for one thread. Seeds are asked for before any page leads on. */
const MANY: Allowance = { connections: 10_000, perSite: 128, processes: 2, seedsPerSite: 200 };
const MANY_FROM_BPS = 20e6;

function allowanceFor({ mix, servers, speedsForBps }: Case): Allowance {
  const areMany = mix === "small" && servers === "slow" && speedsForBps > MANY_FROM_BPS;
  return areMany ? MANY : ALLOWANCES[servers];
}

export async function runCase(bench: Bench, contender: Contender, what: Case): Promise<Run> {
  const { network } = bench;
  const folder = mkdtempSync(join(bench.scratch, "run-"));
  network.shape(what.servers === "spread" ? speeds(what.speedsForBps) : undefined);
  const server = await network.serve(serverOptions(bench, what));
  const sampler = network.sample();
  const allowed = allowanceFor(what);
  const assignment: Assignment = {
    seeds: seedsOf(bench, what, allowed.seedsPerSite),
    limitBps: what.limitBps,
    connections: what.connections ?? allowed.connections,
    perSite: what.perSite ?? allowed.perSite,
    processes: allowed.processes,
    allowed: network.allowed,
    folder,
    secondsMax: what.seconds + (FIRST_BYTE_PATIENCE_MS + STOP_PATIENCE_MS) / 1000,
  };
  try {
    return await watch(contender, what, { assignment, samples: sampler.samples });
  } finally {
    sampler.stop();
    server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function watch(
  contender: Contender,
  what: Case,
  { assignment, samples }: { assignment: Assignment; samples: readonly Sample[] },
): Promise<Run> {
  await quiet(samples);
  const { program, words } = contender.command(assignment);
  const crawler = start(program, words, assignment.folder);
  const startedAtMs = nowMs();
  const firstByteAt = (): number | undefined =>
    firstBytesAtMs(samples.filter(({ atMs }) => atMs >= startedAtMs));
  while (firstByteAt() === undefined && crawler.child.exitCode === null) {
    if (nowMs() - startedAtMs > FIRST_BYTE_PATIENCE_MS) break;
    await sleep(LOOK_MS);
  }
  const firstByteAtMs = firstByteAt() ?? nowMs();
  await sleep(Math.max(0, firstByteAtMs + SETTLING_MS - nowMs()));
  const before = { cpu: cpuSeconds(crawler.child.pid), busy: busySeconds(), atMs: nowMs() };
  const meanwhile = what.meanwhile?.(assignment);
  const endMs = firstByteAtMs + SETTLING_MS + what.seconds * 1000;
  while (nowMs() < endMs + LOOK_MS && crawler.child.exitCode === null) await sleep(LOOK_MS);
  await meanwhile;
  const lasted = crawler.child.exitCode === null;
  const tookS = (nowMs() - before.atMs) / 1000;
  const crawlerCpu = (cpuSeconds(crawler.child.pid) - before.cpu) / tookS;
  const machineBusy = (busySeconds() - before.busy) / tookS / cpus().length;
  await sleep(3 * LOOK_MS);
  const { stdout, stderr } = await crawler.stop();
  const windows = windowsOf(samples, firstByteAtMs + SETTLING_MS, Math.min(endMs, nowMs()));
  const shared = { samples, windows, firstByteAtMs, lasted, crawlerCpu, machineBusy };
  return { ...shared, result: resultOf(stdout), errors: stderr.trim() };
}

/** What the crawl before has left on slow lines is not this one's. */
async function quiet(samples: readonly Sample[]): Promise<void> {
  const patienceMs = nowMs() + QUIET_PATIENCE_MS;
  while (nowMs() < patienceMs) {
    await sleep(LOOK_MS);
    const fromMs = nowMs() - QUIET_MS;
    const [first, ...since] = samples.filter(({ atMs }) => atMs >= fromMs);
    if (first !== undefined && since.length > 1 && since.at(-1)?.bytes === first.bytes) return;
  }
}

interface Started {
  readonly child: ChildProcess;
  /** Interrupts it, waits, kills it if it must. */
  stop(): Promise<{ readonly stdout: string; readonly stderr: string }>;
}

function start(program: string, words: readonly string[], folder: string): Started {
  // A crawler that outlives a killed bench would be measured by the next one.
  const child = spawn("setpriv", ["--pdeathsig", "KILL", program, ...words], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const told = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      told[name] = (told[name] + text).slice(-100_000);
    });
  const closed = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
    child.once("error", (error) => {
      told.stderr += String(error);
      resolve();
    });
  });
  const killAtExit = (): void => void child.kill("SIGKILL");
  // Before the folder it writes to is removed.
  process.prependOnceListener("exit", killAtExit);
  return {
    child,
    stop: async () => {
      child.kill("SIGINT");
      // What is under way may take minutes under a small limit: the second one ends it at once.
      const again = setTimeout(() => child.kill("SIGINT"), STOP_GRACE_MS);
      const patience = setTimeout(() => child.kill("SIGKILL"), STOP_PATIENCE_MS);
      await closed;
      clearTimeout(again);
      clearTimeout(patience);
      process.off("exit", killAtExit);
      return told;
    },
  };
}

/** Ten speeds over a factor of a hundred; together they could give five times the limit. */
function speeds(limitBps: number): number[] {
  const slowestBps = Math.max(SLOWEST_BPS_MIN, limitBps / 50);
  return Array.from({ length: LINE_COUNT }, (_, line) =>
    Math.round(slowestBps * SPREAD ** (line / (LINE_COUNT - 1))),
  );
}

function serverOptions(bench: Bench, what: Case): Omit<ServerOptions, "port"> {
  return {
    mix: what.mix,
    ...(what.servers === "slow" && { firstByteMsMax: FIRST_BYTE_MS_MAX }),
    ...(what.servers === "late" && { bodyMs: LATE_BODY_MS }),
    ...(what.tls === true && { tls: bench.tls, trouble: true }),
    ...(bench.docsFolder !== undefined && { docsFolder: bench.docsFolder }),
  };
}

function seedsOf(bench: Bench, { mix, tls }: Case, perSite: number): string[] {
  const addresses = bench.network.addresses(tls === true ? TLS_SITES_PER_LINE : SITES_PER_LINE);
  const docs = mix === "docs" ? docsByFolder(bench.docsFolder ?? "") : [];
  return addresses.flatMap((address, site) => {
    const paths = docs[site % docs.length] ?? generatedPaths(perSite);
    return paths.map(
      (path) => `${tls === true ? "https" : "http"}://${address}:${SITE_PORT}${path}`,
    );
  });
}

function generatedPaths(count: number): string[] {
  return Array.from({ length: count }, (_, page) => `/p/${page}.html`);
}

/** Of every site of documentation some pages, from all over it. */
function docsByFolder(folder: string): string[][] {
  const groups = Map.groupBy(documentPaths(folder), (path) => path.split("/")[0]);
  return [...groups.values()].map((paths) => {
    const step = Math.max(1, Math.floor(paths.length / SEEDS_PER_SITE));
    return paths.filter((_, at) => at % step === 0).map((path) => `/d/${path}`);
  });
}

/** Writes the bytes on the line, per tenth of a second, for later inspection. */
export function writeSeries(folder: string, name: string, { samples, firstByteAtMs }: Run): void {
  mkdirSync(folder, { recursive: true });
  const lastMs = samples.at(-1)?.atMs ?? 0;
  const rows = windowsOf(samples, firstByteAtMs - 1000, lastMs).map(({ atMs, bps }) => {
    const tenthBps = meanBps(samples, atMs - LINE_STEP_MS, atMs);
    return `${((atMs - firstByteAtMs) / 1000).toFixed(1)},${bps.toFixed(0)},${tenthBps.toFixed(0)}`;
  });
  const heading = "seconds,lastSecondBps,lastTenthBps";
  writeFileSync(join(folder, `${name}.csv`), `${[heading, ...rows].join("\n")}\n`);
}

function resultOf(stdout: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(stdout) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function cpuSeconds(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_S;
  } catch {
    return Number.NaN;
  }
}

/** Seconds that the machine's cores were not idle, added up. */
function busySeconds(): number {
  const [line = ""] = readFileSync("/proc/stat", "latin1").split("\n");
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softirq + steal) / CLOCK_TICKS_PER_S;
}

function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
