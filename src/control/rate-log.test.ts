import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { RateLog, readRateLog } from "./rate-log.ts";

const NOON = Date.UTC(2026, 4, 4, 12);
const DAY_MS = 86_400_000;

test("a crawl that was killed and goes on has one history, without a second lost", (t) => {
  const folder = emptyFolder(t);
  // The log is not closed in order: its entries are there for the next reader.
  crawlFor(folder, NOON + 30_000, 100);
  crawlFor(folder, NOON + 140_000, 60);
  appendFileSync(join(folder, "state", "rate-minutes.f64"), "torn");
  crawlFor(folder, NOON + 3 * DAY_MS, 5);
  crawlFor(folder, NOON + 3 * DAY_MS + 600_000, 5);
  const { minutes, seconds } = readRateLog(folder, NOON + 4 * DAY_MS);
  assert.equal(seconds.length, 10);
  assert.deepEqual(
    minutes.map(({ atMs, seconds: count }) => [(atMs - NOON) / 60_000, count]),
    [
      [0, 30],
      [1, 60],
      [2, 50],
      [3, 20],
    ],
  );
  assert.equal(minutes[1]?.mostBps, 1089);
  assert.equal(minutes[1]?.limitBps, 2000);
});

test("rows from before the clock was set right are not taken for the future", (t) => {
  const folder = emptyFolder(t);
  crawlFor(folder, NOON + 1000 * DAY_MS, 70);
  crawlFor(folder, NOON, 70);
  const { seconds } = readRateLog(folder, NOON + DAY_MS);
  assert.deepEqual([seconds.length, seconds[0]?.atMs], [70, NOON]);
});

test("the history of a crawl that was never begun is empty", (t) => {
  assert.deepEqual(readRateLog(emptyFolder(t), NOON), { minutes: [], seconds: [] });
});

/** The n-th second has 1000 + n bytes. */
function crawlFor(folder: string, wallMs: number, seconds: number): void {
  const chronicle = new RateLog(folder, wallMs);
  for (let second = 0; second < seconds; second++)
    chronicle.note({
      atMs: wallMs + second * 1000,
      bytes: 1000 + second,
      predictedBps: 1500,
      limitBps: 2000,
    });
}

function emptyFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "weir-chronicle-"));
  mkdirSync(join(folder, "state"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}
