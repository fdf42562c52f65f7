/**
 * What being able to limit costs a crawl that is not limited, or by far more than it can take.
 *
 * Three crawlers take turns, so that a noisy minute meets all: this program without a governor
 * (`without-governor.ts`), as it is without a limit, and with a limit that nothing reaches. Each crawls the same number
 * of pages from fast servers, for its CPU time and its wall time, and then what lines of known
 * speed give, for bytes a second. Figures are shares of the first crawler's medians.
 */

import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Contender, weir } from "./bandwidth-contenders.ts";
import { type Bench, type Case, runCase } from "./bandwidth-run.ts";
import { meanBps } from "./bandwidth-windows.ts";

export interface Price {
  readonly name: string;
  readonly perCpuShare: number;
  readonly perSecondShare: number;
  readonly slowLinesShare: number;
  /** Every round's pages per CPU-second, to see how far rounds lie apart. */
  readonly perCpu: readonly number[];
}

const ROUNDS = 7;
const PAGES = 8000;
const SLOW_LINES_SECONDS = 8;
/** The lines' speeds add up to five times this. */
const SLOW_LINES_BPS = 4e6;
const ROOT = fileURLToPath(new URL("..", import.meta.url));

export async function priceOfLimits(bench: Bench, checkout?: string): Promise<Price[]> {
  const without = checkoutWithout(bench.scratch, checkout ?? ROOT);
  const contenders: readonly Contender[] = [
    { ...weir([], without), name: "without a governor" },
    { ...weir([], checkout), name: "no limit" },
    { ...weir(["--limit", "100GB/s"], checkout), name: "a limit nothing reaches" },
  ];
  const figures = contenders.map(() => ({ perCpu: [], perSecond: [], slow: [] }) as Figures);
  try {
    for (let round = 0; round < ROUNDS; round++)
      for (const [at, contender] of contenders.entries()) {
        const { cpuSeconds, wallSeconds } = await crawlPages(bench, contender);
        figures[at]?.perCpu.push(PAGES / cpuSeconds);
        figures[at]?.perSecond.push(PAGES / wallSeconds);
        figures[at]?.slow.push(await slowLinesBps(bench, contender));
      }
  } finally {
    rmSync(without, { recursive: true, force: true });
  }
  const [first] = figures;
  return contenders.map(({ name }, at) => ({
    name,
    perCpuShare: median(figures[at]?.perCpu) / median(first?.perCpu),
    perSecondShare: median(figures[at]?.perSecond) / median(first?.perSecond),
    slowLinesShare: median(figures[at]?.slow) / median(first?.slow),
    perCpu: (figures[at]?.perCpu ?? []).map(Math.round),
  }));
}

interface Figures {
  readonly perCpu: number[];
  readonly perSecond: number[];
  readonly slow: number[];
}

async function crawlPages(
  bench: Bench,
  contender: Contender,
): Promise<{ cpuSeconds: number; wallSeconds: number }> {
  const timing = join(bench.scratch, "time");
  const timed: Contender = {
    name: contender.name,
    command: (assignment) => {
      const { program, words } = contender.command(assignment);
      const all = [program, ...words, "--pages", String(PAGES)];
      return { program: "/usr/bin/time", words: ["-o", timing, "-f", "%e %U %S", ...all] };
    },
  };
  const mix = bench.docsFolder === undefined ? "small" : "docs";
  const what: Case = { mix, servers: "fast", limitBps: undefined, speedsForBps: 0, seconds: 120 };
  const { lasted, errors } = await runCase(bench, timed, { ...what, connections: 64 });
  if (lasted) throw new Error(`${contender.name} did not end: ${errors}`);
  const last = readFileSync(timing, "utf8").trim().split("\n").at(-1) ?? "";
  rmSync(timing, { force: true });
  const [wallSeconds = 0, user = 0, system = 0] = last.split(" ").map(Number);
  return { cpuSeconds: user + system, wallSeconds };
}

async function slowLinesBps(bench: Bench, contender: Contender): Promise<number> {
  const { samples, firstByteAtMs } = await runCase(bench, contender, {
    mix: "large",
    servers: "spread",
    limitBps: undefined,
    speedsForBps: SLOW_LINES_BPS,
    seconds: SLOW_LINES_SECONDS,
  });
  return meanBps(samples, firstByteAtMs + 2000, firstByteAtMs + 2000 + SLOW_LINES_SECONDS * 1000);
}

/** The files of a checkout in a folder of their own, with its packages, and without a governor. */
function checkoutWithout(scratch: string, checkout: string): string {
  const folder = mkdtempSync(join(scratch, "without-"));
  for (const name of ["src", "models", "package.json"])
    cpSync(join(checkout, name), join(folder, name), { recursive: true });
  symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  const text = readFileSync(join(ROOT, "bench/without-governor.ts"), "utf8")
    .replaceAll('"../src/crawl/', '"./')
    .replaceAll('"../src/', '"../');
  writeFileSync(join(folder, "src/crawl/limit/limiter.ts"), text);
  return folder;
}

function median(numbers: readonly number[] = []): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
