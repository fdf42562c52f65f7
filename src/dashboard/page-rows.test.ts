import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { ganttRows } from "./page/gantt-rows.ts";
import { pagesOf, rowsInSight } from "./page/rows.ts";
import { sampleLook, sampleView } from "./sample.suite.ts";

test("the rows in sight are drawn, with a few beyond each edge", () => {
  const pane = { scrollTop: 4000, heightPixels: 400, rowPixels: 40, rowCount: 10_000 };
  assert.deepEqual(rowsInSight(pane), { from: 92, until: 118 });
  assert.deepEqual(rowsInSight({ ...pane, scrollTop: 0 }), { from: 0, until: 18 });
  assert.deepEqual(rowsInSight({ ...pane, rowCount: 3, scrollTop: 0 }), { from: 0, until: 3 });
  assert.deepEqual(pagesOf(92, 118, 100), [0, 1]);
  assert.deepEqual(pagesOf(5, 5, 100), []);
});

test("however far and fast somebody scrolls, no row in sight is missing and few are drawn", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomFrom(seed);
    const rowPixels = 20 + below(random, 80);
    const rowCount = below(random, 20_000);
    const heightPixels = below(random, 1500);
    const most = Math.max(0, rowCount * rowPixels - heightPixels);
    const scrollTop = below(random, most + 1) - (random.next() < 0.1 ? 50 : 0);
    const { from, until } = rowsInSight({ scrollTop, heightPixels, rowPixels, rowCount });
    const first = Math.floor(Math.max(0, scrollTop) / rowPixels);
    const last = Math.min(rowCount, Math.ceil((Math.max(0, scrollTop) + heightPixels) / rowPixels));
    assert.ok(from <= first && until >= last, `seed ${seed}: ${from} to ${until}`);
    assert.ok(from >= 0 && until <= rowCount && from <= until, `seed ${seed}`);
    assert.ok(until - from <= heightPixels / rowPixels + 18, `seed ${seed}: too many rows`);
    const pages = pagesOf(from, until, 100);
    for (let row = from; row < until; row++)
      assert.ok(pages.includes(Math.floor(row / 100)), `seed ${seed}: row ${row} has no page`);
  }
});

test("everything in the plan's picture is on one clock, counted from the start", () => {
  const segments = [{ fromSeconds: 0, toSeconds: 4, rateBps: 500 }];
  const forecast = {
    deadlineInMs: 10_000,
    finishInMs: 4000,
    rateBps: 500,
    leftBytes: 2000,
    isLate: false,
    segments,
  };
  const look = sampleLook({
    elapsedMs: 22_000,
    plan: { number: 3, madeAgoMs: 2000 },
    sites: [
      sampleView("https://a.example", { deadlineMs: 30_000, forecast }),
      sampleView("https://b.example", { pending: 0, finishedMs: 12_000, deadlineMs: 11_000 }),
      sampleView("https://c.example"),
    ],
  });
  const rows = ganttRows(look);
  assert.deepEqual(
    rows.map(({ name }) => name),
    ["https://b.example", "https://a.example"],
  );
  const [b, a] = rows;
  assert.deepEqual(a?.segments, [{ fromSeconds: 20, toSeconds: 24, rateBps: 500 }]);
  assert.deepEqual([a?.finishSeconds, a?.deadlineSeconds, a?.isLate], [24, 30, false]);
  assert.deepEqual([b?.doneSeconds, b?.deadlineSeconds, b?.isLate], [12, 11, true]);
});

test("in a later run the clock is that run's, and promises count from the first", () => {
  const forecast = {
    deadlineInMs: 5000,
    finishInMs: 1000,
    rateBps: 1,
    leftBytes: 1,
    isLate: false,
    segments: [],
  };
  const look = sampleLook({
    elapsedMs: 10_000,
    plan: { number: 1, madeAgoMs: 0 },
    sites: [sampleView("https://a.example", { deadlineMs: 100_000, forecast })],
  });
  assert.equal(ganttRows(look)[0]?.deadlineSeconds, 15);
});
