import assert from "node:assert/strict";
import { test } from "node:test";
import type { Second } from "../bandwidth/history/series.ts";
import { below, randomFrom } from "../base/random.ts";
import { spansOf } from "./rates.ts";

function second(atMs: number, bytes: number): Second {
  return { atMs, bytes, predictedBps: 10, limitBps: 100 };
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}

test("a short crawl is shown second by second, a longer one in spans with their extremes", () => {
  const seconds = [second(0, 10), second(1000, 90), second(2000, 20), second(3000, 40)];
  assert.equal(spansOf({ minutes: [], seconds }, 100).length, 4);
  const [first, last, ...more] = spansOf({ minutes: [], seconds }, 2);
  assert.deepEqual(more, []);
  assert.deepEqual(first, {
    atMs: 0,
    lengthMs: 2000,
    leastBps: 10,
    meanBps: 50,
    mostBps: 90,
    predictedBps: 10,
    limitBps: 100,
  });
  assert.equal(last?.mostBps, 40);
});

test("minutes come before seconds, and a pause stays a gap", () => {
  const minute = { atMs: 0, seconds: 30, bytes: 3000, leastBps: 0, mostBps: 400 };
  const minutes = [{ ...minute, predictedBps: 90, limitBps: undefined }];
  const spans = spansOf({ minutes, seconds: [second(60_000, 7), second(120_000, 9)] }, 10);
  assert.equal(spans[0]?.meanBps, 100);
  assert.ok(spans.every((span, index) => index === 0 || span.atMs > (spans[index - 1]?.atMs ?? 0)));
  assert.equal(spans.at(-1)?.atMs, 120_000);
});

test("whatever the crawl, bytes and extremes are kept and the picture stays small", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomFrom(seed);
    const seconds: Second[] = [];
    let atMs = 1.7e12;
    for (let count = 1 + below(random, 5000); count > 0; count--) {
      seconds.push(second(atMs, below(random, 1000)));
      atMs += random.next() < 0.002 ? 60_000 : 1000;
    }
    const spans = spansOf({ minutes: [], seconds }, 50);
    const gaps = seconds.filter(
      ({ atMs: at }, index) => index > 0 && at - (seconds[index - 1]?.atMs ?? 0) > 1000,
    );
    assert.ok(spans.length <= 100 + 2 * gaps.length, `seed ${seed}: ${spans.length} spans`);
    const kept = sum(spans.map(({ meanBps, lengthMs }) => (meanBps * lengthMs) / 1000));
    assert.ok(Math.abs(kept - sum(seconds.map(({ bytes }) => bytes))) < 1, `seed ${seed}: bytes`);
    const most = Math.max(...seconds.map(({ bytes }) => bytes));
    assert.equal(Math.max(...spans.map(({ mostBps }) => mostBps)), most, `seed ${seed}`);
  }
});
