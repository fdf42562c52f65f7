/** Focused crawls of one simulated web: more of what is looked for, with little memory as with much, and nothing lost. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { topicSetupFor } from "../../src/crawl/topics/setup.ts";
import { runSim, type SimPlan, type SimReport } from "../../src/lab/run-sim.ts";
import { siteNamed } from "../../src/lab/world.ts";
import { worldModel } from "../../src/lab/world-model.ts";
import { pageUnder, topicOf } from "../../src/lab/world/page.ts";
import { makeWorld } from "../../src/lab/world/plan.ts";
import { TOPICS } from "../../src/lab/world/vocabulary.ts";

const WORLD = {
  siteCount: 320,
  pagesMin: 4,
  pagesMax: 60,
  bytesMedianMax: 2_500,
  bytesMax: 20_000,
  crawlDelayShare: 0,
};
const ARTS = { order: "topic", topic: "arts", scope: "any" } as const;

function planted(seedsMax: number): SimPlan["plant"] {
  return (parts) => ({
    ...parts,
    seeds: parts.seeds.slice(0, seedsMax),
    topics: topicSetupFor(parts.settings, worldModel()),
  });
}

test("with room for few sites at a time, better ones take their places, and more is on topic", async () => {
  for (let seed = 1; seed <= 3; seed++) {
    const few = { memoryBytes: 1, connectionsMax: 4, pagesMax: 600 };
    const plan = { seed, world: WORLD, plant: planted(16) };
    const focused = await runSim({ ...plan, settings: { ...few, ...ARTS } });
    const breadth = await runSim({ ...plan, settings: { ...few, scope: "any" } });
    const [more, less] = [onTopic(seed, focused), onTopic(seed, breadth)];
    assert.ok(more > 1.5 * less, `seed ${seed}: ${more} and ${less} pages`);
  }
});

test("a focused crawl ends with the pages of any other, killed or not", async () => {
  const world = { ...WORLD, siteCount: 20, pagesMax: 20 };
  for (let seed = 1; seed <= 4; seed++) {
    const plan = { seed, world, plant: planted(20), crashes: seed % 3 };
    const focused = await runSim({ ...plan, settings: ARTS });
    assert.deepEqual(focused.violations, [], `seed ${seed}`);
    const breadth = await runSim({ seed, world });
    assert.equal(focused.totals.pages, breadth.totals.pages, `seed ${seed}`);
  }
});

/** Pages about arts that were fetched, by what they truly are. */
function onTopic(seed: number, { log }: SimReport): number {
  const world = makeWorld({ seed, ...WORLD });
  const arts = TOPICS.findIndex(({ name }) => name === "arts");
  return log.filter(({ site: origin, path, status }) => {
    const site = siteNamed(world, origin.replace("http://", ""));
    const page = site === undefined ? undefined : pageUnder(world, site, path);
    if (site === undefined || page === undefined || status !== 200) return false;
    return topicOf(world, site, page.of) === arts;
  }).length;
}
