import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryRegistry, MemoryTable } from "../../lab/sim-registry.ts";
import { SimClock } from "../../lab/sim-clock.ts";
import type { Kept } from "../leader.ts";
import { emptyDivision } from "../ownership.ts";
import { CrawlRecord } from "./crawl-record.ts";
import { DIVISION } from "./spec.ts";

const CHANGE = { id: "a", key: "limit", value: "1MB/s", number: 4, message: "at most 1 MB/s" };
const EMPTY = emptyDivision({ bucketCount: 8 });
const KEPT: Kept = {
  division: { ...EMPTY, epoch: 5, members: new Set(["a"]) },
  changes: [CHANGE],
  begunAtMs: 1_234,
  isResumed: false,
};
const FRESH = { begunAtMs: undefined, isResumed: false, over: undefined, isFirst: false };

function recordOf(
  table: MemoryTable,
  term: number,
  other: {
    readonly spec?: string;
    readonly hasTakenPart?: boolean;
    readonly known?: typeof EMPTY;
  } = {},
): CrawlRecord {
  return new CrawlRecord({
    clock: new SimClock(),
    registry: new MemoryRegistry(table),
    term,
    spec: "crawl",
    known: EMPTY,
    knownChanges: [],
    hasTakenPart: true,
    isBeginning: false,
    isLeading: () => true,
    ...other,
  });
}

test("a later leader continues with what was kept, and the earlier one cannot write any more", async () => {
  const table = new MemoryTable();
  const first = recordOf(table, 1);
  assert.equal(await first.write(KEPT, undefined), true);
  const division = { ...KEPT.division, epoch: 6 };
  assert.deepEqual(await recordOf(table, 2).takeUp(), { ...FRESH, ...KEPT, division });
  assert.equal(await first.write(KEPT, undefined), false);
});

test("a leader that knows a later division than the record continues with its own", async () => {
  const table = new MemoryTable();
  await recordOf(table, 1).write(KEPT, undefined);
  const known = { ...EMPTY, epoch: 9, members: new Set(["a", "b"]) };
  const start = await recordOf(table, 2, { known }).takeUp();
  assert.deepEqual(start?.division, { ...known, epoch: 10 });
});

test("a crawl that was stopped goes on for a node that begins it again, a finished one has ended", async () => {
  const table = new MemoryTable();
  const over = { how: "stop", why: "Ctrl-C" } as const;
  await recordOf(table, 1).write(KEPT, over);
  const lookOn = await recordOf(table, 2).takeUp();
  assert.deepEqual([lookOn?.over, lookOn?.changes], [over, [CHANGE]]);
  const again = await recordOf(table, 3, { hasTakenPart: false }).takeUp();
  assert.deepEqual([again?.over, again?.isResumed, again?.changes], [undefined, true, []]);
  assert.equal(again?.begunAtMs, undefined);
  await recordOf(table, 3).write(KEPT, { how: "finish", why: "" });
  const late = await recordOf(table, 4, { hasTakenPart: false }).takeUp();
  assert.equal(late?.over?.how, "finish");
});

test("the record of another crawl, and one that cannot be read, count as none", async () => {
  const table = new MemoryTable();
  const registry = new MemoryRegistry(table);
  const none = { ...FRESH, division: EMPTY, changes: [] };
  for (const value of [
    "rubbish",
    "null",
    "7",
    '{"spec":"crawl"}',
    '{"spec":"crawl","division":{}}',
  ]) {
    const there = await registry.get(DIVISION);
    await registry.put(DIVISION, value, there?.revision ?? 0);
    assert.deepEqual(await recordOf(table, 1).takeUp(), none);
  }
  assert.deepEqual(await recordOf(table, 1, { spec: "another" }).takeUp(), none);
});
