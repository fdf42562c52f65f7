/** A cluster as one crawl to whoever looks: made by its leader from what all nodes showed last. */

import type { Snapshot } from "../crawl/snapshot.ts";
import type { Member } from "./members.ts";
import { joinedTotals } from "../store/joined-totals.ts";
import type { Totals } from "../store/store.ts";
import { mergeSnapshots, type Whole } from "./merge.ts";

/** Those who have left count for the whole, too. */
export function wholeOf(
  members: readonly Member[],
  left: ReadonlyMap<string, Totals> = new Map(),
  whole: Pick<Whole, "state" | "elapsedMs" | "limitBps" | "recentBps">,
): Snapshot {
  const names = members.map(({ name }) => name);
  const all = members.flatMap(({ snapshot }) => snapshot ?? []);
  const merged = mergeSnapshots(all, {
    ...whole,
    because: "",
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
      flows: members.map(({ exchange }) => names.map((to) => exchange?.sentTo[to] ?? 0)),
    },
  });
  // Until it is removed, whoever is about to leave still speaks for itself.
  const gone = [...left].flatMap(([name, totals]) => (names.includes(name) ? [] : totals));
  return { ...merged, totals: joinedTotals([merged.totals, ...gone]) };
}

/** Whether all have said their last word in it. */
export function isFinal({ state }: Snapshot): boolean {
  return state === "done" || state === "stopped";
}
