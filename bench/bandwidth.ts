/**
 * Does the crawl stay under its limit, and does it fill it? Measured from outside, on the line.
 *
 *   node bench/bandwidth.ts [--limits 100KB,1MB,10MB,50MB] [--mixes small,docs,large,mix]
 *                           [--servers fast,spread,slow,late] [--seconds 15] [--rounds 1]
 *                           [--offload] [--tls] [--changes] [--price] [--peers] [--all]
 *                           [--control paced] [--procs 4] [--kills] [--series DIR] [--weir CHECKOUT]
 *                           [--connections 10000 --per-site 128]
 *
 * Without a part (`--tls`, `--changes`, `--price`, `--peers`) it runs the matrix of limits, page
 * mixes and servers; `--all` runs everything. `PEERS_DIR` names the folder of real pages that
 * ../shared/peers-bench/setup.sh made; without it the mix `docs` is left out.
 *
 * Servers stand in a network namespace (see `bandwidth-net.ts`), the crawler on this side, and the
 * interfaces' counters are read every 100 ms. Packets are of 1,500 bytes, as on a real line;
 * `--offload` lets the kernel hand over larger ones. Goals, from 2 s after the first byte, while
 * there is work: mean at least 98 % of the limit, no one-second window above 105 %, standard
 * deviation of the windows at most 3 %. A run that misses its mean is repeated without a limit:
 * what the machine cannot carry at all, no limit can fill, and the table then says so. Prints
 * tables in Markdown and a line of JSON for each run. Needs root; removes what it made, also after
 * a crash.
 */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { changeMidway } from "./bandwidth-changes.ts";
import { PEERS, weir } from "./bandwidth-contenders.ts";
import { favourSession, makeNetwork } from "./bandwidth-net.ts";
import { priceOfLimits } from "./bandwidth-price.ts";
import {
  type Bench,
  type Case,
  type Run,
  runCase,
  type Servers,
  writeSeries,
} from "./bandwidth-run.ts";
import type { Mix } from "./bandwidth-server.ts";
import { type Figures, figuresOf, meanBps } from "./bandwidth-windows.ts";
import type { Contender } from "./bandwidth-contenders.ts";

const { values } = parseArgs({
  options: {
    limits: { type: "string", default: "100KB,1MB,10MB,50MB" },
    mixes: { type: "string", default: "small,docs,large,mix" },
    servers: { type: "string", default: "fast,spread,slow" },
    seconds: { type: "string", default: "15" },
    rounds: { type: "string", default: "1" },
    offload: { type: "boolean", default: false },
    tls: { type: "boolean", default: false },
    changes: { type: "boolean", default: false },
    price: { type: "boolean", default: false },
    peers: { type: "boolean", default: false },
    all: { type: "boolean", default: false },
    control: { type: "string" },
    procs: { type: "string", default: "1" },
    kills: { type: "boolean", default: false },
    series: { type: "string" },
    weir: { type: "string" },
    connections: { type: "string" },
    "per-site": { type: "string" },
  },
});

const GOAL = { meanShareMin: 0.98, maxShare: 1.05, deviationShareMax: 0.03 } as const;
const UNLIMITED_SECONDS = 8;
/** Less than this share of the limit without any limit: the machine is the bound. */
const BOUND_SHARE = 1.02;
const MB = 1e6;
const HEADING = [
  "| limit | pages | servers | mean | worst second | σ | without limit | rank inversion | longest wait | machine busy | |",
  "|--:|---|---|--:|--:|--:|--:|--:|--:|--:|---|",
];

