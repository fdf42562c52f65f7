import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryRegistry, MemoryTable } from "../../exchange/registry-memory.ts";
import { SimClock } from "../../lab/sim-clock.ts";
import { emptyDivision } from "../ownership.ts";
import { CrawlRecord, type Kept } from "./crawl-record.ts";
import { DIVISION } from "./spec.ts";

const CHANGE = { id: "a", key: "limit", value: "1MB/s", number: 4, message: "at most 1 MB/s" };
const KEPT: Kept = {
  division: { ...emptyDivision({ bucketCount: 8 }), epoch: 5, members: new Set(["a"]) },
  changes: [CHANGE],
};

function recordOf(table: MemoryTable, term: number, spec = "crawl"): CrawlRecord {
  const registry = new MemoryRegistry(table);
  return new CrawlRecord({ clock: new SimClock(), registry, term, spec, isLeading: () => true });
}

test("a later leader continues with division and changes, and the earlier one cannot write any more", async () => {
  const table = new MemoryTable();
  const first = recordOf(table, 1);
  assert.equal(await first.write(KEPT, undefined), true);
  let seen: Kept | undefined;
  const later = { ...KEPT, division: { ...KEPT.division, epoch: 6 } };
  await recordOf(table, 2).takeUp((before) => {
    seen = before;
    return later;
  });
  assert.deepEqual(seen, KEPT);
  assert.equal(await first.write(KEPT, undefined), false);
});

test("a crawl that was stopped goes on for a node that begins it again, a finished one has ended", async () => {
  const table = new MemoryTable();
  await recordOf(table, 1).write(KEPT, { how: "stop", why: "Ctrl-C" });
  const over = { how: "stop", why: "Ctrl-C" } as const;
  assert.deepEqual(await recordOf(table, 2).howItEnded(false), { over, isResumed: false });
  const resumed = { over: undefined, isResumed: true };
  assert.deepEqual(await recordOf(table, 2).howItEnded(true), resumed);
  const fresh = { over: undefined, isResumed: false };
  assert.deepEqual(await recordOf(table, 3).howItEnded(true), fresh);
});

test("the record of another crawl, and one that cannot be read, count as none", async () => {
  const table = new MemoryTable();
  const registry = new MemoryRegistry(table);
  const seen: unknown[] = [];
  const takeUp = (record: CrawlRecord): Promise<unknown> =>
    record.takeUp((before) => {
      seen.push(before);
      return KEPT;
    });
  for (const value of [
    "rubbish",
    "null",
    "7",
    '{"spec":"crawl"}',
    '{"spec":"crawl","division":{}}',
  ]) {
    const there = await registry.get(DIVISION);
    await registry.put(DIVISION, value, there?.revision ?? 0);
    await takeUp(recordOf(table, 1));
  }
  await takeUp(recordOf(table, 1, "another"));
  assert.deepEqual(seen, Array.from({ length: 6 }));
});
