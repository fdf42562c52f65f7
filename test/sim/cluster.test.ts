/** Several machines crawl one simulated web; nodes, leaders and the servers where they meet fail, and all is judged. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterFaults } from "../../src/lab/cluster-faults.ts";
import { judgeCluster } from "../../src/lab/judge-cluster.ts";
import { type ClusterReport, runCluster } from "../../src/lab/run-cluster.ts";

const WORLD = { siteCount: 6, pagesMax: 20 };

test("two nodes that meet crawl everything once, led by one of them", async () => {
  const report = await runCluster({ seed: 1, nodes: 2, world: WORLD });
  assert.deepEqual(judgeCluster(report), []);
  assert.equal(report.leaders, 1);
  assert.ok(report.results.every(({ pages, complete }) => pages > 0 && complete));
});

test("a node that leaves hands over its part, and one that joins gets one", async () => {
  const report = await runCluster({ seed: 4, nodes: 2, world: WORLD, leaves: 1, joins: 1 });
  assert.deepEqual(judgeCluster(report), []);
  assert.equal(report.results.length, 3);
});

test("what a node that dies for good had collected is collected again", async () => {
  const settings = { nodeTimeoutMs: 8_000 };
  const report = await runCluster({ seed: 2, nodes: 3, world: WORLD, deaths: 1, settings });
  assert.deepEqual(judgeCluster(report), []);
  assert.ok(report.lost > 0);
});

test("whatever goes wrong, nothing is lost, repeated or rude", async () => {
  // Seeds that once failed: a message sent back to its sender, pages reported as ended and fetched,
  // a leader without knowledge, two nodes that waited for each other.
  const once = [66, 113, 379, 483];
  for (const seed of [...once, ...Array.from({ length: 3 }, (_, index) => 1_001 + index)])
    await clean(seed);
});

async function clean(seed: number): Promise<ClusterReport> {
  const report = await runCluster(clusterFaults(seed));
  assert.deepEqual(judgeCluster(report), [], `seed ${seed}`);
  return report;
}
