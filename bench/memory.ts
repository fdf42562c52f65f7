/**
 * Memory over a long crawl: how much more a process holds after every 100,000 fetches.
 *
 * Usage: node bench/memory.ts [--fetches 1000000] [--memory 256] [--every 20000] [--no-warc]
 *                             [--snapshots DIR]
 *
 * This process serves a synthetic web on loopback; another, started as the launcher `weir` starts it,
 * crawls it through the library, with store, archive and real sockets, and looks at itself after every
 * `--every` fetches, garbage collected. The slope is that of the least squares line through the looks
 * after the warm-up, the first fifth, in which caches of a fixed size fill (`--memory`, in MiB, says how
 * large they may be). RSS swings by tens of MB from look to look, so every slope comes with its 95 %
 * error, and the goal is met only when slope and error together are below it; a longer run makes the
 * error smaller. Tells of every look on standard error; prints ten of them, the slopes, and one line of
 * JSON. With `--snapshots` the heap is written out after the warm-up and at the end.
 */

import { fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { writeHeapSnapshot } from "node:v8";
import { crawl } from "../src/index.ts";
import { serveWorld } from "../src/lab/serve.ts";
import { seedUrls } from "../src/lab/world.ts";

const SITES = 50;
const WARM_UP_SHARE = 0.2;
const MIB = 2 ** 20;
const LOOK_EVERY_MS = 20;
const GOAL_MB = 1;
const ROWS_PRINTED = 10;
/** What the launcher sets, but for what the operator has set; the reasons are in docs/performance.md. */
const ENVIRONMENT = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: "131072",
  NODE_COMPILE_CACHE: join(import.meta.dirname, "../node_modules/.cache/compiled"),
};
const HEADING = "   fetches  seconds   RSS MiB anonymous      heap  external";

interface Job {
  readonly urls: readonly string[];
  readonly folder: string;
  readonly fetches: number;
  readonly every: number;
  readonly memoryBytes: number;
  readonly warc: boolean;
  readonly snapshots: string | undefined;
}

interface Look {
  readonly fetches: number;
  readonly seconds: number;
  readonly rssBytes: number;
  /** The most it has been so far, between looks too. */
  readonly peakBytes: number;
  /** The part of it that is memory of the process, and not pages of its files. */
  readonly anonymousBytes: number;
  readonly heapBytes: number;
  readonly externalBytes: number;
}

if (process.send === undefined) await measure();
else process.once("message", (job: Job) => void crawlAndLook(job));

async function measure(): Promise<void> {
  const { values } = parseArgs({
    options: {
      fetches: { type: "string", default: "1000000" },
      every: { type: "string", default: "20000" },
      memory: { type: "string", default: "256" },
      "no-warc": { type: "boolean", default: false },
      snapshots: { type: "string" },
    },
  });
  const fetches = Number(values.fetches);
  // A little more than is fetched, so that the crawl is at full speed to the last.
  const pagesPerSite = Math.ceil((1.2 * fetches) / SITES);
  await using web = await serveWorld(
    {
      siteCount: SITES,
      pagesMin: pagesPerSite,
      pagesMax: pagesPerSite,
      bytesMedianMin: 500,
      bytesMedianMax: 2_000,
      bytesMax: 20_000,
      linksMean: 6,
      crawlDelayShare: 0,
    },
    { by: "address" },
  );
  const folder = mkdtempSync(join(tmpdir(), "weir-memory-"));
  const looks = await lookOn({
    urls: seedUrls(web.world),
    folder: join(folder, "out"),
    fetches,
    every: Number(values.every),
    memoryBytes: Number(values.memory) * MIB,
    warc: !values["no-warc"],
    snapshots: values.snapshots,
  });
  rmSync(folder, { recursive: true });
  report(looks, fetches, {
    memoryMib: Number(values.memory),
    // A crawl that gave sites up would also be fast and small.
    requestsServed: web.log.entries.length,
    pagesServed: web.log.entries.filter(({ status }) => status === 200).length,
  });
}

/** Has the crawl done by another process, and shows what it tells. */
async function lookOn(job: Job): Promise<readonly Look[]> {
  const looks: Look[] = [];
  console.error(HEADING);
  const child = fork(import.meta.filename, {
    execArgv: ["--expose-gc"],
    env: { ...ENVIRONMENT, ...process.env },
  });
  child.on("message", (look: Look) => {
    looks.push(look);
    console.error(rowOf(look));
  });
  child.send(job);
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  if (code !== 0) throw new Error(`the crawl ended with ${code}`);
  return looks;
}

