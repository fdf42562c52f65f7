import assert from "node:assert/strict";
import { test } from "node:test";
import { overWorlds, rateFigures } from "./rate-figures.ts";

test("a line exactly at the limit is full, even and never above it", () => {
  const figures = rateFigures(
    tenths(100, () => 100),
    1_000,
  );
  assert.deepEqual(figures, {
    meanBps: 1_000,
    fill: 1,
    deviation: 0,
    worst: 1,
    above: 0,
    above105: 0,
  });
});

test("a peak appears in every second that contains it", () => {
  const figures = rateFigures(
    tenths(109, (tenth) => (tenth === 50 ? 200 : 100)),
    1_000,
  );
  assert.equal(figures.worst, 1.1);
  assert.deepEqual([figures.above, figures.above105], [0.1, 0.1]);
  assert.ok(Math.abs(figures.deviation - 0.03) < 1e-9, String(figures.deviation));
});

test("figures of several worlds are means, except the worst second, which is the maximum", () => {
  const calm = rateFigures(
    tenths(20, () => 50),
    1_000,
  );
  const wild = rateFigures(
    tenths(20, (tenth) => (tenth % 10 === 0 ? 1_500 : 0)),
    1_000,
  );
  const { fill, worst, above } = overWorlds([calm, wild]);
  assert.deepEqual([fill, worst, above], [1, 1.5, 0.5]);
});

function tenths(count: number, bytesIn: (tenth: number) => number): number[] {
  return Array.from({ length: count }, (_, tenth) => bytesIn(tenth));
}
