import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { defaultSettings } from "../config/sources.ts";
import { MemoryRegistry } from "../exchange/registry-memory.ts";
import { worldModel } from "../lab/world-model.ts";
import { encodeModel } from "../topics/model.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { announceSpec, readSpec, specOf } from "./spec.ts";

const SEEDS = ["http://a.test/" as CanonicalUrl];

test("whoever holds another topic model than the crawl's may not take part", async () => {
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
