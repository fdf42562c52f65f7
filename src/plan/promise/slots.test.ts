import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import { planFirst } from "./first-plan.ts";
import type { PlanTask } from "../plan.ts";
import { type Politeness, slotsOf, withSlots, withSlotsInTurn } from "./slots.ts";

const SITE: Politeness = {
  requests: 42,
  delaySeconds: 1,
  address: "a",
  addressDelaySeconds: 0,
  deadlineSeconds: undefined,
};

function secondsOf(...sites: readonly Partial<Politeness>[]): number[] {
  return slotsOf(sites.map((site) => ({ ...SITE, ...site }))).map(({ seconds }) => seconds);
}

test("a site needs its requests times its delay, whatever the others of its address need", () => {
  assert.deepEqual(secondsOf({}, { requests: 10 }), [42, 10]);
  assert.deepEqual(secondsOf({ delaySeconds: 0 }), [0]);
});

test("an address serves its sites one after the other, those with a deadline before it", () => {
  const shared = { delaySeconds: 0, addressDelaySeconds: 0.5, requests: 20 };
  const due = (deadlineSeconds: number | undefined) => ({ ...shared, deadlineSeconds });
  assert.deepEqual(secondsOf(due(undefined), due(22), due(11)), [30, 20, 10]);
  assert.deepEqual(secondsOf(due(undefined), { ...due(30), address: "b" }), [10, 10]);
  assert.deepEqual(secondsOf(shared, { ...shared, requests: 4 }), [12, 2], "the fewest first");
  const slow = { delaySeconds: 1, addressDelaySeconds: 0.5, requests: 20 };
  assert.deepEqual(secondsOf(slow, slow), [20, 20], "the address has time for both");
});

test("a site with a long delay has its slots at once where it would be late otherwise", () => {
  const shared = { addressDelaySeconds: 0.25, address: "a" };
  const sites = [
    { ...SITE, ...shared, requests: 40, delaySeconds: 0.25, deadlineSeconds: 20 },
    { ...SITE, ...shared, requests: 60, delaySeconds: 0.5, deadlineSeconds: 32 },
  ];
  const [short, long] = slotsOf(sites);
  assert.ok((short?.seconds ?? 0) <= 20 && (long?.seconds ?? 0) <= 32);
  assert.ok((short?.seconds ?? 0) > 15, `${short?.seconds}: it cannot have every slot first`);
});

test("a deadline that cannot be kept delays no other site of its address", () => {
  const shared = { delaySeconds: 0, addressDelaySeconds: 1, requests: 10 };
  const late = { ...shared, requests: 50, deadlineSeconds: 20 };
  const kept = [15, 25].map((deadlineSeconds) => ({ ...shared, deadlineSeconds }));
  assert.deepEqual(secondsOf(...kept, late), [10, 20, 70]);
});

test("in random plans each site ends after its slots, and each address after those of all its sites", () => {
  const random = randomFrom(7);
  for (let round = 0; round < 200; round++) {
    const sites = Array.from({ length: 1 + below(random, 8) }, (): Politeness => ({
      requests: 1 + below(random, 100),
      delaySeconds: below(random, 3) / 2,
      address: `${below(random, 3)}`,
      addressDelaySeconds: 0.25,
      deadlineSeconds: random.next() < 0.5 ? undefined : 1 + 100 * random.next(),
    }));
    const slots = slotsOf(sites);
    const task: PlanTask = {
      sites: sites.map(({ deadlineSeconds }, index) =>
        withSlots(
          {
            key: `${index}`,
            bytes: 1 + 1e6 * random.next(),
            deadlineSeconds,
            capBps: 1e5,
            weight: 1,
          },
          slots[index] as (typeof slots)[number],
        ),
      ),
      rateBps: 2e5,
      sitesMax: Infinity,
      rateMinBps: 0,
      startupSeconds: 0,
    };
    const { plan } = planFirst(task, { share: 0.05, tailSeconds: 0.8 }, "min-sum");
    const ends = plan.sites.map(({ finishSeconds }) => finishSeconds * (1 + 1e-6));
    for (const [index, { requests, delaySeconds, address }] of sites.entries()) {
      assert.ok((ends[index] ?? 0) >= requests * delaySeconds);
      const group = [...sites.keys()].filter((each) => sites[each]?.address === address);
      const sharedSeconds = group.reduce((sum, each) => sum + (sites[each]?.requests ?? 0) / 4, 0);
      assert.ok(Math.max(...group.map((each) => ends[each] ?? 0)) >= sharedSeconds);
    }
  }
});

test("in any order the sites of an address come in their turn, and the others stay", () => {
  const shared = { ...SITE, addressDelaySeconds: 1 };
  const slots = slotsOf([
    { ...shared, deadlineSeconds: 90 },
    { ...shared, address: "b" },
    { ...shared, deadlineSeconds: 45 },
    { ...SITE, address: "c" },
  ]);
  assert.deepEqual(withSlotsInTurn([0, 1, 2, 3], slots), [2, 1, 0, 3]);
  assert.deepEqual(withSlotsInTurn([3, 2, 0, 1], slots), [3, 2, 0, 1]);
});
