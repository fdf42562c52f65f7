/** Joins the results of several processes into that of one crawl: one builder for a machine and for a cluster. */

import { capsOf } from "../control/caps.ts";
import type { BytesByPurpose } from "../bandwidth/history/ledger.ts";
import type { CrawlResult, Snapshot } from "../control/snapshot.ts";
import { overlap } from "../partition/metrics.ts";
import { sumOf } from "../store/joined/joined-totals.ts";
import type { Totals } from "../store/store.ts";

const SITES_IN_RESULT = 10_000;

/** A process that has ended. */
interface Ended {
  readonly name: string;
  readonly result: CrawlResult;
}

/** What is counted exactly where all stores are at hand; in a cluster it follows from the last reports. */
export interface Exact extends Pick<CrawlResult, "topics"> {
  /** With each URL once. */
  readonly totals: Totals;
  readonly unique: number;
  readonly downloaded: number;
  readonly coverage: number | null;
  readonly quality: number | null;
}

interface Parts {
  /** The last snapshot. */
  readonly whole: Snapshot;
  readonly ended: readonly Ended[];
  /** Received by all processes together. */
  readonly rate: Omit<
    CrawlResult["bandwidth"],
    "rankInversion" | "secondsCpuBound" | "longestWaitMs"
  >;
  /** Why it ended with this number of pending URLs; empty for a complete crawl. */
  readonly whyStopped: (pending: number) => string;
}

export function resultOf({ whole, ended, rate, whyStopped }: Parts, exact?: Exact): CrawlResult {
  const results = ended.map(({ result }) => result);
  const totals = exact?.totals ?? whole.totals;
  const { known, done, failed, skipped } = totals;
  const pending = known - done - failed - skipped;
  const stoppedBy = whyStopped(pending);
  return {
    pages: totals.pages,
    bytes: totals.bytes,
    seconds: whole.elapsedMs / 1000,
    urls: { known, done, failed, skipped, pending },
    outcomes: totals.outcomes,
    refusedLinks: totals.refusedLinks,
    remarks: totals.remarks,
    caps: capsOf(totals),
    refusedSeeds: {
      count: results.reduce((sum, one) => sum + one.refusedSeeds.count, 0),
      first: results.flatMap((one) => one.refusedSeeds.first),
    },
    unreachable: {
      count: whole.unreachable,
      first: results.flatMap((one) => one.unreachable.first),
    },
    bandwidth: {
      ...rate,
      rankInversion: mean(results.map(({ bandwidth }) => bandwidth.rankInversion)),
      secondsCpuBound: Math.max(0, ...results.map(({ bandwidth }) => bandwidth.secondsCpuBound)),
      longestWaitMs: Math.max(0, ...results.map(({ bandwidth }) => bandwidth.longestWaitMs)),
    },
    ledger: {
      byPurpose: whole.ledger,
      byProcess: Object.fromEntries(ended.map(({ name, result }) => [name, result.bytes])),
    },
    sites: mergedSites(results),
    parallel: parallelOf(whole, results, exact),
    topics: exact === undefined ? topicsOf(whole) : exact.topics,
    duplicates: { exact: totals.duplicatesExact, near: totals.duplicatesNear },
    resumed: whole.resumed,
    complete: pending === 0 && stoppedBy === "",
    stoppedBy,
  };
}

function parallelOf(
  whole: Snapshot,
  results: readonly CrawlResult[],
  exact: Exact | undefined,
): CrawlResult["parallel"] {
  const { parallel, totals } = whole;
  // An exported page was fetched by one process and is stored by another.
  const exported = results.reduce((sum, { outcomes }) => sum + (outcomes["exported"] ?? 0), 0);
  const topics = Object.values(whole.topics?.byTopic ?? {});
  const imported = topics.reduce((sum, one) => sum + one.imported, 0);
  const downloaded = exact?.downloaded ?? totals.pages - imported + exported;
  const unique = exact?.unique ?? Math.min(totals.pages, parallel?.differentPages ?? totals.pages);
  const urlsExchanged = parallel?.urlsSent ?? 0;
  return {
    procs: parallel?.procs.length ?? 1,
    downloaded,
    unique,
    overlap: overlap(downloaded, unique),
    urlsExchanged,
    communicationOverhead: downloaded === 0 ? 0 : urlsExchanged / downloaded,
    exchangeBytes: parallel?.exchangeBytes ?? 0,
    coverage: exact?.coverage ?? null,
    quality: exact?.quality ?? null,
  };
}

function topicsOf({ topics }: Snapshot): CrawlResult["topics"] {
  if (topics === undefined) return null;
  const { model, locality, byTopic } = topics;
  return { model, locality, byTopic };
}

function mergedSites(results: readonly CrawlResult[]): CrawlResult["sites"] {
  const byKey = new Map<string, CrawlResult["sites"][number]>();
  for (const site of results.flatMap(({ sites }) => sites)) {
    const other = byKey.get(site.site);
    if (other === undefined) byKey.set(site.site, site);
    else byKey.set(site.site, together(other, site));
  }
  return [...byKey.values()]
    .filter(({ pages, bytes, deadlineSeconds }) => pages + bytes > 0 || deadlineSeconds !== null)
    .slice(0, SITES_IN_RESULT);
}

type SiteResult = CrawlResult["sites"][number];

/** Most figures come from the process that crawled the site, which has its bytes. */
function together(a: SiteResult, b: SiteResult): SiteResult {
  const main = a.bytes >= b.bytes ? a : b;
  return {
    ...main,
    pages: a.pages + b.pages,
    bytes: a.bytes + b.bytes,
    ledger: sumOf([a.ledger, b.ledger]) as BytesByPurpose,
  };
}

function mean(numbers: readonly number[]): number {
  return numbers.length === 0 ? 0 : numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}
