/**
 * Joins snapshots and results of several processes into those of one crawl.
 *
 * A URL that was sent, is handled elsewhere or has moved away is known to several processes, and counts once, at its
 * owner.
 */

import { capsOf } from "../control/caps.ts";
import { bookedIn, type BytesByPurpose } from "../bandwidth/history/ledger.ts";
import type { CrawlResult, SiteView, Snapshot } from "../control/snapshot.ts";
import { joinedTopics } from "../crawl/topics/counts.ts";
import { couldNotBeReached } from "../crawl/unreachable.ts";
import { overlap } from "../partition/metrics.ts";
import { joinedTotals, sumOf } from "../store/joined/joined-totals.ts";
import type { Totals } from "../store/store.ts";

const SITES_SHOWN = 50;
const TROUBLES_SHOWN = 20;
const SITES_IN_RESULT = 10_000;

/** Fields that do not follow from the processes' own. */
export type Whole = Pick<
  Snapshot,
  "state" | "because" | "elapsedMs" | "resumed" | "limitBps" | "recentBps" | "parallel"
>;

export function mergeSnapshots(all: readonly Snapshot[], whole: Whole): Snapshot {
  const sum = (of: (one: Snapshot) => number): number => all.reduce((so, one) => so + of(one), 0);
  const totals = joinedTotals(all.map((one) => one.totals));
  const pending = sum((one) => one.pending);
  const pagesPerSecond = sum((one) => one.pagesPerSecond);
  return {
    ...whole,
    processId: process.pid,
    totals,
    pending,
    unreachable: sum((one) => one.unreachable),
    rateBps: whole.recentBps.at(-1) ?? 0,
    predictedBps: sum((one) => one.predictedBps),
    waitingReaders: sum((one) => one.waitingReaders),
    ledger: bookedIn({ bytes: 0, ledger: sumOf(all.map((one) => one.ledger)) }),
    pagesPerSecond,
    remainingMs: pagesPerSecond > 0 ? (pending / pagesPerSecond) * 1000 : undefined,
    connectionsOpen: sum((one) => one.connectionsOpen),
    connectionsMax: sum((one) => one.connectionsMax),
    siteCount: siteCountOf(all),
    plan: all.find((one) => one.plan !== undefined)?.plan,
    sites: busiest(all.flatMap((one) => one.sites)),
    troubles: all.flatMap((one) => one.troubles).slice(-TROUBLES_SHOWN),
    topics: joinedTopics(all.flatMap((one) => one.topics ?? [])),
  };
}

/** Exact if every snapshot lists all its sites; otherwise a site known to several processes counts for each. */
function siteCountOf(all: readonly Snapshot[]): number {
  const isAll = all.every(({ sites, siteCount }) => sites.length >= siteCount);
  if (isAll) return new Set(all.flatMap(({ sites }) => sites.map(({ site }) => site))).size;
  return all.reduce((sum, { siteCount }) => sum + siteCount, 0);
}

/** A site known to several processes is shown as the process with most of its pages shows it. */
function busiest(sites: readonly SiteView[]): SiteView[] {
  const byKey = new Map<string, SiteView>();
  for (const site of sites) {
    const other = byKey.get(site.site);
    const isMore = other === undefined || site.pages + site.pending > other.pages + other.pending;
    if (isMore) byKey.set(site.site, site);
  }
  return [...byKey.values()]
    .filter(({ pages, pending, bytes }) => pages + pending + bytes > 0)
    .sort((a, b) => b.pending - a.pending || b.pages - a.pages)
    .slice(0, SITES_SHOWN);
}

export interface Ended {
  readonly name: string;
  readonly result: CrawlResult;
}

type WholeResult = Pick<
  CrawlResult,
  "seconds" | "bandwidth" | "parallel" | "topics" | "resumed" | "complete" | "stoppedBy"
>;

/** `totals` are those of all stores together, with each URL once. */
export function mergeResults(
  ended: readonly Ended[],
  totals: Totals,
  whole: WholeResult,
): CrawlResult {
  const results = ended.map(({ result }) => result);
  const { known, done, failed, skipped } = totals;
  return {
    ...whole,
    pages: totals.pages,
    bytes: totals.bytes,
    urls: { known, done, failed, skipped, pending: known - done - failed - skipped },
    outcomes: totals.outcomes,
    refusedLinks: totals.refusedLinks,
    remarks: totals.remarks,
    caps: capsOf(totals),
    refusedSeeds: {
      count: results.reduce((sum, one) => sum + one.refusedSeeds.count, 0),
      first: results.flatMap((one) => one.refusedSeeds.first),
    },
    unreachable: {
      count: results.reduce((sum, one) => sum + one.unreachable.count, 0),
      first: results.flatMap((one) => one.unreachable.first),
    },
    ledger: {
      byPurpose: sumOf(results.map((one) => one.ledger.byPurpose)) as BytesByPurpose,
      byProcess: Object.fromEntries(ended.map(({ name, result }) => [name, result.bytes])),
    },
    sites: mergedSites(results),
    duplicates: { exact: totals.duplicatesExact, near: totals.duplicatesNear },
  };
}

/** The result of a cluster, from the last snapshots of all nodes; it lists only the busiest sites. */
export function resultOfWhole(whole: Snapshot, own: CrawlResult): CrawlResult {
  const { totals, pending, parallel } = whole;
  const { known, done, failed, skipped } = totals;
  const urlsExchanged = parallel?.urlsSent ?? 0;
  const procs = parallel?.procs ?? [];
  const unique = Math.min(totals.pages, parallel?.differentPages ?? totals.pages);
  return {
    ...own,
    pages: totals.pages,
    bytes: totals.bytes,
    urls: { known, done, failed, skipped, pending },
    outcomes: totals.outcomes,
    refusedLinks: totals.refusedLinks,
    remarks: totals.remarks,
    caps: capsOf(totals),
    ledger: { byPurpose: whole.ledger, byProcess: own.ledger.byProcess },
    sites: mergedSites([own]),
    duplicates: { exact: totals.duplicatesExact, near: totals.duplicatesNear },
    parallel: {
      procs: procs.length,
      downloaded: totals.pages,
      unique,
      overlap: overlap(totals.pages, unique),
      urlsExchanged,
      communicationOverhead: totals.pages === 0 ? 0 : urlsExchanged / totals.pages,
      exchangeBytes: parallel?.exchangeBytes ?? 0,
      coverage: null,
      quality: null,
    },
    unreachable: { ...own.unreachable, count: whole.unreachable },
    complete: own.complete && pending === 0,
    // This node finished its part, and the crawl ended because other nodes could not reach their sites.
    stoppedBy:
      own.stoppedBy === "" && pending > 0 ? couldNotBeReached(whole.unreachable) : own.stoppedBy,
  };
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
