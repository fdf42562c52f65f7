import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { defaultSettings } from "../../config/sources.ts";
import { MemoryRegistry } from "../../lab/sim-registry.ts";
import { worldModel } from "../../lab/world-model.ts";
import { encodeModel } from "../../topics/model.ts";
import type { CanonicalUrl } from "../../url/url.ts";
import { announceSpec, readSpec, specOf } from "./spec.ts";

const SEEDS = ["http://a.test/" as CanonicalUrl];

test("a node with another topic model than the crawl's may not take part", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-spec-"));
  try {
    const topicsModel = join(folder, "mine.model");
    writeFileSync(topicsModel, encodeModel(worldModel("naive-bayes")));
    const settings = { ...defaultSettings(), partition: "topic" as const, topicsModel };
    const registry = new MemoryRegistry();
    await announceSpec(registry, "crawl", specOf(settings, SEEDS));
    const read = await readSpec(registry, defaultSettings());
    assert.equal(read?.settings.partition, "topic");
    assert.deepEqual(read?.seeds, SEEDS);
    writeFileSync(topicsModel, encodeModel(worldModel("rocchio")));
    await assert.rejects(readSpec(registry, defaultSettings()), { code: "CLUSTER_MISMATCH" });
    const announced = announceSpec(registry, "crawl", specOf(settings, SEEDS));
    await assert.rejects(announced, { code: "CLUSTER_MISMATCH" });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a node that allows fewer private addresses than the crawl does may not take part", async () => {
  const registry = new MemoryRegistry();
  const crawls = ["10.0.0.0/8", "127.0.0.1:8080", "169.254.169.254"];
  const settings = { ...defaultSettings(), allowPrivate: crawls };
  await announceSpec(registry, "crawl", specOf(settings, SEEDS));
  const joins = (allowPrivate: readonly string[]) =>
    readSpec(registry, { ...defaultSettings(), allowPrivate });
  const narrower = [
    [],
    ["10.0.0.0/9", "127.0.0.0/8", "169.254.169.254"],
    ["10.0.0.0/8", "127.0.0.1:8081", "169.254.169.254"],
    // A metadata address is never reached by way of its range.
    ["10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16"],
  ];
  for (const own of narrower)
    await assert.rejects(joins(own), { code: "CLUSTER_MISMATCH", message: /--allow-private / });
  const joined = await joins(["0.0.0.0/0", "169.254.169.254"]);
  assert.deepEqual(joined?.settings.allowPrivate, crawls, "no more than the crawl itself");
});
