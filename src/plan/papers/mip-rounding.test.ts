import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import { roundedIntervals } from "./mip-rounding.ts";
import { columnsOf, type MipModel } from "./mip.ts";

test("whole sites stay, and a divided one goes where there is room", () => {
  const model = modelOf(2, 2, [
    [0.6, 2],
    [0.5, 2],
    [0.4, 2],
  ]);
  assert.deepEqual(roundedIntervals(model, [1, 0, 0, 1, 0.5, 0.5]), [0, 1, 0]);
});

test("a site with a deadline takes the room of one that can wait", () => {
  const model = modelOf(2, 2, [
    [0.6, 2],
    [0.5, 1],
  ]);
  assert.deepEqual(roundedIntervals(model, [1, 0, 0.7]), [1, 0]);
});

test("room that is left in two intervals is gathered in one by an exchange", () => {
  // 0.1 is free in each of the first two; with 0.5 and 0.4 exchanged the last site fits.
  const model = modelOf(3, 9, [
    [0.5, 3],
    [0.4, 3],
    [0.4, 3],
    [0.5, 3],
    [0.2, 3],
  ]);
  const relaxed = [1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1];
  const intervalOf = roundedIntervals(model, relaxed) ?? [];
  assert.equal(sumOf(intervalOf), 2);
  assertKept(model, intervalOf, "by hand");
});

test("where there is no room for all, it says so", () => {
  const sites = [
    [0.6, 1],
    [0.5, 1],
  ] as const;
  assert.equal(roundedIntervals(modelOf(2, 2, sites), [0, 0]), undefined);
});

test("places, bytes and deadlines are kept whatever is rounded", () => {
  let found = 0;
  for (let seed = 1; seed <= 600; seed++) {
    const random = randomFrom(seed);
    const intervals = 2 + below(random, 8);
    const sites = Array.from({ length: 1 + below(random, 4 * intervals) }, () => {
      const usable = random.next() < 0.5 ? intervals : 1 + below(random, intervals);
      return [0.01 + 0.4 * random.next(), usable] as const;
    });
    const model = modelOf(intervals, 1 + below(random, 6), sites);
    const intervalOf = roundedIntervals(model, new Float64Array(columnsOf(model.sites)));
    if (intervalOf === undefined) continue;
    found++;
    assertKept(model, intervalOf, `seed ${seed}`);
  }
  assert.ok(found > 200 && found < 600, `${found} of 600 had room`);
});

function modelOf(
  intervals: number,
  sitesMax: number,
  sites: readonly (readonly [share: number, usable: number])[],
): MipModel {
  return {
    sites: sites.map(([share, usable], index) => ({ index, share, intervals: usable })),
    intervals,
    sitesMax,
    intervalSeconds: 1,
  };
}

function assertKept(model: MipModel, intervalOf: readonly number[], about: string): void {
  for (const [site, { intervals }] of model.sites.entries()) {
    const interval = intervalOf[site] ?? -1;
    assert.ok(interval >= 0 && interval < intervals, `${about}: site ${site} in ${interval}`);
  }
  for (let interval = 0; interval < model.intervals; interval++) {
    const here = model.sites.filter((_, site) => intervalOf[site] === interval);
    assert.ok(here.length <= model.sitesMax, `${about}: ${here.length} in ${interval}`);
    const share = here.reduce((sum, site) => sum + site.share, 0);
    assert.ok(share <= 1 + 1e-9, `${about}: ${share} of ${interval}`);
  }
}

function sumOf(intervalOf: readonly number[]): number {
  return intervalOf.reduce((sum, interval) => sum + interval, 0);
}
