/**
 * What a second process brings and costs: pages per second and CPU time, as ratios to one process.
 *
 *   PEERS_DIR=<folder made by ../shared/peers-bench/setup.sh> \
 *     node bench/procs.ts [--procs 1,2] [--rounds 3] [--copies 3]
 *
 * nginx serves the real documentation pages of 17 sites, each under as many addresses as there are copies,
 * so that there is enough to do for processes to get warm. Rounds are interleaved, so that a noisy minute
 * meets everybody; what counts is the ratio of medians. CPU time is that of supervisor and processes
 * together, with their start and the report at the end. The last line is JSON for `bench/report.ts`.
 */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    procs: { type: "string", default: "1,2" },
    rounds: { type: "string", default: "3" },
    copies: { type: "string", default: "3" },
  },
});
const peersDir = process.env["PEERS_DIR"] ?? "";
if (peersDir === "") throw new Error("set PEERS_DIR to the folder that peers-bench/setup.sh made");
const SITES = 17;
const PORT = 8790;
const root = fileURLToPath(new URL("..", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "weir-procs-"));

interface Run {
  readonly pages: number;
  readonly pagesPerSecond: number;
  readonly cpuMsPerPage: number;
}

const sizes = values.procs.split(",").map(Number);
const runs = new Map<number, Run[]>(sizes.map((size) => [size, []]));
const nginx = spawn("nginx", ["-p", scratch, "-c", writeServer()], { stdio: "inherit" });
try {
  await listening();
  for (let round = 0; round < Number(values.rounds); round++)
    for (const size of sizes) {
      const run = crawl(size);
      runs.get(size)?.push(run);
      console.error(`${size}: ${Math.round(run.pagesPerSecond)} pages/s, ${run.cpuMsPerPage} ms`);
    }
} finally {
  nginx.kill();
  await once(nginx, "exit");
  rmSync(scratch, { recursive: true });
}
console.log("| processes | pages | pages/s | of one | CPU, ms a page | of one |");
console.log("|--:|--:|--:|--:|--:|--:|");
const [first = 1] = sizes;
const rows = sizes.map((procs) => ({
  procs,
  pages: median(procs, ({ pages }) => pages),
  pagesPerSecond: Math.round(median(procs, ({ pagesPerSecond }) => pagesPerSecond)),
  speedUp: ratio(procs, ({ pagesPerSecond }) => pagesPerSecond),
  cpuMsPerPage: median(procs, ({ cpuMsPerPage }) => cpuMsPerPage),
  cpuRatio: ratio(procs, ({ cpuMsPerPage }) => cpuMsPerPage),
}));
for (const row of rows) console.log(`| ${Object.values(row).join(" | ")} |`);
console.log(JSON.stringify({ bench: "procs", rounds: Number(values.rounds), rows }));

function writeServer(): string {
  const addresses: string[] = [];
  const servers: string[] = [];
  for (let copy = 1; copy <= Number(values.copies); copy++)
    for (let site = 1; site <= SITES; site++) {
      const address = `127.0.${copy}.${site}:${PORT}`;
      addresses.push(`http://${address}/`);
      servers.push(`server { listen ${address} backlog=4096; root ${peersDir}/sites/${site}; }`);
    }
  writeFileSync(join(scratch, "seeds"), addresses.join("\n"));
  mkdirSync(join(scratch, "temp"));
  const temps = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const settings = [
    "types { text/html html htm; } access_log off; sendfile on; tcp_nodelay on;",
    "keepalive_requests 100000000; index index.html;",
    ...temps.map((name) => `${name}_temp_path ${scratch}/temp/${name};`),
    ...servers,
  ];
  const file = join(scratch, "nginx.conf");
  const frame = `worker_processes 1; daemon off; pid ${scratch}/pid; error_log stderr crit;`;
  writeFileSync(
    file,
    `${frame}\nevents { worker_connections 4096; }\nhttp {\n${settings.join("\n")}\n}\n`,
  );
  return file;
}

async function listening(): Promise<void> {
  for (;;) {
    const socket = connect(PORT, "127.0.1.1");
    const answer = await Promise.race([once(socket, "connect"), once(socket, "error")]).catch(
      () => undefined,
    );
    socket.destroy();
    if (answer?.length === 0) return;
    if (nginx.exitCode !== null) throw new Error("nginx does not run");
    await sleep(50);
  }
}

function crawl(procs: number): Run {
  const globs = ["", "*/", "*.html", "*.htm"].map((end) => `http://127.0.*:${PORT}/${end}`);
  const times = join(scratch, "times");
  const words = [
    ...["-f", "%U %S", "-o", times, join(root, "weir"), "crawl"],
    ...["--seeds", join(scratch, "seeds"), "--drop-query", "--allow-private", "127.0.0.0/8"],
    ...globs.flatMap((glob) => ["--include", glob]),
    ...["--connections", "64", "--concurrency-per-site", "8", "--concurrency-per-address", "8"],
    ...["--out", join(scratch, "crawl"), "--fresh", "--json", "--quiet", "--no-warc"],
    ...["--procs", String(procs)],
  ];
  rmSync(join(scratch, "crawl"), { recursive: true, force: true });
  const { stdout, status } = spawnSync("/usr/bin/time", words, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`${procs} processes: exit code ${status}`);
  const { pages, seconds } = JSON.parse(stdout) as { pages: number; seconds: number };
  const [user = 0, system = 0] = readFileSync(times, "utf8").trim().split(" ").map(Number);
  return {
    pages,
    pagesPerSecond: pages / seconds,
    cpuMsPerPage: Number(((1000 * (user + system)) / pages).toFixed(3)),
  };
}

function median(procs: number, figure: (run: Run) => number): number {
  const sorted = (runs.get(procs) ?? []).map(figure).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function ratio(procs: number, figure: (run: Run) => number): number {
  return Number((median(procs, figure) / median(first, figure)).toFixed(2));
}
