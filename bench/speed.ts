/**
 * Weir beside its peers on the same pages, in one run: pages per second of the crawler's own CPU time.
 *
 *   PEERS_DIR=<folder made by ../shared/peers-bench/setup.sh> \
 *     node bench/speed.ts [--rounds 3] [--only weir,bare-loop] [--slow]
 *
 * nginx serves 30,319 real documentation pages of 17 sites on loopback, pinned to core 0; every
 * crawler runs pinned to core 1. Rounds are interleaved, so that a noisy minute meets everybody; what
 * counts is the ratio of medians. The last line is JSON for `bench/report.ts`.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    only: { type: "string" },
    slow: { type: "boolean", default: false },
    peers: { type: "string", default: "../shared/peers-bench" },
  },
});

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const peers = resolve(root, values.peers);
const peersDir = process.env["PEERS_DIR"] ?? "";
if (peersDir === "") throw new Error("set PEERS_DIR to the folder that peers-bench/setup.sh made");
const port = process.env["PEERS_PORT"] ?? "8780";
const pagesExpected = readFileSync(join(peersDir, "urls.txt"), "utf8").trim().split("\n").length;
const scratch = mkdtempSync(join(tmpdir(), "weir-speed-"));
const sites = `http://127.0.1.*:${port}`;

interface Contender {
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Run once only, after the others: it takes minutes. */
  readonly slow?: true;
}

const weir = [
  join(root, "weir"),
  "crawl",
  `http://127.0.1.1:${port}/`,
  "--scope",
  "any",
  ...[`${sites}/`, `${sites}/*/`, `${sites}/*.html`, `${sites}/*.htm`].flatMap((glob) => [
    "--include",
    glob,
  ]),
  "--drop-query",
  "--allow-private",
  "127.0.0.0/8",
  "--connections",
  "64",
  "--concurrency-per-site",
  "8",
  "--out",
  join(scratch, "crawl"),
  "--fresh",
  "--json",
  "--quiet",
];

const contenders: readonly Contender[] = [
  { name: "weir", command: [...weir, "--no-warc"] },
  { name: "weir, with WARC", command: weir },
  {
    name: "bare loop (undici, htmlparser2, new URL)",
    command: [join(peersDir, "npm26/node_modules/.bin/node"), join(peers, "bfs.mjs")],
    env: { NM: join(peersDir, "npm26") },
  },
  { name: "wget2 (C, nothing kept)", command: [join(peers, "wget2.sh")], env: { CONC: "8" } },
  {
    name: "spider-rs (Rust)",
    command: ["node", join(peers, "spider-rs.mjs")],
    env: { CONC: "4" },
    slow: true,
  },
  {
    name: "Crawlee CheerioCrawler",
    command: ["node", join(peers, "crawlee.mjs")],
    env: { CONC: "16", KIND: "cheerio" },
    slow: true,
  },
  {
    name: "Scrapy (LinkExtractor)",
    command: ["/usr/bin/python3", join(peers, "scrapy_spider.py")],
    env: { CONC: "32", LINKS: "extractor" },
    slow: true,
  },
];

interface Run {
  readonly name: string;
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
  readonly rssMb: number;
}

const chosen = values.only?.split(",");
const field = contenders.filter(
  ({ name, slow }) =>
    chosen?.some((part) => name.startsWith(part)) ?? (values.slow || slow === undefined),
);
const runs: Run[] = [];
nginx("start", "off");
try {
  for (let round = 0; round < Number(values.rounds); round++)
    for (const contender of field) if (contender.slow === undefined) runs.push(measure(contender));
  for (const contender of field) if (contender.slow === true) runs.push(measure(contender));
} finally {
  nginx("stop");
  rmSync(scratch, { recursive: true, force: true });
}
print();

function nginx(...words: string[]): void {
  spawnSync(join(peers, "nginx.sh"), words, {
    env: { ...process.env, PEERS_DIR: peersDir },
    stdio: "ignore",
  });
}

function measure({ name, command, env }: Contender): Run {
  const timing = join(scratch, "time");
  const done = spawnSync(
    "/usr/bin/time",
    ["-o", timing, "-f", "%e %U %S %M", "taskset", "-c", "1", ...command],
    {
      env: {
        ...process.env,
        PEERS_DIR: peersDir,
        PEERS_PORT: port,
        SITES: readFileSync(join(peersDir, "sites.count"), "utf8").trim(),
        ...env,
      },
      maxBuffer: 64 * 2 ** 20,
      encoding: "utf8",
    },
  );
  const [wall = 0, user = 0, system = 0, rss = 0] =
    readFileSync(timing, "utf8").trim().split("\n").at(-1)?.split(" ").map(Number) ?? [];
  if (name.startsWith("weir")) {
    const { pages } = JSON.parse(done.stdout) as { pages: number };
    if (pages !== pagesExpected)
      throw new Error(`${name} stored ${pages} of ${pagesExpected} pages`);
  }
  const run = { name, cpuSeconds: user + system, wallSeconds: wall, rssMb: rss / 1024 };
  process.stderr.write(`${name}: ${run.cpuSeconds.toFixed(1)} s CPU, ${wall} s\n`);
  return run;
}

function print(): void {
  const rows = field.map(({ name }) => {
    const own = runs.filter((run) => run.name === name);
    const cpuSeconds = median(own.map((run) => run.cpuSeconds));
    return {
      name,
      pagesPerCpuSecond: pagesExpected / cpuSeconds,
      cpuSeconds,
      wallSeconds: median(own.map((run) => run.wallSeconds)),
      rssMb: median(own.map((run) => run.rssMb)),
      rounds: own.length,
    };
  });
  const ours = rows.find(({ name }) => name === "weir")?.cpuSeconds ?? Number.NaN;
  process.stdout.write(
    "| crawler | pages per CPU-second | CPU s | wall s | peak RSS MB | weir is … times as fast | rounds |\n|---|--:|--:|--:|--:|--:|--:|\n",
  );
  for (const row of rows.toSorted((a, b) => a.cpuSeconds - b.cpuSeconds))
    process.stdout.write(
      `| ${row.name} | ${row.pagesPerCpuSecond.toFixed(0)} | ${row.cpuSeconds.toFixed(1)} | ${row.wallSeconds.toFixed(1)} | ${row.rssMb.toFixed(0)} | ${(row.cpuSeconds / ours).toFixed(2)} | ${row.rounds} |\n`,
    );
  process.stdout.write(`${JSON.stringify({ bench: "speed", pages: pagesExpected, rows })}\n`);
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
