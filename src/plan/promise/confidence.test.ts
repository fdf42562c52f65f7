import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import {
  finishBands,
  heldFinishes,
  orderedFinishes,
  replansFor,
  replaysFor,
  type Server,
} from "./confidence.ts";
import type { PlanTask, SiteTask } from "../plan.ts";

function site(key: string, bytes: number, capBps: number): SiteTask {
  return { key, bytes, capBps, deadlineSeconds: undefined, weight: 1 };
}

function taskOf(...sites: SiteTask[]): PlanTask {
  return { sites, rateBps: 1000, sitesMax: Infinity, rateMinBps: 0, startupSeconds: 0 };
}

/** The servers of the task's sites, which nothing but their rate holds. */
function serversOf({ sites }: PlanTask, ...strayed: (Server["strayed"] | undefined)[]): Server[] {
  return sites.map(({ capBps }, index) => ({
    bps: capBps,
    strayed: strayed[index],
    permittedBps: Infinity,
  }));
}

/** Every site alone on the line. */
function alone({ sites, rateBps }: PlanTask): number[] {
  return sites.map(({ bytes, capBps }) => bytes / Math.min(capBps, rateBps));
}

test("a site whose server scatters by σ is done between exp(−1.645σ) and exp(1.645σ) of its time", () => {
  const sigma = 0.5;
  const scatter = sigma * Math.sqrt(2 / Math.PI);
  const options = { runs: 20_000, random: randomFrom(1), finishes: alone };
  const strayed = { mean: scatter, most: 10 };
  const task = taskOf(site("a", 1000, 10));
  const [band] = finishBands(task, serversOf(task, strayed), options);
  const { p5Seconds = 0, p95Seconds = 0 } = band ?? {};
  assert.ok(Math.abs(Math.log(p5Seconds / 100) + 1.645 * sigma) < 0.03, `${p5Seconds}`);
  assert.ok(Math.abs(Math.log(p95Seconds / 100) - 1.645 * sigma) < 0.03, `${p95Seconds}`);
});

test("no band reaches beyond the farthest that the server was ever seen to stray", () => {
  const strayed = { mean: 4, most: Math.log(3) };
  const options = { runs: 200, random: randomFrom(3), finishes: alone };
  const task = taskOf(site("a", 1000, 10));
  const [band] = finishBands(task, serversOf(task, strayed), options);
  const { p5Seconds = 0, p95Seconds = 0 } = band ?? {};
  assert.ok(Math.abs(p5Seconds - 100 / 3) < 0.01 && Math.abs(p95Seconds - 300) < 0.01);
});

test("delays and limits do not scatter: no band begins before they permit", () => {
  const options = { runs: 200, random: randomFrom(4), finishes: alone };
  const strayed = { mean: 0.5, most: 2 };
  const task = taskOf(site("a", 1000, 10), site("b", 1000, 10));
  // One server could give fifty times as much, the other just as much.
  const [held, equal] = finishBands(
    task,
    [500, 10].map((bps) => ({ bps, strayed, permittedBps: 10 })),
    options,
  );
  assert.deepEqual(held, { p5Seconds: 100, p95Seconds: 100 });
  assert.equal(equal?.p5Seconds, 100);
  assert.ok((equal?.p95Seconds ?? 0) > 200);
});

test("without scatter, or without a cap, a band has no width", () => {
  const task = taskOf(site("a", 1000, 10), site("b", 500, Infinity));
  const options = { runs: 50, random: randomFrom(2), finishes: alone };
  for (const scatters of [
    [undefined, undefined],
    [
      { mean: 0, most: 0 },
      { mean: 0.7, most: 2 },
    ],
  ])
    assert.deepEqual(finishBands(task, serversOf(task, ...scatters), options), [
      { p5Seconds: 100, p95Seconds: 100 },
      { p5Seconds: 0.5, p95Seconds: 0.5 },
    ]);
});

test("a band lies about the plan, is the same for the same chance, and grows with the scatter", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomFrom(seed);
    const sites = Array.from({ length: 1 + below(random, 5) }, (_, index) =>
      site(`s${index}`, 1 + below(random, 1e6), 1 + below(random, 500)),
    );
    const task = taskOf(...sites);
    const bandsWith = (mean: number): ReturnType<typeof finishBands> =>
      finishBands(task, serversOf(task, ...sites.map(() => ({ mean, most: 10 }))), {
        runs: 200,
        random: randomFrom(seed),
        finishes: alone,
      });
    const [little, much] = [bandsWith(0.05), bandsWith(0.3)];
    assert.deepEqual(bandsWith(0.05), little, `seed ${seed}`);
    for (const [index, narrow] of little.entries()) {
      const planned = alone(task)[index] as number;
      assert.ok(
        narrow.p5Seconds < planned && planned < narrow.p95Seconds,
        `seed ${seed}, site ${index}`,
      );
      const wide = much[index] as typeof narrow;
      assert.ok(
        wide.p5Seconds < narrow.p5Seconds && wide.p95Seconds > narrow.p95Seconds,
        `seed ${seed}, site ${index}`,
      );
    }
  }
});

test("constant rates held back by a slow server end late, and by a fast one no earlier", () => {
  const segments = [
    { fromSeconds: 0, toSeconds: 10, rateBps: 10 },
    { fromSeconds: 20, toSeconds: 30, rateBps: 20 },
  ];
  const plan = { sites: [{ key: "a", segments, finishSeconds: 30 }] };
  assert.deepEqual(heldFinishes(plan, taskOf(site("a", 300, 500))), [30]);
  // 100 by 10 s, 100 more by 30 s, and the last 100 at 10 a second.
  assert.deepEqual(heldFinishes(plan, taskOf(site("a", 300, 10))), [40]);
});

test("in a plan's order a slow server is late, and lets nobody else be late who could go on", () => {
  const task = taskOf(site("a", 5000, 500), site("b", 10_000, Infinity));
  const segments: never[] = [];
  const sites = [
    { key: "a", segments, finishSeconds: 10 },
    { key: "b", segments, finishSeconds: 15 },
  ];
  const planned = { plan: { sites }, order: [0, 1], task };
  assert.deepEqual(orderedFinishes(planned, task), [10, 15]);
  const slow = taskOf(site("a", 5000, 250), site("b", 10_000, Infinity));
  // 750 a second for b while a takes 20 s; before it was 500 for 10 s and then all.
  assert.deepEqual(orderedFinishes(planned, slow), [20, 10_000 / 750]);
});

test("many sites are tried fewer times", () => {
  assert.deepEqual([0, 6, 60, 300, 301].map(replansFor), [200, 200, 100, 20, undefined]);
  assert.deepEqual([0, 10_000, 50_000, 1e6].map(replaysFor), [200, 200, 40, 20]);
});
