/** A cluster as one crawl: joined by its leader from the last snapshots of all nodes. */

import type { Snapshot } from "../../control/snapshot.ts";
import type { Exchange } from "../messages.ts";
import type { Member } from "../members.ts";
import { joinedTotals } from "../../store/joined/joined-totals.ts";
import type { Totals } from "../../store/store.ts";
import { DistinctCount } from "../../partition/distinct-count.ts";
import { mergeSnapshots, type Whole } from "../merge-results.ts";
import { readFingerprints } from "../fingerprint-codec.ts";

/** With more nodes the table of URLs from each node to each other is left out: it grows with their square. */
export const FLOWS_NODES_MAX = 32;

/** Includes the totals of nodes that have left. */
export function wholeOf(
  members: readonly Member[],
  left: ReadonlyMap<string, Totals> = new Map(),
  whole: Pick<Whole, "state" | "because" | "elapsedMs" | "limitBps" | "recentBps"> & {
    readonly droppedMessages: number;
  },
): Snapshot {
  const { droppedMessages, ...rest } = whole;
  const names = members.map(({ name }) => name);
  const all = members.flatMap(({ snapshot }) => snapshot ?? []);
  const merged = mergeSnapshots(all, {
    ...rest,
    resumed: false,
    parallel: {
      procs: members.map(({ name, snapshot, report }) => ({
        name,
        pages: snapshot?.totals.pages ?? 0,
        pending: snapshot?.pending ?? 0,
        rateBps: report?.usedBps ?? 0,
        limitBps: snapshot?.limitBps,
        state: report === undefined ? "away" : (snapshot?.state ?? "starting"),
      })),
      flows:
        members.length > FLOWS_NODES_MAX
          ? []
          : members.map(({ exchange }) => names.map((to) => exchange?.sentTo[to] ?? 0)),
      urlsSent: members.reduce((sum, { exchange }) => sum + sentIn(exchange), 0),
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

function sentIn(exchange: Exchange | undefined): number {
  return Object.values(exchange?.sentTo ?? {}).reduce((sum, urls) => sum + urls, 0);
}

function pagesOf(left: ReadonlyMap<string, Totals>): number {
  return [...left.values()].reduce((sum, { pages }) => sum + pages, 0);
}

/** Whether it contains the last reports of all nodes. */
export function isFinal({ state }: Snapshot): boolean {
  return state === "done" || state === "stopped";
}
