/** Several machines crawl one simulated web; nodes, leaders and the servers where they meet fail, and all is judged. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Settings } from "../../src/config/schema.ts";
import { clusterFaults } from "../../src/lab/cluster-faults.ts";
import { judgeCluster } from "../../src/lab/judge-cluster.ts";
import { NO_BUS_FAULTS } from "../../src/lab/sim-bus.ts";
import { type ClusterReport, runCluster, type ScriptedEvent } from "../../src/lab/run-cluster.ts";

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

test("under all faults, nothing is lost or repeated, and politeness is kept", async () => {
  // Seeds that once failed: a message sent back to its sender, pages reported as ended and fetched,
  // a leader without knowledge, two nodes that waited for each other.
  const once = [66, 113, 379, 483];
  for (const seed of [...once, ...Array.from({ length: 3 }, (_, index) => 1_001 + index)])
    await clean(seed);
});

test("handed out piece by piece, nothing is lost when nodes leave, fail and take parts from each other", async () => {
  // With the second one, nodes waited for a part that had no owner.
  for (const seed of [3_001, 3_002, 3_010])
    await clean(seed, { coordination: "dynamic", grain: 8 });
});

test("a change made at one node holds for all, is confirmed by all, and survives its leader", async () => {
  const change = (atMs: number, key: string, value: string): ScriptedEvent => {
    return { atMs, who: "other", what: { kind: "change", key, value } };
  };
  const [pausedMs, resumedMs] = [20_000, 120_000];
  const script: ScriptedEvent[] = [
    change(4_000, "delay", "700ms"),
    change(4_100, "pause", "perhaps"),
    change(10_000, "pause", "true"),
    { atMs: 14_000, who: "leader", what: { kind: "kill" } },
    { atMs: 40_000, who: "leader", what: { kind: "cut", forMs: 9_000 } },
    change(resumedMs, "pause", "false"),
  ];
  const bus = { lossShare: 0.1, repeatShare: 0.1, refusalShare: 0.1, delayMsMax: 200 };
  const report = await runCluster({ seed: 5, nodes: 3, world: WORLD, bus, script });
  assert.deepEqual(judgeCluster(report), []);
  assert.ok(report.leaders > 1);
  const answers = report.answers.map(({ key, error = "done" }) => `${key}: ${error}`);
  assert.deepEqual(answers.toSorted(), [
    "delay: done",
    "pause: USAGE",
    "pause: done",
    "pause: done",
  ]);
  const delay = report.answers.find(({ key }) => key === "delay");
  assert.match(delay?.message ?? "", /700 ms .*confirmed by 3 of 3 nodes/);
  const made = new Set(report.made.map(({ node, key }) => `${node} ${key}`));
  assert.deepEqual([...made].toSorted(), ["node-1 delay", "node-2 delay", "node-3 delay"]);
  const startMs = Math.min(...report.log.map((entry) => entry.startMs));
  const paused = report.log.filter(({ startMs: atMs }) => {
    return atMs - startMs > pausedMs && atMs - startMs < resumedMs - 5_000;
  });
  assert.deepEqual(paused, []);
  assert.ok(report.log.some(({ startMs: atMs }) => atMs - startMs > resumedMs));
});

test("a lower limit binds all nodes together", async () => {
  const settings = { limitBps: 20_000 };
  const plan = { seed: 6, nodes: 3, world: WORLD, settings };
  const what = { kind: "change", key: "limit", value: "4KB/s" } as const;
  const fast = await runCluster(plan);
  const slow = await runCluster({ ...plan, script: [{ atMs: 3_000, who: "other", what }] });
  assert.deepEqual(judgeCluster(slow), []);
  const [answer] = slow.answers;
  assert.equal(answer?.error, undefined);
  const bytes = slow.results.reduce((sum, result) => sum + result.bytes, 0);
  // Until it was confirmed, the limit before may have held.
  const confirmedMs = answer?.atMs ?? 0;
  const leastMs = confirmedMs + (1_000 * bytes - settings.limitBps * confirmedMs) / 4_000;
  assert.ok(slow.virtualMs > 0.9 * leastMs && fast.virtualMs < 0.9 * leastMs);
});

test("a change that no leader accepts, or that a node does not confirm, is reported as such", async () => {
  const delay = { kind: "change", key: "delay", value: "700ms" } as const;
  const script: ScriptedEvent[] = [
    { atMs: 5_000, who: "other", what: { kind: "cut", forMs: 30_000 } },
    { atMs: 6_000, who: "other", what: delay },
    { atMs: 6_000, who: "leader", what: delay },
  ];
  const { answers } = await runCluster({ seed: 7, nodes: 2, world: WORLD, script });
  assert.deepEqual(
    answers.map(({ error }) => error),
    ["NOT_APPLIED", "NOT_CONFIRMED"],
  );
  assert.match(answers[1]?.message ?? "", /1 of 2 nodes have not confirmed it .*: node-/);
});

test("10,000 spoilt notes are dropped and counted, and change nothing", async () => {
  const bus = { ...NO_BUS_FAULTS, spoiltCopies: 4 };
  const spoilt: number[] = [];
  for (const seed of [1, 2]) {
    const plan = { seed, nodes: 3, world: WORLD, bus, settings: { limitBps: 50_000 } };
    const report = await runCluster(plan);
    assert.deepEqual(judgeCluster(report), [], `seed ${seed}`);
    assert.ok(report.results.every(({ complete }) => complete));
    assert.equal(report.leaders, 1);
    assert.ok(report.dropped >= 1_000, `${report.dropped} dropped of ${report.spoilt}`);
    spoilt.push(report.spoilt);
  }
  assert.ok(spoilt.reduce((sum, one) => sum + one, 0) >= 10_000, `${spoilt.join(" ")}`);
});

async function clean(seed: number, settings: Partial<Settings> = {}): Promise<ClusterReport> {
  const plan = clusterFaults(seed);
  const report = await runCluster({ ...plan, settings: { ...plan.settings, ...settings } });
  assert.deepEqual(judgeCluster(report), [], `seed ${seed}`);
  return report;
}
