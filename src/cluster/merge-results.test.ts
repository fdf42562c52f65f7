import assert from "node:assert/strict";
import { test } from "node:test";
import type { SiteView, Snapshot } from "../control/snapshot.ts";
import { NO_TOTALS } from "../store/store.ts";
import { mergeSnapshots } from "./merge-results.ts";

const WHOLE = {
  state: "running",
  because: "",
  elapsedMs: 1,
  resumed: false,
  limitBps: undefined,
  recentBps: [1, 2],
  parallel: undefined,
} as const;

function snapshot(pages: number, sites: readonly Partial<SiteView>[]): Snapshot {
  const totals = { ...NO_TOTALS, pages, known: pages };
  const none = { pending: 1, unreachable: 0, predictedBps: 0, waitingReaders: 0, ledger: {} };
  const rest = { pagesPerSecond: 1, connectionsOpen: 1, connectionsMax: 2, troubles: [] };
  return { totals, ...none, ...rest, sites, siteCount: sites.length } as unknown as Snapshot;
}

test("counts are added, and a site that two processes know is shown once, by its owner", () => {
  const [https, other] = ["https://a.example", "https://b.example"];
  const merged = mergeSnapshots(
    [
      snapshot(3, [{ site: https, pages: 3, pending: 1, bytes: 9 }]),
      snapshot(4, [
        { site: https, pages: 0, pending: 1, bytes: 0 },
        { site: other, pages: 4, pending: 0, bytes: 5 },
      ]),
    ],
    WHOLE,
  );
  assert.equal(merged.totals.pages, 7);
  assert.equal(merged.pending, 2);
  assert.equal(merged.siteCount, 2);
  assert.deepEqual(
    merged.sites.map(({ site, pages }) => [site, pages]),
    [
      [https, 3],
      [other, 4],
    ],
  );
  assert.equal(merged.rateBps, 2);
});

test("without any process the ledger has every purpose, at 0", () => {
  assert.deepEqual(new Set(Object.values(mergeSnapshots([], WHOLE).ledger)), new Set([0]));
});
