/**
 * Start-up: from `./weir crawl` to its first page, on loopback, with everything installed.
 *
 * Usage: node bench/startup.ts [runs]
 *
 * Two clocks are read: when the server has given its first page away, and when the program shows on
 * its output that it has one. Every run starts a new crawl in a folder of its own, stops it, and
 * goes on with it, which shows old pages at once, so that only the server's clock counts there.
 * Prints a table, then one line of JSON.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { serveWorld } from "../src/lab/serve.ts";
import { seedUrls } from "../src/lab/world.ts";
import { LAUNCHER, start } from "../test/cli/program.ts";

/** Large enough that no run comes to its end before it is stopped. */
const WORLD = { siteCount: 1, pagesMin: 20_000, pagesMax: 20_000, sitemapShare: 0 };
const PATIENCE_MS = 20_000;

const runs = Number(process.argv[2] ?? 10);
const folder = mkdtempSync(join(tmpdir(), "weir-startup-"));
await using web = await serveWorld({ ...WORLD, crawlDelayShare: 0 }, { by: "address" });
// The first start fills the cache of compiled code, as any first use does.
await startOnce(join(folder, "0"));
const anew: Started[] = [];
const resumed: Started[] = [];
for (let run = 1; run <= runs; run++) {
  anew.push(await startOnce(join(folder, String(run))));
  resumed.push(await startOnce(join(folder, String(run))));
}
rmSync(folder, { recursive: true });
const figures = {
  servedMs: median(anew.map(({ servedMs }) => servedMs)),
  shownMs: median(anew.map(({ shownMs }) => shownMs)),
  shownWorstMs: Math.round(Math.max(...anew.map(({ shownMs }) => shownMs))),
  resumedServedMs: median(resumed.map(({ servedMs }) => servedMs)),
};
console.log(`medians of ${runs} runs, from the command to its first page:`);
console.log(`  given away by the server  ${figures.servedMs} ms`);
console.log(`  shown by the program      ${figures.shownMs} ms (worst ${figures.shownWorstMs} ms)`);
console.log(`  given away, going on      ${figures.resumedServedMs} ms`);
console.log(JSON.stringify({ bench: "startup", runs, ...figures }));

interface Started {
  readonly servedMs: number;
  readonly shownMs: number;
}

async function startOnce(out: string): Promise<Started> {
  const from = web.log.entries.length;
  const words = ["crawl", ...seedUrls(web.world), "--out", out, "--allow-private", "127.0.0.0/8"];
  const startedAtMs = performance.now();
  const program = start(words, { program: [LAUNCHER] });
  await program.saw(/\d pages?, /);
  const shownMs = performance.now() - startedAtMs;
  while (Number.isNaN(firstPageMs(from)) && performance.now() < startedAtMs + PATIENCE_MS)
    await sleep(1);
  program.process.kill("SIGINT");
  await program.ended;
  return { servedMs: firstPageMs(from) - startedAtMs, shownMs };
}

/** When the first page among the requests from a place in the log was over. */
function firstPageMs(from: number): number {
  const first = web.log.entries
    .slice(from)
    .find(({ path, status }) => isPage(path) && status === 200);
  return first?.endMs ?? Number.NaN;
}

function isPage(path: string): boolean {
  return path !== "/robots.txt" && path !== "/sitemap.xml";
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length / 2)] ?? Number.NaN);
}
