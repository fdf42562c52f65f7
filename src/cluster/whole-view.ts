/** A cluster as one crawl to whoever looks: made by its leader from what all nodes showed last. */

import type { Snapshot } from "../crawl/snapshot.ts";
import type { Member } from "./members.ts";
import { mergeSnapshots, type Whole } from "./merge.ts";

/** Those who have left count for the whole, too. */
export function wholeOf(
  members: readonly Member[],
  left: ReadonlyMap<string, Snapshot>,
  whole: Pick<Whole, "state" | "elapsedMs" | "limitBps" | "recentBps">,
): Snapshot {
  const names = members.map(({ name }) => name);
  const all = [...members.flatMap(({ snapshot }) => snapshot ?? []), ...left.values()];
  return mergeSnapshots(all, {
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
}

/** Whether all have said their last word in it. */
export function isFinal({ state }: Snapshot): boolean {
  return state === "done" || state === "stopped";
}
