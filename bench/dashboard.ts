/**
 * What being watched costs a crawl: pages per second with an open dashboard, as a share of those without.
 *
 *   node bench/dashboard.ts [--rounds 5] [--pages 20000]
 *
 * Two crawlers take turns, so that a noisy minute meets both. Each crawls the same pages of a synthetic
 * web as fast as it can; the second has a dashboard, and a reader that follows the events, asks for
 * the table of sites every second and a half, and for the rate of the whole crawl every five,
 * as the page does. What counts is the ratio of medians. The last line is JSON.
 */

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { serveWorld } from "../src/lab/serve.ts";
import { seedUrls } from "../src/lab/world.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    pages: { type: "string", default: "20000" },
  },
});
const MAIN = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const WORLD = {
  seed: 5,
  siteCount: 24,
  pagesMin: 1500,
  pagesMax: 2500,
  latencyMsMin: 0,
  latencyMsMax: 0,
  crawlDelayShare: 0,
  trapShare: 0,
} as const;

interface Run {
  readonly pagesPerSecond: number;
  /** Of all threads together, the dashboard's included. */
  readonly pagesPerCpuSecond: number;
  readonly eventBytes: number;
}

/** Asks as an open page does. */
class Reader {
  eventBytes = 0;
  #cookie = "";
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(url: string) {
    get(url, (response) => {
      const [cookie = ""] = response.headers["set-cookie"] ?? [];
      this.#cookie = cookie.split(";")[0] ?? "";
      const base = new URL(/Path=([^;]+)/.exec(cookie)?.[1] ?? "/", url);
      response.resume();
      this.#ask(new URL("api/events", base), (bytes) => (this.eventBytes += bytes));
      this.#every(1500, new URL("api/sites?sort=due&count=100", base));
      this.#every(5000, new URL("api/rates", base));
    }).on("error", () => undefined);
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  #every(ms: number, url: URL): void {
    this.#timers.push(setInterval(() => this.#ask(url, () => undefined), ms));
  }

  #ask(url: URL, onBytes: (bytes: number) => void): void {
    get(url, { headers: { cookie: this.#cookie } }, (response) => {
      response.on("data", (part: Buffer) => onBytes(part.length));
      response.on("error", () => undefined);
    }).on("error", () => undefined);
  }
}

const scratch = mkdtempSync(join(tmpdir(), "weir-dashboard-"));
await using web = await serveWorld(WORLD, { by: "address" });
const seeds = seedUrls(web.world);
const plain: Run[] = [];
const watched: Run[] = [];
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    plain.push(await crawl(false));
    watched.push(await crawl(true));
    const [before, after] = [plain.at(-1), watched.at(-1)];
    console.error(
      `round ${round + 1}: ${before?.pagesPerSecond.toFixed(0)} without, ${after?.pagesPerSecond.toFixed(0)} with a dashboard`,
    );
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
const perSecond = shareOf(({ pagesPerSecond }) => pagesPerSecond);
const perCpuSecond = shareOf(({ pagesPerCpuSecond }) => pagesPerCpuSecond);
console.log(`pages per second kept: ${(100 * perSecond).toFixed(1)} %`);
console.log(`pages per second of CPU time kept: ${(100 * perCpuSecond).toFixed(1)} %`);
console.log(JSON.stringify({ perSecond, perCpuSecond, plain, watched }));

function shareOf(figure: (run: Run) => number): number {
  return median(watched.map(figure)) / median(plain.map(figure));
}

async function crawl(isWatched: boolean): Promise<Run> {
  const where = ["--out", join(scratch, "crawl"), "--fresh", "--json", "--pages", values.pages];
  const manners = ["--allow-private", "127.0.0.0/8", "--delay", "0", "--concurrency-per-site", "8"];
  const shown = isWatched ? ["--dashboard", "0"] : [];
  const words = [MAIN, "crawl", ...seeds, ...where, ...manners, ...shown, "--no-warc"];
  const timing = join(scratch, "time");
  const timed = ["-o", timing, "-f", "%U %S", process.execPath, ...words];
  const child = spawn("/usr/bin/time", timed, { stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let told = "";
  let reader: Reader | undefined;
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    told += text;
    const url = /Dashboard: (\S+)/.exec(told)?.[1];
    if (url !== undefined) reader ??= new Reader(url);
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  reader?.stop();
  if (code !== 3 && code !== 0) throw new Error(`the crawl ended with ${String(code)}: ${told}`);
  const { pages, seconds } = JSON.parse(out) as { pages: number; seconds: number };
  const last = readFileSync(timing, "utf8").trim().split("\n").at(-1) ?? "";
  const [user = 0, system = 0] = last.split(" ").map(Number);
  const pagesPerCpuSecond = pages / (user + system);
  return {
    pagesPerSecond: pages / seconds,
    pagesPerCpuSecond,
    eventBytes: reader?.eventBytes ?? 0,
  };
}

function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[figures.length >> 1] ?? Number.NaN;
}
