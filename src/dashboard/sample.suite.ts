/** A crawl's folder made up for tests: sites, ended URLs, last words, rates; with foreign text of any kind in them. */

import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Books } from "../bandwidth/history/ledger.ts";
import { RateLog } from "../control/rate-log.ts";
import type { SiteView, Snapshot } from "../control/snapshot.ts";
import { type Reason, settlementOf } from "../page/outcome.ts";
import { openStore } from "../store/sqlite/store-sqlite.ts";
import { emptyBatch, makePage, makeSite, makeUrl } from "../store/store.suite.ts";
import { NO_TOTALS, type NewUrl, type SiteRow, type Totals } from "../store/store.ts";
import type { Look } from "./shapes.ts";

export interface SampleUrl {
  readonly url: string;
  readonly reason: Reason | undefined;
  readonly title?: string;
}

export interface SampleSite {
  readonly key: string;
  readonly robots?: string;
  readonly urls: readonly SampleUrl[];
}

export interface SampleCrawl extends Disposable {
  readonly folder: string;
  /** Writes what a running crawl would say of itself, as if this process were it. */
  say(change: Partial<Snapshot>): Snapshot;
}

const NO_NEWS = { changed: 0, unchanged: 0, fresh: 0, gone: 0, left: 0 };

export async function sampleCrawl(sites: readonly SampleSite[]): Promise<SampleCrawl> {
  const folder = mkdtempSync(join(tmpdir(), "weir-sample-"));
  const totals = await fillStore(folder, sites);
  const pending = totals.known - totals.done - totals.failed - totals.skipped;
  return {
    folder,
    say(change) {
      const said = sampleSnapshot({ totals, pending, siteCount: sites.length, ...change });
      const file = join(folder, "status.json");
      writeFileSync(file, JSON.stringify(said));
      // It is never written again, and a status older than 15 s counts as that of a dead process.
      const laterSeconds = Date.now() / 1000 + 3600;
      utimesSync(file, laterSeconds, laterSeconds);
      return said;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}

async function fillStore(folder: string, sites: readonly SampleSite[]): Promise<Totals> {
  const store = openStore(folder);
  const rows: SiteRow[] = [];
  const urls: NewUrl[] = [];
  const outcomes: Record<string, number> = {};
  const ended = { done: 0, failed: 0, skipped: 0 };
  const batch = { settled: [] as { id: number; reason: Reason; attempts: number }[] };
  const pages: ReturnType<typeof makePage>[] = [];
  for (const [index, site] of sites.entries()) {
    const siteId = index + 1;
    for (const { url, reason, title } of site.urls) {
      const id = urls.length + 1;
      urls.push({ ...makeUrl(id, siteId, 0), url, redirectedFromId: 0, redirects: 0 });
      if (reason === undefined) continue;
      batch.settled.push({ id, reason, attempts: 1 });
      outcomes[reason] = (outcomes[reason] ?? 0) + 1;
      ended[settlementOf(reason)] += 1;
      if (reason === "ok")
        pages.push({ ...makePage(id, id * 2), title: title ?? `Page ${id}`, archived: undefined });
    }
    rows.push(siteRow(siteId, site));
  }
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  const totals: Totals = {
    ...NO_TOTALS,
    ...ended,
    known: urls.length,
    pages: outcomes["ok"] ?? 0,
    bytes,
    ledger: { page: bytes },
    outcomes,
    crawledMs: 60_000,
  };
  store.commit({ ...emptyBatch(), ...batch, sites: rows, urls, pages, totals });
  store.remember("userAgent", "Weir/0.1");
  store.remember("identity", JSON.stringify({ scope: "site", include: [], exclude: ["*secret*"] }));
  await store.close();
  return totals;
}

function siteRow(id: number, { key, robots, urls }: SampleSite): SiteRow {
  const pages = urls.filter(({ reason }) => reason === "ok").length;
  const bytes = 900 * pages;
  return makeSite(id, {
    key,
    known: urls.length,
    pending: urls.filter(({ reason }) => reason === undefined).length,
    pages,
    bytes,
    ledger: { page: bytes },
    robots:
      robots === undefined
        ? undefined
        : { status: 200, text: Buffer.from(robots).toString("latin1"), fetchedAtMs: 1.7e12 },
  });
}

export function sampleSnapshot(change: Partial<Snapshot> = {}): Snapshot {
  return {
    state: "running",
    because: "",
    processId: process.pid,
    elapsedMs: 60_000,
    resumed: false,
    totals: NO_TOTALS,
    pending: 0,
    rateBps: 0,
    limitBps: undefined,
    predictedBps: 0,
    waitingReaders: 0,
    ledger: new Books().byPurpose(),
    pagesPerSecond: 0,
    recentBps: [],
    remainingMs: undefined,
    connectionsOpen: 0,
    connectionsMax: 64,
    plan: undefined,
    siteCount: 0,
    sites: [],
    unreachable: 0,
    troubles: [],
    ...change,
  };
}

export function sampleView(site: string, change: Partial<SiteView> = {}): SiteView {
  return {
    site,
    known: 10,
    pages: 4,
    bytes: 4000,
    pending: 6,
    inFlight: 0,
    state: "ready",
    nextInMs: 0,
    round: { number: 1, news: NO_NEWS, nextInMs: undefined },
    priority: 1,
    forecast: undefined,
    deadlineMs: undefined,
    finishedMs: undefined,
    ...change,
  };
}

export function sampleLook(change: Partial<Snapshot> = {}): Look {
  return {
    name: "sample",
    isRunning: true,
    atMs: 1.7e12,
    snapshot: sampleSnapshot(change),
    siteRatesBps: {},
    hasSearch: false,
  };
}

/** A minute of rates that a crawl might have written down. */
export function writeRates(folder: string, fromMs: number, rates: readonly number[]): void {
  using chronicle = new RateLog(folder, fromMs + rates.length * 1000);
  for (const [index, bytes] of rates.entries())
    chronicle.note({ atMs: fromMs + index * 1000, bytes, predictedBps: 900, limitBps: 1000 });
}
