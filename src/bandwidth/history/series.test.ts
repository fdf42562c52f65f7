import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import {
  figuresOf,
  MINUTE_NUMBERS,
  minuteNumbers,
  minutesFrom,
  minutesOf,
  RING_SECONDS,
  type Second,
  SECOND_NUMBERS,
  SecondCutter,
  secondNumbers,
  secondsFrom,
  slotOf,
} from "./series.ts";

const NOON = Date.UTC(2026, 4, 4, 12);

test("readings are cut into one row for each second, each with its own time", () => {
  const cutter = new SecondCutter();
  const rates = { predictedBps: 90, limitBps: 100 };
  const first = cutter.take({ wallMs: NOON + 1040, elapsedMs: 1030, recentBps: [10], ...rates });
  assert.deepEqual(first, [{ atMs: NOON, bytes: 10, ...rates }]);
  assert.deepEqual(
    cutter.take({ wallMs: NOON + 1960, elapsedMs: 1950, recentBps: [10], ...rates }),
    [],
  );
  const both = cutter.take({
    wallMs: NOON + 3030,
    elapsedMs: 3010,
    recentBps: [10, 20, 30],
    ...rates,
  });
  assert.deepEqual(
    both.map(({ atMs, bytes }) => [atMs - NOON, bytes]),
    [
      [1000, 20],
      [2000, 30],
    ],
  );
});

test("a clock that is set moves the seconds that follow, and none before", () => {
  const cutter = new SecondCutter();
  const rest = { predictedBps: 0, limitBps: undefined };
  cutter.take({ wallMs: NOON + 1000, elapsedMs: 1000, recentBps: [1], ...rest });
  const [later] = cutter.take({
    wallMs: NOON + 3_602_000,
    elapsedMs: 2000,
    recentBps: [1, 2],
    ...rest,
  });
  assert.equal(later?.atMs, NOON + 3_601_000);
});

test("a minute tells its sum, its best and its worst second", () => {
  const seconds: Second[] = [4, 1, 9].map((bytes, index) => ({
    atMs: NOON + 58_000 + index * 1000,
    bytes,
    predictedBps: 6,
    limitBps: index === 1 ? 5 : undefined,
  }));
  assert.deepEqual(minutesOf(seconds), [
    {
      atMs: NOON,
      seconds: 2,
      bytes: 5,
      leastBps: 1,
      mostBps: 4,
      predictedBps: 6,
      limitBps: 5,
    },
    {
      atMs: NOON + 60_000,
      seconds: 1,
      bytes: 9,
      leastBps: 9,
      mostBps: 9,
      predictedBps: 6,
      limitBps: undefined,
    },
  ]);
});

test("seconds are judged by the limit they had, and those without one by none", () => {
  const rates = [
    [90, 100],
    [110, 100],
    [500, undefined],
    [0, 0],
  ] as const;
  const figures = figuresOf(
    rates.map(([bytes, limitBps], index) => {
      return { atMs: NOON + index * 1000, bytes, predictedBps: 0, limitBps };
    }),
  );
  assert.deepEqual([figures.seconds, figures.meanBps, figures.worstBps], [4, 175, 500]);
  assert.equal(figures.held?.seconds, 2);
  assert.equal(figures.held?.meanShare, 1);
  assert.equal(figures.held?.deviationShare.toFixed(6), "0.100000");
  assert.equal(figures.held?.secondsOver105, 1);
  assert.equal(figuresOf([]).held, undefined);
});

test("minutes lose no byte, no second and no extreme of their seconds", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const seconds = randomSeconds(seed);
    const minutes = minutesOf(seconds);
    const bytes = seconds.map((second) => second.bytes);
    assert.equal(sum(minutes.map((minute) => minute.bytes)), sum(bytes), `seed ${seed}`);
    assert.equal(sum(minutes.map((minute) => minute.seconds)), bytes.length, `seed ${seed}`);
    assert.equal(Math.max(...minutes.map(({ mostBps }) => mostBps)), Math.max(...bytes));
    assert.equal(Math.min(...minutes.map(({ leastBps }) => leastBps)), Math.min(...bytes));
    const stored = Float64Array.from(minutes.flatMap(minuteNumbers));
    assert.deepEqual(minutesFrom(stored, Infinity), minutes, `seed ${seed}`);
    // A row that was cut off is not read.
    assert.deepEqual(
      minutesFrom(stored.subarray(0, stored.length - 1), Infinity),
      minutes.slice(0, -1),
    );
    assert.equal(stored.length, minutes.length * MINUTE_NUMBERS);
  }
});

test("a ring gives back the last day, in order, and nothing that was torn", () => {
  for (let seed = 1; seed <= 5; seed++) {
    const ring = new Float64Array(RING_SECONDS * SECOND_NUMBERS);
    const seconds = [...randomSeconds(seed, 0.001), ...randomSeconds(seed + 100, 0.2)].toSorted(
      (a, b) => a.atMs - b.atMs,
    );
    for (const second of seconds)
      ring.set(secondNumbers(second), slotOf(second.atMs) * SECOND_NUMBERS);
    const byTime = new Map(seconds.map((second) => [second.atMs, second]));
    const newest = Math.max(...byTime.keys());
    const expected = [...byTime.values()]
      .filter(({ atMs }) => atMs > newest - RING_SECONDS * 1000)
      .toSorted((a, b) => a.atMs - b.atMs);
    assert.deepEqual(secondsFrom(ring, Infinity), expected, `seed ${seed}`);
    const torn = expected[Math.floor(expected.length / 2)] as Second;
    ring[slotOf(torn.atMs) * SECOND_NUMBERS] = torn.atMs + 12_345_678;
    assert.deepEqual(
      secondsFrom(ring, Infinity),
      expected.filter((second) => second !== torn),
      `seed ${seed}`,
    );
  }
});

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Seconds in order, with gaps now and then that may be longer than a day. */
function randomSeconds(seed: number, gapShare = 0.05): Second[] {
  const random = randomFrom(seed);
  let atMs = NOON + below(random, 1e6) * 1000;
  return Array.from({ length: 1 + below(random, 600) }, () => {
    atMs += 1000 * (random.next() < gapShare ? 1 + below(random, 5000) : 1);
    const bytes = below(random, 2e6);
    const limitBps = random.next() < 0.5 ? 1e6 : undefined;
    return { atMs, bytes, predictedBps: below(random, 2e6), limitBps };
  });
}
