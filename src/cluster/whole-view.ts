/**
 * Several processes as one crawl, from the last snapshots of all.
 *
 * A URL that was sent, is handled elsewhere or has moved away is known to several processes, and counts once, at its
 * owner.
 */

import { bookedIn } from "../bandwidth/history/ledger.ts";
import type { SiteView, Snapshot } from "../control/snapshot.ts";
import { joinedTopics } from "../crawl/topics/counts.ts";
import { DistinctCount } from "../partition/distinct-count.ts";
import { joinedTotals, sumOf } from "../store/joined/joined-totals.ts";
import type { Totals } from "../store/store.ts";
import { readFingerprints } from "./fingerprint-codec.ts";
import type { Member } from "./members.ts";

/** With more nodes the table of URLs from each node to each other is left out: it grows with their square. */
export const FLOWS_NODES_MAX = 32;

const SITES_SHOWN = 50;
const TROUBLES_SHOWN = 20;

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

/** Includes the totals of nodes that have left. */
export function wholeOf(
  members: readonly Member[],
  left: ReadonlyMap<string, Totals> = new Map(),
  whole: Omit<Whole, "parallel"> & {
    readonly droppedMessages: number;
  },
): Snapshot {
  const { droppedMessages, ...rest } = whole;
  const names = members.map(({ name }) => name);
  const all = members.flatMap(({ snapshot }) => snapshot ?? []);
  const merged = mergeSnapshots(all, {
    ...rest,
    parallel: {
      procs: members.map(({ name, snapshot, report, isAway }) => ({
        name,
        pages: snapshot?.totals.pages ?? 0,
        pending: snapshot?.pending ?? 0,
        rateBps: report?.usedBps ?? 0,
        limitBps: snapshot?.limitBps,
        state: report === undefined || isAway ? "away" : (snapshot?.state ?? "starting"),
      })),
      flows:
        members.length > FLOWS_NODES_MAX
          ? []
          : members.map(({ exchange }) => names.map((to) => exchange?.sentTo[to] ?? 0)),
      urlsSent: members.reduce((sum, { exchange }) => sum + (exchange?.urlsSent ?? 0), 0),
      droppedMessages:
        droppedMessages +
        members.reduce((sum, { report }) => sum + (report?.droppedMessages ?? 0), 0),
      exchangeBytes: members.reduce((sum, { exchange }) => sum + (exchange?.sentBytes ?? 0), 0),
      differentPages: differentPages(members) + pagesOf(left),
    },
  });
  // A leaving node counts by its own snapshot until it is removed.
  const gone = [...left].flatMap(([name, totals]) => (names.includes(name) ? [] : totals));
  return { ...merged, totals: joinedTotals([merged.totals, ...gone]) };
}

/** A lost node that returned has pages that others fetched again; exact once all have sent their last report. */
function differentPages(members: readonly Member[]): number {
  const counts = members.map(({ snapshot }) => snapshot?.totals.pages ?? 0);
  const sum = counts.reduce((so, pages) => so + pages, 0);
  if (members.some(({ hasEnded }) => !hasEnded)) return sum;
  const samples = members.map(({ report }) => readFingerprints(report?.leastPages ?? ""));
  // A last report may be lost like any other.
  if (samples.some(({ length }, index) => length === 0 && counts[index] !== 0)) return sum;
  const areAll = samples.every(({ length }, index) => length === counts[index]);
  const size = areAll ? sum + 1 : Math.max(...samples.map(({ length }) => length));
  const together = new DistinctCount(Math.max(2, size));
  for (const sample of samples) for (const { high, low } of sample) together.add(high, low);
  return Math.min(sum, Math.round(together.count));
}

function pagesOf(left: ReadonlyMap<string, Totals>): number {
  return [...left.values()].reduce((sum, { pages }) => sum + pages, 0);
}

/** Whether it contains the last reports of all nodes. */
export function isFinal({ state }: Snapshot): boolean {
  return state === "done" || state === "stopped";
}