async function crawlAndLook(job: Job): Promise<void> {
  const { urls, folder: outFolder, memoryBytes, warc, fetches, every } = job;
  const startedAtMs = performance.now();
  const running = crawl({
    urls,
    outFolder,
    memoryBytes,
    warc,
    allowPrivate: ["127.0.0.0/8"],
    delayMs: 0,
    connectionsMax: 32,
  });
  let next = every;
  const timer = setInterval(() => {
    const totals = running.snapshot()?.totals;
    const ended = totals === undefined ? 0 : totals.done + totals.failed;
    if (ended < next) return;
    next += every;
    const isWarm = ended >= WARM_UP_SHARE * fetches;
    if (job.snapshots !== undefined && isWarm && ended - every < WARM_UP_SHARE * fetches)
      writeHeapSnapshot(join(job.snapshots, "warm.heapsnapshot"));
    process.send?.(look(ended, startedAtMs));
    if (ended < fetches) return;
    clearInterval(timer);
    if (job.snapshots !== undefined) writeHeapSnapshot(join(job.snapshots, "end.heapsnapshot"));
    running.stop();
  }, LOOK_EVERY_MS);
  await running;
  process.disconnect?.();
}

function look(fetches: number, startedAtMs: number): Look {
  globalThis.gc?.();
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const status = readFileSync("/proc/self/status", "utf8");
  return {
    fetches,
    seconds: (performance.now() - startedAtMs) / 1000,
    rssBytes: rss,
    peakBytes: 1024 * process.resourceUsage().maxRSS,
    anonymousBytes: 1024 * Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? Number.NaN),
    heapBytes: heapUsed,
    externalBytes: external,
  };
}

function rowOf({ fetches, seconds, ...sizes }: Look): string {
  const { rssBytes, anonymousBytes, heapBytes, externalBytes } = sizes;
  const mebibytes = [rssBytes, anonymousBytes, heapBytes, externalBytes].map((bytes) =>
    (bytes / MIB).toFixed(1).padStart(10),
  );
  return `${String(fetches).padStart(10)} ${seconds.toFixed(0).padStart(8)}${mebibytes.join("")}`;
}

function report(
  looks: readonly Look[],
  fetches: number,
  circumstances: Readonly<Record<string, number>>,
): void {
  const warm = looks.filter((look) => look.fetches > WARM_UP_SHARE * fetches);
  const slopes = {
    rss: slopeOf(warm, ({ rssBytes }) => rssBytes),
    anonymous: slopeOf(warm, ({ anonymousBytes }) => anonymousBytes),
    heap: slopeOf(warm, ({ heapBytes }) => heapBytes),
    external: slopeOf(warm, ({ externalBytes }) => externalBytes),
  };
  const last = looks.at(-1);
  const step = Math.ceil(looks.length / ROWS_PRINTED);
  console.log(HEADING);
  for (let at = step - 1; at < looks.length; at += step) console.log(rowOf(looks[at] as Look));
  const words = Object.entries(slopes).map(
    ([what, { mb, errorMb }]) => `${what} ${mb} ± ${errorMb}`,
  );
  console.log(`after warm-up, MB more for every 100,000 fetches: ${words.join(", ")}`);
  const verdict = verdictOn(slopes.rss);
  console.log(`at most ${GOAL_MB} MB of RSS: ${verdict}`);
  console.log(
    JSON.stringify({
      bench: "memory",
      fetches: last?.fetches,
      ...circumstances,
      slopesMbPer100k: slopes,
      verdict,
      rssMb: Math.round((last?.rssBytes ?? Number.NaN) / 1e6),
      peakMb: Math.round((last?.peakBytes ?? Number.NaN) / 1e6),
      fetchesPerSecond: Math.round((last?.fetches ?? 0) / (last?.seconds ?? Number.NaN)),
    }),
  );
}

interface Slope {
  /** For every 100,000 fetches. */
  readonly mb: number;
  /** Half the width of its 95 % interval. */
  readonly errorMb: number;
}

/**
 * The least squares line. A look resembles the one before it, so looks tell less than their number
 * says: the error is widened by what neighbouring residuals have in common (first-order autocorrelation).
 */
function slopeOf(looks: readonly Look[], sizeOf: (look: Look) => number): Slope {
  const xs = looks.map(({ fetches }) => fetches / 100_000);
  const ys = looks.map((look) => sizeOf(look) / 1e6);
  const meanX = meanOf(xs);
  const meanY = meanOf(ys);
  const squares = sumOf(xs.map((x) => (x - meanX) ** 2));
  const slope = sumOf(xs.map((x, at) => (x - meanX) * ((ys[at] as number) - meanY))) / squares;
  const residuals = xs.map((x, at) => (ys[at] as number) - meanY - slope * (x - meanX));
  const spread = sumOf(residuals.map((residual) => residual ** 2));
  const shared =
    sumOf(residuals.slice(1).map((residual, at) => residual * (residuals[at] as number))) / spread;
  const widened = Math.sqrt(Math.max(1, (1 + shared) / (1 - shared)));
  const error = 1.96 * widened * Math.sqrt(spread / (looks.length - 2) / squares);
  return { mb: Number(slope.toFixed(2)), errorMb: Number(error.toFixed(2)) };
}

function verdictOn({ mb, errorMb }: Slope): "shown" | "refuted" | "not decided" {
  if (mb + errorMb <= GOAL_MB) return "shown";
  return mb - errorMb > GOAL_MB ? "refuted" : "not decided";
}

function meanOf(numbers: readonly number[]): number {
  return sumOf(numbers) / numbers.length;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
