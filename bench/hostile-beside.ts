/**
 * Ten healthy sites beside hostile ones, compared with the ten alone: pages per second, and the longest stalls of the
 * crawl's event loop.
 *
 *   node bench/hostile-beside.ts [--seconds 20] [--rounds 2] [--hostile 170]
 *
 * Healthy and hostile servers are processes of their own, each site at an IP address of its own (127.0.0.0/8). Rounds
 * alternate between both cases. Every second the crawl reports its longest stall (`hostile-beside-stalls.ts`).
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "20" },
    rounds: { type: "string", default: "2" },
    hostile: { type: "string", default: "170" },
    keep: { type: "string", default: "" },
  },
});
const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const scratch = mkdtempSync(join(tmpdir(), "weir-beside-"));
const servers: ChildProcess[] = [];

interface Served {
  readonly urls: readonly string[];
  readonly process: ChildProcess;
}

async function serve(kind: "healthy" | "hostile", count: number): Promise<Served> {
  const file = join(root, "bench/hostile-beside-server.ts");
  const child = spawn(process.execPath, [file, kind, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  servers.push(child);
  // Hostile servers have machines of their own, so their floods must not take this one's processor.
  if (kind === "hostile" && child.pid !== undefined) setPriority(child.pid, 19);
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { urls: JSON.parse(line.toString()) as string[], process: child };
}

interface Run {
  readonly pagesPerSecond: number;
  /** The longest stall: of real time, and of the crawl's own CPU time. */
  readonly stallMs: number;
  readonly stallCpuMs: number;
  /** Those above 100 ms of CPU time. */
  readonly stalls: number;
  readonly cpuMs: number;
  readonly mainCpuMs: number;
}

async function crawl(healthy: Served, others: readonly string[], name: string): Promise<Run> {
  const folder = join(scratch, name);
  const stallsFile = join(scratch, `${name}.json`);
  const args = [
    ...(values.keep === "" ? [] : ["--cpu-prof", `--cpu-prof-dir=${values.keep}`]),
    "--import",
    join(root, "bench/hostile-beside-stalls.ts"),
    join(root, "src/cli/main.ts"),
    "crawl",
    ...healthy.urls,
    ...others,
    ...["--out", folder, "--allow-private", "127.0.0.0/8", "--delay", "20ms", "--quiet"],
    ...["--connections", "256", "--time", `${values.seconds}s`, "--first-byte-timeout", "5s"],
  ];
  const env = { ...process.env, STALLS_FILE: stallsFile };
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"], env });
  let told = "";
  child.stderr.on("data", (chunk: Buffer) => (told += chunk.toString()));
  await once(child, "close");
  const { stalls, cpuMs, mainCpuMs } = JSON.parse(readFileSync(stallsFile, "utf8")) as {
    stalls: { atMs: number; ms: number; cpuMs: number }[];
    cpuMs: number;
    mainCpuMs: number;
  };
  const long = stalls.filter((stall) => stall.cpuMs > 60);
  if (long.length > 0) console.log(`${name}: ${JSON.stringify(long)}`);
  const pages = await countOf(healthy);
  if (pages === 0) throw new Error(`no pages: ${told}`);
  return {
    pagesPerSecond: pages / Number(values.seconds),
    stallMs: Math.max(0, ...stalls.map(({ ms }) => ms)),
    stallCpuMs: Math.max(0, ...stalls.map((stall) => stall.cpuMs)),
    stalls: stalls.filter((stall) => stall.cpuMs > 100).length,
    cpuMs,
    mainCpuMs,
  };
}

/** Pages served since the last call. */
async function countOf({ process: child }: Served): Promise<number> {
  child.kill("SIGUSR2");
  const [line] = (await once(child.stdout as NonNullable<typeof child.stdout>, "data")) as [Buffer];
  return Number(line.toString());
}

try {
  const healthy = await serve("healthy", 10);
  const hostile = await serve("hostile", Number(values.hostile));
  const runs: { alone: Run[]; beside: Run[] } = { alone: [], beside: [] };
  for (let round = 0; round < Number(values.rounds); round++) {
    runs.alone.push(await crawl(healthy, [], `alone-${round}`));
    runs.beside.push(await crawl(healthy, hostile.urls, `beside-${round}`));
    console.log(`alone  ${JSON.stringify(runs.alone.at(-1))}`);
    console.log(`beside ${JSON.stringify(runs.beside.at(-1))}`);
  }
  const mean = (some: readonly Run[]): number =>
    some.reduce((sum, { pagesPerSecond }) => sum + pagesPerSecond, 0) / some.length;
  const share = mean(runs.beside) / mean(runs.alone);
  const stallMs = Math.max(...runs.beside.map((run) => run.stallCpuMs));
  console.log(
    `${hostile.urls.length} hostile sites: ${Math.round(100 * share)} % of the pages, longest stall ${stallMs} ms of CPU`,
  );
} finally {
  for (const server of servers) server.kill();
  rmSync(scratch, { recursive: true, force: true });
}
