/** Orders that change while the crawl goes on: the same pages in the end, kills and all. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { runSim } from "../../src/lab/run-sim.ts";

const WORLD = { siteCount: 6, pagesMax: 60 };

test("a crawl by rank or by links ends with the same pages as one by depth, killed or not", async () => {
  for (let seed = 1; seed <= 6; seed++) {
    const plan = { seed, world: WORLD, crashes: seed % 3 };
    const byDepth = await runSim({ ...plan, settings: { order: "breadth" } });
    for (const order of ["pagerank", "backlinks"] as const) {
      const report = await runSim({ ...plan, settings: { order } });
      assert.deepEqual(report.violations, [], `seed ${seed}, ${order}`);
      assert.equal(report.totals.pages, byDepth.totals.pages, `seed ${seed}, ${order}`);
    }
  }
});

test("a crawl by rank asks for pages in another order than one by depth", async () => {
  const [byRank, byDepth] = [
    await runSim({ seed: 3, world: WORLD, settings: { order: "pagerank" } }),
    await runSim({ seed: 3, world: WORLD, settings: { order: "breadth" } }),
  ];
  const asked = ({ log }: typeof byRank): string[] => log.map(({ site, path }) => site + path);
  assert.notDeepEqual(asked(byRank), asked(byDepth));
});
