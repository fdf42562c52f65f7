import assert from "node:assert/strict";
import { test } from "node:test";
import { crawlContents } from "../topics-crawl-sim.ts";
import type { GraphWeb } from "../graph-web.ts";
import type { Experiment, Row } from "./experiment.ts";
import { topicsCrawlLocality } from "./topics-crawl-locality.ts";
import { topicsDistribution } from "./topics-distribution.ts";
import { topicsOverlap } from "./topics-overlap.ts";
import { topicsRank } from "./topics-rank.ts";

const SMALL = { seed: 1, runs: 1, pages: 6_000 };
process.env["WEIR_DATA"] = "/nowhere/at/all";

async function rowsOf({ run }: Experiment): Promise<readonly Row[]> {
  const { rows, plots } = await run(SMALL);
  for (const { name, lines } of plots)
    for (const line of lines) assert.ok(line.points.length > 0, `${name}: ${line.name} is empty`);
  return rows;
}

/** Whether a row summarizes all processes of the synthetic web. */
function isWhole(row: Row): boolean {
  return ["all", "mean", "overlap"].includes(String(row["process"] ?? row["processes"]));
}

/** Page n links to the next one; the last links nowhere. */
function chain(pageCount: number): GraphWeb {
  const offsets = Uint32Array.from({ length: pageCount + 1 }, (_, n) => Math.min(n, pageCount - 1));
  const targets = Uint32Array.from({ length: pageCount - 1 }, (_, n) => n + 1);
  const none = new Uint32Array(pageCount);
  return { name: "chain", pageCount, offsets, targets, urls: [], high: none, low: none };
}

test("in a chain of pages with alternating owners, each owner fetches the next page and hands it over", () => {
  const done = crawlContents({
    graph: chain(4),
    bytes: Uint32Array.of(1, 10, 100, 1000),
    owners: Uint8Array.of(0, 1, 0, 1),
    procs: 2,
    batchPages: 1,
    seeds: [[0], []],
  });
  // Process 0 fetches pages 0 and 1; process 1 receives page 1 and fetches page 2; process 0 receives it
  // and fetches page 3.
  assert.deepEqual([...done.ownBytes], [1, 0]);
  assert.deepEqual([...done.importedBytes], [100, 1010]);
  assert.deepEqual([...done.exportedBytes], [1010, 100]);
  assert.deepEqual([...done.fetchedBy], [1, 1, 1, 1]);
  assert.equal(done.pages, 4);
});

test("two processes with the same seed both fetch it, and only one stores it", () => {
  const done = crawlContents({
    graph: chain(2),
    bytes: Uint32Array.of(1, 10),
    owners: Uint8Array.of(0, 0),
    procs: 2,
    batchPages: 100,
    seeds: [[0], [0]],
  });
  assert.deepEqual([...done.fetchedBy], [2, 1]);
  assert.deepEqual([...done.ownBytes, ...done.importedBytes], [11, 0, 0, 0]);
  assert.equal(done.downloads - done.pages, 1);
});

test("partition by topic hands over less than by hash, and both store all pages", async () => {
  const rows = await rowsOf(topicsDistribution);
  const all = rows.find(isWhole) as Row;
  assert.ok(Number(all["exportedPercent"]) < Number(all["exportedByHashPercent"]) - 20);
  const stored = Number(all["ownMB"]) + Number(all["importedMB"]);
  assert.ok(Math.abs(stored - Number(all["ownByHashMB"]) - Number(all["importedByHashMB"])) < 2);
});

test("links stay within topics, but not within hashes", async () => {
  const all = (await rowsOf(topicsCrawlLocality)).find(isWhole) as Row;
  assert.ok(Number(all["timesHash"]) >= 7, `${all["timesHash"]} times`);
  assert.ok(Math.abs(Number(all["byHashPercent"]) - 6.25) < 1.5);
  assert.ok(Number(all["poorPercent"]) < Number(all["byTopicPercent"]));
});

test("fewer pages are fetched by several processes by topic than by hash", async () => {
  const overlap = (await rowsOf(topicsOverlap)).find(isWhole) as Row;
  assert.ok(Number(overlap["pagesByTopic"]) < Number(overlap["pagesByHash"]) / 2);
});

test("local PageRank agrees better with global PageRank by topic than by hash", async () => {
  const rows = await rowsOf(topicsRank);
  assert.ok(Number(rows.find(isWhole)?.["moreByTopic"]) > 0.1);
});
