/** Machines that own topics crawl one simulated web; they die, leave, join and are cut off, and no page is lost. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { judgeCluster } from "../../src/lab/judge-cluster.ts";
import { type ClusterPlan, type ClusterReport, runCluster } from "../../src/lab/run-cluster.ts";
import { worldModel } from "../../src/lab/world-model.ts";
import { encodeModel } from "../../src/topics/model.ts";

const WORLD = {
  siteCount: 10,
  pagesMin: 6,
  pagesMax: 14,
  bytesMedianMax: 2_500,
  bytesMax: 20_000,
  speedBpsMin: 100_000,
};
const PATIENT = { totalTimeoutMs: 3_600_000, idleTimeoutMs: 600_000, firstByteTimeoutMs: 600_000 };
const folder = mkdtempSync(join(tmpdir(), "weir-topics-"));
const topicsModel = join(folder, "web.model");

before(() => writeFileSync(topicsModel, encodeModel(worldModel())));
after(() => rmSync(folder, { recursive: true }));

test("boundary pages that were handed to a machine which dies for good are fetched again", async () => {
  for (let seed = 1; seed <= 6; seed++) {
    const report = await crawl({ seed, nodes: 3, deaths: 1 });
    assert.deepEqual(judgeCluster(report), [], `seed ${seed}`);
    assert.ok(report.lost > 0, `seed ${seed}`);
  }
});

test("a machine that leaves hands over what it was going to fetch", async () => {
  let handedOver = 0;
  for (let seed = 2; seed <= 4; seed++) {
    const report = await crawl({ seed, nodes: 3, leaves: 1 });
    assert.deepEqual(butRepeats(report), [], `seed ${seed}`);
    for (const { totals } of report.books) handedOver += totals.outcomes["moved_away"] ?? 0;
  }
  assert.ok(handedOver > 0);
});

test("whoever joins, is killed or cut off, and whatever the servers forget, no page is lost", async () => {
  for (let seed = 10; seed < 16; seed++) {
    const kinds = { kills: seed % 2, cuts: seed % 3, wipes: seed % 2, joins: 1 };
    assert.deepEqual(butRepeats(await crawl({ seed, nodes: 2, ...kinds })), [], `seed ${seed}`);
  }
});

test("what machines send each other over the line is booked as such", async () => {
  const settings = { natsServers: ["nats://bus.test"], boundary: "page" as const };
  const report = await crawl({ seed: 1, nodes: 2 }, settings);
  assert.deepEqual(judgeCluster(report), []);
  for (const { totals } of report.books) {
    const { exchange = 0, page = 0 } = totals.ledger;
    assert.ok(exchange > 0 && page > 0, JSON.stringify(totals.ledger));
    const booked = Object.values(totals.ledger).reduce((sum, bytes) => sum + bytes, 0);
    assert.equal(booked, totals.bytes);
  }
});

function crawl(
  plan: Partial<ClusterPlan> & { readonly seed: number },
  more: ClusterPlan["settings"] = {},
): Promise<ClusterReport> {
  const settings = {
    ...more,
    ...PATIENT,
    partition: "topic" as const,
    topicsModel,
    nodeTimeoutMs: 8_000,
  };
  return runCluster({ world: WORLD, settings, ...plan });
}

/**
 * Pages stored before a topic changed its owner stay there, and may also be stored by the new
 * owner.
 */
function butRepeats(report: ClusterReport): ReturnType<typeof judgeCluster> {
  return judgeCluster(report).filter(({ rule }) => rule !== "stored-twice");
}