const scratch = mkdtempSync(join(tmpdir(), "weir-bandwidth-"));
const network = makeNetwork();
const favour = favourSession();
process.once("exit", () => {
  favour[Symbol.dispose]();
  network[Symbol.dispose]();
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.once(signal, () => process.exit(130));

const bench: Bench = { network, scratch, tls: certificate(), docsFolder: process.env["PEERS_DIR"] };
const ours = weir(
  [
    ...(values.control === undefined ? [] : ["--control", values.control]),
    ...(values.procs === "1" ? [] : ["--procs", values.procs]),
  ],
  values.weir,
);
const kinds = (values.servers.split(",") as Servers[]).filter(
  (kind) => kind !== "spread" || network.kind === "namespace",
);
const limits = values.limits.split(",").map(rateOf);
const seconds = Number(values.seconds);
network.setOffload(values.offload);
const isPart = values.tls || values.changes || values.price || values.peers;
if (values.all || !isPart) await matrix();
if (values.all || values.tls) await overTls();
if (values.all || values.changes) await changes();
if (values.all || values.peers) await peers();
if (values.all || values.price) await price();
process.exit();

async function matrix(): Promise<void> {
  const packets = values.offload ? "large packets" : "packets of 1,500 bytes";
  const counted = network.kind === "relay" ? "bytes counted by a relay" : packets;
  say(`### Limits × pages × servers, ${counted}\n`, ...HEADING);
  for (let round = 0; round < Number(values.rounds); round++)
    for (const servers of kinds)
      for (const mix of values.mixes.split(",") as Mix[])
        for (const limitBps of limits) {
          if (mix === "docs" && bench.docsFolder === undefined) continue;
          const what = { mix, servers, limitBps, speedsForBps: limitBps, seconds, ...allowed() };
          await judge(ours, values.kills ? { ...what, meanwhile: killSome } : what);
        }
}

/** How many requests the operator allows, where that was said. */
function allowed(): Pick<Case, "connections" | "perSite"> {
  const { connections, "per-site": perSite } = values;
  return {
    ...(connections !== undefined && { connections: Number(connections) }),
    ...(perSite !== undefined && { perSite: Number(perSite) }),
  };
}

/** Processes of the crawl leave by being killed, and join again by a new start. */
async function killSome(): Promise<void> {
  for (let atSeconds = 3; atSeconds + 2 < seconds; atSeconds += 3) {
    await sleep(3_000);
    const found = spawnSync("pgrep", ["-f", "cluster/local/main"], { encoding: "utf8" });
    const ids = found.stdout.trim().split("\n").filter(Boolean).map(Number);
    const victim = ids[atSeconds % Math.max(1, ids.length)];
    if (victim !== undefined) process.kill(victim, "SIGKILL");
  }
}

async function overTls(): Promise<void> {
  say("\n### 50 sites over TLS, with redirects, errors and bodies that break off\n", ...HEADING);
  for (const servers of kinds)
    for (const limitBps of limits) {
      const shared = { limitBps, speedsForBps: limitBps, seconds, tls: true };
      await judge(ours, { mix: "mix", servers, ...shared });
    }
}

async function changes(): Promise<void> {
  say(
    "\n### The limit changed in mid-crawl: seconds from `weir set` until in the new band for good\n",
  );
  say("| pages | servers | from | to | seconds |", "|---|---|--:|--:|--:|");
  for (const limitBps of limits.filter((limit) => limit * 4 <= 50 * MB))
    for (const mix of ["small", "mix"] as const) {
      const midway = await changeMidway(bench, ours, { mix, servers: "fast", limitBps });
      keep(`change-${rateText(limitBps)}-${mix}`, midway.run);
      for (const { fromBps, toBps, afterMs } of midway.changes) {
        const after = afterMs === undefined ? "never" : (afterMs / 1000).toFixed(1);
        say(`| ${mix} | fast | ${rateText(fromBps)} | ${rateText(toBps)} | ${after} |`);
        tell({ part: "changes", mix, servers: "fast", fromBps, toBps, afterMs });
      }
    }
}

async function peers(): Promise<void> {
  say("\n### Other programs with the same limit\n");
  say("| program | limit | pages | mean | worst second | σ | seconds above 105 % |");
  say("|---|--:|---|--:|--:|--:|--:|");
  for (const contender of [ours, ...PEERS])
    for (const limitBps of limits)
      for (const mix of ["small", "mix"] as const) {
        const what: Case = { mix, servers: "fast", limitBps, speedsForBps: limitBps, seconds };
        const run = await runCase(bench, contender, { ...what, connections: 16 });
        if (!run.lasted) {
          say(`| ${contender.name} | ${rateText(limitBps)} | ${mix} | did not run | | | |`);
          process.stderr.write(`${contender.name}: ${run.errors.slice(0, 500)}\n`);
          continue;
        }
        const figures = figuresOf(run.windows, limitBps);
        const above = `${((100 * figures.above) / figures.windows).toFixed(0)} %`;
        say(
          `| ${contender.name} | ${rateText(limitBps)} | ${mix} | ${shown(figures)} | ${above} |`,
        );
        tell({ part: "peers", contender: contender.name, mix, limitBps, ...figures });
        keep(`peer-${contender.name.split(" ")[0]}-${rateText(limitBps)}-${mix}`, run);
      }
}

async function price(): Promise<void> {
  say("\n### The price of being able to limit\n");
  say("| | pages per CPU-second | pages a second | bytes a second from slow lines |");
  say("|---|--:|--:|--:|");
  for (const row of await priceOfLimits(bench, values.weir)) {
    const { name, perCpuShare, perSecondShare, slowLinesShare } = row;
    say(`| ${[name, ...[perCpuShare, perSecondShare, slowLinesShare].map(percent)].join(" | ")} |`);
    tell({ part: "price", ...row });
  }
}

/** Runs one case of ours, prints its row, and looks for what is possible when it stays below. */
async function judge(contender: Contender, what: Case & { limitBps: number }): Promise<void> {
  const { mix, servers, limitBps, tls } = what;
  const run = await runCase(bench, contender, what);
  const figures = figuresOf(run.windows, limitBps);
  const isLow = run.lasted && !(figures.meanShare >= GOAL.meanShareMin);
  const possibleBps = isLow ? await unlimitedBps(contender, what) : undefined;
  const verdict = verdictOf(run, figures, { limitBps, possibleBps });
  const mark = `${tls === true ? "tls-" : ""}${rateText(limitBps)}-${mix}-${servers}`;
  keep(mark, run);
  const { bandwidth } = (run.result ?? {}) as { bandwidth?: Record<string, number> };
  const possible = possibleBps === undefined ? "" : rateText(possibleBps);
  const row = [rateText(limitBps), mix, servers, shown(figures), possible];
  row.push(bandwidth?.["rankInversion"]?.toFixed(2) ?? "");
  row.push(secondsText(bandwidth?.["longestWaitMs"]), percent(run.machineBusy), verdict);
  say(`| ${row.join(" | ")} |`);
  const { result, lasted, errors, crawlerCpu, machineBusy } = run;
  const told = { pages: result?.["pages"], bandwidth, lasted, crawlerCpu, machineBusy };
  const countedShare = Number(result?.["bytes"]) / bytesOnLine(run);
  tell({
    part: tls === true ? "tls" : "matrix",
    mix,
    servers,
    limitBps,
    ...figures,
    possibleBps,
    verdict,
    countedShare,
    ...told,
  });
  if (result === undefined) process.stderr.write(`${mark}: ${errors.slice(0, 2000)}\n`);
}

function verdictOf(
  run: Run,
  { meanShare, maxShare, deviationShare }: Figures,
  { limitBps, possibleBps }: { limitBps: number; possibleBps: number | undefined },
): string {
  if (!run.lasted) return run.result === undefined ? "failed" : "ended early";
  const misses: string[] = [];
  if (!(maxShare <= GOAL.maxShare)) misses.push("above");
  if (!(deviationShare <= GOAL.deviationShareMax)) misses.push("uneven");
  if (!(meanShare >= GOAL.meanShareMin)) misses.push("below");
  const isBound = possibleBps !== undefined && possibleBps < limitBps * BOUND_SHARE;
  if (isBound && !misses.includes("above")) return "machine-bound";
  return misses.length === 0 ? "held" : misses.join(", ");
}

/** What comes when nothing limits it. */
async function unlimitedBps(contender: Contender, what: Case): Promise<number> {
  const shorter = { ...what, limitBps: undefined, seconds: UNLIMITED_SECONDS };
  const { samples, windows, firstByteAtMs } = await runCase(bench, contender, shorter);
  return meanBps(samples, firstByteAtMs + 2000, windows.at(-1)?.atMs ?? firstByteAtMs + 3000);
}

function shown({ meanShare, maxShare, deviationShare }: Figures): string {
  return [meanShare, maxShare, deviationShare].map(percent).join(" | ");
}

/** All that came, to hold the crawler's own count against. */
function bytesOnLine({ samples }: Run): number {
  return (samples.at(-1)?.bytes ?? 0) - (samples[0]?.bytes ?? 0);
}

function keep(name: string, run: Run): void {
  if (values.series === undefined) return;
  writeSeries(values.series, name.replaceAll(/\W+/g, "-"), run);
}

function percent(share: number | undefined): string {
  return share === undefined || Number.isNaN(share) ? "" : `${(100 * share).toFixed(1)} %`;
}

function secondsText(ms: number | undefined): string {
  return ms === undefined ? "" : `${(ms / 1000).toFixed(1)} s`;
}

function rateText(bps: number): string {
  return bps >= MB
    ? `${Number((bps / MB).toPrecision(3))} MB/s`
    : `${Number((bps / 1000).toPrecision(3))} KB/s`;
}

function rateOf(text: string): number {
  const [, amount, unit] = /^([\d.]+)(KB|MB)$/.exec(text) ?? [];
  if (amount === undefined) throw new Error(`${text}: write a limit as 100KB or 10MB`);
  return Number(amount) * (unit === "KB" ? 1000 : MB);
}

function say(...lines: string[]): void {
  process.stdout.write(`${lines.join("\n")}\n`);
}

function tell(figures: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify({ bench: "bandwidth", ...figures })}\n`);
}

function certificate(): { key: string; cert: string } {
  const files = { key: join(scratch, "key.pem"), cert: join(scratch, "cert.pem") };
  const words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(
    " ",
  );
  execFileSync(
    "openssl",
    [...words, "-subj", "/CN=weir.test", "-keyout", files.key, "-out", files.cert],
    { stdio: "ignore" },
  );
  return files;
}
