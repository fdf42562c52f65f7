/**
 * Ten million known URLs through the store, as a crawl would bring them (`crawl-load.ts`).
 *
 * Usage: node bench/frontier.ts [urls]
 *
 * One process builds, and is killed with -9; another opens what is left, and asks for known URLs in
 * no order at all. Prints a table, then JSON.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { below, randomFrom } from "../src/base/random.ts";
import { openStore } from "../src/store/sqlite/store-sqlite.ts";
import { CrawlLoad, LINKS_KNOWN, LINKS_NEW, folderBytes, highOf, lowOf } from "./crawl-load.ts";
import { measuredIn, sayAndWait } from "./crawl-load.ts";

const SMALL = 100_000;

interface Built {
  readonly smallUsPerUrl: number;
  readonly usPerUrl: number;
  readonly lastUsPerUrl: number;
  readonly takeP99Ms: number;
  readonly enqueueP99Ms: number;
  readonly enqueueP99CpuMs: number;
  readonly enqueueWorstMs: number;
  readonly rssBytes: number;
  readonly bytesPerUrl: number;
  readonly seconds: number;
}

async function build(folder: string, urls: number): Promise<Built> {
  const load = new CrawlLoad(openStore(folder), 1);
  const startedAtMs = performance.now();
  const baseMs = load.cpuMs;
  let smallUsPerUrl = 0;
  let beforeLast = { known: 0, cpuMs: 0 };
  await load.begin();
  while (load.known < urls) {
    await load.step();
    // As between pages of a crawl: timers and messages have their turn.
    await setImmediate();
    if (smallUsPerUrl === 0 && load.known >= SMALL)
      smallUsPerUrl = ((load.cpuMs - baseMs) * 1000) / load.known;
    if (beforeLast.known === 0 && load.known >= urls * 0.9)
      beforeLast = { known: load.known, cpuMs: load.cpuMs };
  }
  return {
    smallUsPerUrl,
    usPerUrl: ((load.cpuMs - baseMs) * 1000) / load.known,
    lastUsPerUrl: ((load.cpuMs - beforeLast.cpuMs) * 1000) / (load.known - beforeLast.known),
    takeP99Ms: load.takes.p(0.99),
    enqueueP99Ms: load.commits.p(0.99),
    enqueueP99CpuMs: load.commits.pCpu(0.99),
    enqueueWorstMs: load.commits.p(1),
    rssBytes: process.resourceUsage().maxRSS * 1024,
    bytesPerUrl: folderBytes(folder) / load.known,
    seconds: (performance.now() - startedAtMs) / 1000,
  };
}

interface Reopened {
  readonly firstWaitingMs: number;
  readonly checksPerSecond: number;
  readonly rssBytes: number;
}

async function reopen(folder: string): Promise<Reopened> {
  const startedAtMs = performance.now();
  const store = openStore(folder);
  const [site] = store.sitesWithWork(0, 1);
  const waiting = store.waiting(site?.id ?? 1, 50);
  if (waiting.length === 0) throw new Error("nothing waits");
  const firstWaitingMs = performance.now() - startedAtMs;

  // The worst order there is: any known URL, each as likely, and every fourth unknown.
  const random = randomFrom(2);
  const pages = 5_000;
  const count = LINKS_NEW + LINKS_KNOWN;
  const askedAtMs = performance.now();
  for (let page = 0; page < pages; page++) {
    const ids = Array.from({ length: count }, (_, index) => {
      return index % 4 === 0 ? 2 ** 31 + index : 1 + below(random, store.nextUrlId - 1);
    });
    store.lookup({
      high: Uint32Array.from(ids, highOf),
      low: Uint32Array.from(ids, lowOf),
      count,
    });
  }
  const checksPerSecond = (pages * count * 1000) / (performance.now() - askedAtMs);
  return { firstWaitingMs, checksPerSecond, rssBytes: process.resourceUsage().maxRSS * 1024 };
}

async function compare(urls: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "weir-frontier-"));
  try {
    const file = import.meta.filename;
    const built = await measuredIn<Built>(file, ["--build", folder, String(urls)]);
    const reopened = await measuredIn<Reopened>(file, ["--reopen", folder]);
    const rows: readonly (readonly [string, string, string])[] = [
      ["RSS, building", `${(built.rssBytes / 1e6).toFixed(0)} MB`, "512 MB"],
      ["take, p99", `${built.takeP99Ms.toFixed(2)} ms`, "10 ms"],
      [
        "enqueue (commit of 16 pages, 320 URLs), p99",
        `${built.enqueueP99Ms.toFixed(2)} ms`,
        "10 ms",
      ],
      ["the same, CPU alone", `${built.enqueueP99CpuMs.toFixed(2)} ms`, ""],
      ["enqueue, worst", `${built.enqueueWorstMs.toFixed(0)} ms`, ""],
      ["seen checks a second, in no order", reopened.checksPerSecond.toFixed(0), "50000"],
      [
        "open after kill -9 to first waiting URLs",
        `${reopened.firstWaitingMs.toFixed(0)} ms`,
        "10 s",
      ],
      [`CPU per URL at ${SMALL}`, `${built.smallUsPerUrl.toFixed(1)} us`, ""],
      [`CPU per URL at ${urls}`, `${built.usPerUrl.toFixed(1)} us`, ""],
      ["their ratio", (built.usPerUrl / built.smallUsPerUrl).toFixed(2), "1.5"],
      ["CPU per URL over the last tenth", `${built.lastUsPerUrl.toFixed(1)} us`, ""],
      ["disk per URL, its share of pages included", `${built.bytesPerUrl.toFixed(0)} B`, ""],
      ["time to build", `${built.seconds.toFixed(0)} s`, ""],
    ];
    console.log(`${urls} known URLs`.padEnd(48), "measured".padEnd(14), "wanted");
    for (const [what, value, wanted] of rows)
      console.log(what.padEnd(48), value.padEnd(14), wanted);
    console.log(JSON.stringify({ urls, ...built, reopened }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main) {
  const [mode = "10000000", folder = "", urls = "0"] = process.argv.slice(2);
  if (mode === "--build") await sayAndWait(await build(folder, Number(urls)));
  else if (mode === "--reopen") await sayAndWait(await reopen(folder));
  else await compare(Number(mode));
}
