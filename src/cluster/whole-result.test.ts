import assert from "node:assert/strict";
import { test } from "node:test";
import type { CrawlResult, Snapshot } from "../control/snapshot.ts";
import { NO_TOTALS } from "../store/store.ts";
import { resultOf } from "./whole-result.ts";

const RATE = {
  limitBps: 100,
  meanBps: 90,
  utilisation: 0.9,
  worstSecond: 1,
  secondsOver105: 0,
} as const;

const WHOLE = {
  totals: {
    ...NO_TOTALS,
    known: 20,
    done: 18,
    pages: 18,
    bytes: 1_800,
    outcomes: { ok: 18 },
  },
  unreachable: 2,
  elapsedMs: 5_000,
  ledger: {},
  resumed: true,
  parallel: { procs: [{}, {}], flows: [], urlsSent: 9, exchangeBytes: 70, differentPages: 15 },
  topics: {
    model: "m",
    locality: 0.5,
    linksJudged: 3,
    byTopic: { news: { own: 12, imported: 3 } },
  },
} as unknown as Snapshot;

function ended(
  name: string,
  bytes: number,
  exported: number,
): { name: string; result: CrawlResult } {
  const site = { site: "https://a.example", pages: 2, bytes, ledger: {}, deadlineSeconds: null };
  const result = {
    bytes,
    outcomes: { exported },
    refusedSeeds: { count: 1, first: [{ url: name, reason: "robots", detail: "" }] },
    unreachable: { count: 1, first: [] },
    bandwidth: { rankInversion: bytes / 100, secondsCpuBound: bytes, longestWaitMs: 7 },
    sites: [site],
  };
  return { name, result: result as unknown as CrawlResult };
}

const ENDED = [ended("a", 1_000, 3), ended("b", 800, 0)];

test("the result of the whole has every field, from the last reports of all processes", () => {
  const why = (pending: number): string => `${pending} left`;
  const result = resultOf({ whole: WHOLE, ended: ENDED, rate: RATE, whyStopped: why });
  assert.deepEqual(result.urls, { known: 20, done: 18, failed: 0, skipped: 0, pending: 2 });
  assert.deepEqual([result.complete, result.stoppedBy, result.resumed], [false, "2 left", true]);
  assert.deepEqual(result.ledger.byProcess, { a: 1_000, b: 800 });
  assert.deepEqual(result.bandwidth, {
    ...RATE,
    rankInversion: 9,
    secondsCpuBound: 1_000,
    longestWaitMs: 7,
  });
  assert.equal(result.refusedSeeds.count, 2);
  assert.equal(result.unreachable.count, 2);
  assert.deepEqual(
    result.sites.map(({ site, pages, bytes }) => [site, pages, bytes]),
    [["https://a.example", 4, 1_800]],
  );
  assert.deepEqual(result.topics, {
    model: "m",
    locality: 0.5,
    byTopic: { news: { own: 12, imported: 3 } },
  });
});

test("a page that moved to its owner was fetched once more, and copies of a page are overlap", () => {
  const { parallel } = resultOf({ whole: WHOLE, ended: ENDED, rate: RATE, whyStopped: () => "" });
  // 18 stored pages, 3 of them imported, and 3 exported ones.
  assert.deepEqual(
    [parallel?.downloaded, parallel?.unique, parallel?.overlap],
    [18, 15, (18 - 15) / 15],
  );
  assert.equal(parallel?.communicationOverhead, 0.5);
  assert.deepEqual([parallel?.coverage, parallel?.quality], [null, null]);
});

test("what the stores contain is counted exactly", () => {
  const exact = {
    totals: { ...NO_TOTALS, known: 10, done: 10, pages: 10 },
    unique: 10,
    downloaded: 11,
    coverage: 0.5,
    quality: 0.75,
    topics: null,
  };
  const why = (pending: number): string => (pending === 0 ? "" : "stopped");
  const result = resultOf({ whole: WHOLE, ended: ENDED, rate: RATE, whyStopped: why }, exact);
  assert.deepEqual([result.pages, result.complete, result.topics], [10, true, null]);
  const { downloaded, coverage, quality } = result.parallel ?? {};
  assert.deepEqual([downloaded, coverage, quality], [11, 0.5, 0.75]);
});
