import assert from "node:assert/strict";
import { test } from "node:test";
import { cappedTask, anyWishes, seeds } from "../capped-task.suite.ts";
import { type Claimant, claimsAt } from "./rates-now.ts";
import { planOptimal } from "../optimum/optimal.ts";
import type { Segment } from "../plan.ts";

/** Stretches of time, each with when it ends and its rate; the first begins at 0. */
function claimant(siteId: number, capBps: number, ...parts: readonly [number, number][]): Claimant {
  const segments: Segment[] = [];
  let fromSeconds = 0;
  for (const [toSeconds, rateBps] of parts) {
    if (rateBps > 0) segments.push({ fromSeconds, toSeconds, rateBps });
    fromSeconds = toSeconds;
  }
  const planned = { segments, finishSeconds: fromSeconds };
  return { siteId, planned, capBps, isSure: true, headStart: 0 };
}

const ALL = { headStart: 0, rateBps: Infinity };
const NOTHING = { headStart: 0, rateBps: 0 };

test("one at its cap, one with the rest and one that waits are an order, until the first is done", () => {
  const sites = [
    claimant(1, Infinity, [1.2, 700]),
    claimant(2, 300, [3, 300]),
    claimant(3, Infinity, [1.2, 0], [3, 700]),
  ];
  const { claims, untilSeconds } = claimsAt(0, sites, 1000);
  assert.equal(untilSeconds, 1.2);
  assert.deepEqual(claims, [
    { siteId: 2, ...ALL },
    { siteId: 1, ...ALL, isRest: true },
    { siteId: 3, ...NOTHING },
  ]);
});

test("who should have been done by now goes first, then those whose turn it is", () => {
  const sites = [
    claimant(1, Infinity, [1.2, 1000]),
    claimant(2, Infinity, [1.2, 0], [3, 1000]),
    claimant(3, Infinity, [3, 0], [4, 1000]),
  ];
  const { claims, untilSeconds } = claimsAt(1.2, sites, 1000);
  assert.equal(untilSeconds, 3);
  assert.deepEqual(claims, [
    { siteId: 1, ...ALL },
    { siteId: 2, ...ALL },
    { siteId: 3, ...NOTHING },
  ]);
});

test("a site that has only a moment to go is not left behind, however small its mean is", () => {
  const sites = [claimant(1, 300, [5, 300]), claimant(2, 300, [0.03, 300])];
  const { claims } = claimsAt(0, sites, 1000);
  assert.deepEqual(claims, [
    { siteId: 2, ...ALL },
    { siteId: 1, ...ALL },
  ]);
});

test("where what a server gives is not well known all have parts", () => {
  const sites = [{ ...claimant(1, 300, [3, 300]), isSure: false }, claimant(2, Infinity, [3, 700])];
  const { claims } = claimsAt(0, sites, 1000);
  assert.deepEqual(claims, [
    { siteId: 1, headStart: 0, rateBps: 390 },
    { siteId: 2, headStart: 0, rateBps: 700 },
  ]);
});

test("promise: at every moment claims go by the plan's rates, those without one last", () => {
  for (const seed of seeds(40)) {
    const task = cappedTask(seed, anyWishes(seed, 8));
    const { plan, order } = planOptimal(task, "min-sum");
    const sites = order.map((index): Claimant => ({
      siteId: index,
      planned: plan.sites[index] as Claimant["planned"],
      capBps: task.sites[index]?.capBps ?? 0,
      isSure: true,
      headStart: 0,
    }));
    const rateAt = (index: number, atSeconds: number) =>
      plan.sites[index]?.segments.find(
        ({ fromSeconds, toSeconds }) => fromSeconds <= atSeconds && atSeconds < toSeconds,
      )?.rateBps ?? 0;
    for (let atSeconds = 0; atSeconds < Infinity;) {
      const { claims, untilSeconds } = claimsAt(atSeconds, sites, task.rateBps);
      assert.ok(untilSeconds > atSeconds);
      assert.equal(claims.length, sites.length);
      const isGiven = claims.map(({ rateBps }) => rateBps > 0);
      assert.deepEqual(isGiven, isGiven.toSorted().toReversed(), `seed ${seed}`);
      for (const { siteId, rateBps } of claims)
        if (rateAt(siteId, atSeconds) > 0)
          assert.ok(rateBps > 0, `seed ${seed}: ${siteId} at ${atSeconds}`);
      atSeconds = untilSeconds;
    }
  }
});
