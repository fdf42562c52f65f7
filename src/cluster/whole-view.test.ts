import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import type { SiteView, Snapshot } from "../control/snapshot.ts";
import { NO_TOTALS } from "../store/store.ts";
import type { Fingerprint } from "../url/fingerprint.ts";
import type { Member } from "./members.ts";
import type { Report } from "./messages.ts";
import { mergeSnapshots, wholeOf } from "./whole-view.ts";
import { writeFingerprints } from "./fingerprint-codec.ts";

const WHOLE = {
  state: "done",
  because: "",
  droppedMessages: 0,
  elapsedMs: 1,
  resumed: false,
  limitBps: undefined,
  recentBps: [],
} as const;

/** A member that has ended with these pages, and reported the lowest of their fingerprints. */
function member(name: string, pages: readonly Fingerprint[], toldMax: number): Member {
  const totals = { ...NO_TOTALS, pages: pages.length };
  const snapshot = { totals, sites: [], troubles: [], ledger: {}, pending: 0 } as unknown;
  const least = pages.toSorted((a, b) => a.high - b.high).slice(0, toldMax);
  return {
    name,
    hasEnded: true,
    snapshot: snapshot as Snapshot,
    report: { leastPages: writeFingerprints(least), usedBps: 0 } as unknown as Report,
    exchange: { sentBytes: 1_000, sentTo: {} },
  } as unknown as Member;
}

function pagesFrom(seed: number, count: number): Fingerprint[] {
  const random = randomFrom(seed);
  const half = (): number => Math.floor(random.next() * 2 ** 32);
  return Array.from({ length: count }, () => ({ high: half(), low: half() }));
}

test("pages that two nodes fetched count once, exactly if all fingerprints were reported", () => {
  const pages = pagesFrom(1, 900);
  const members = [member("one", pages.slice(0, 600), 1024), member("two", pages.slice(500), 1024)];
  const { parallel } = wholeOf(members, new Map(), WHOLE);
  equal(parallel?.differentPages, 900);
  equal(parallel?.exchangeBytes, 2_000);
});

test("the number of different pages is estimated from a sample, and nodes that left add theirs", () => {
  const pages = pagesFrom(2, 60_000);
  const members = [
    member("one", pages.slice(0, 40_000), 1024),
    member("two", pages.slice(30_000), 1024),
  ];
  const left = new Map([["three", { ...NO_TOTALS, pages: 500 }]]);
  const found = wholeOf(members, left, WHOLE).parallel?.differentPages ?? 0;
  equal(Math.abs(found - 60_500) < 0.12 * 60_000, true, `${found} of 60,500`);
});

test("if a last report was lost, the overlap is unknown", () => {
  const pages = pagesFrom(4, 50);
  const members = [member("one", pages, 0), member("two", pages, 1024)];
  equal(wholeOf(members, new Map(), WHOLE).parallel?.differentPages, 100);
});

test("while a node is running, the overlap is unknown", () => {
  const busy = { ...member("one", pagesFrom(3, 10), 10), hasEnded: false };
  const members = [busy, member("two", pagesFrom(3, 10), 10)];
  equal(wholeOf(members, new Map(), WHOLE).parallel?.differentPages, 20);
});

const MERGED = {
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
    MERGED,
  );
  equal(merged.totals.pages, 7);
  equal(merged.pending, 2);
  equal(merged.siteCount, 2);
  deepEqual(
    merged.sites.map(({ site, pages }) => [site, pages]),
    [
      [https, 3],
      [other, 4],
    ],
  );
  equal(merged.rateBps, 2);
});

test("without any process the ledger has every purpose, at 0", () => {
  deepEqual(new Set(Object.values(mergeSnapshots([], MERGED).ledger)), new Set([0]));
});
