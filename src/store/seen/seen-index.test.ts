import assert from "node:assert/strict";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import { FingerprintTable } from "../../base/fingerprint-table.ts";
import { SeenIndex } from "./seen-index.ts";
import { DamagedRun, RunBlocks, SeenRun } from "./seen-run.ts";
import { flushTable } from "./seen-merge.ts";
import { StoreThread } from "./store-thread.ts";

test("a fingerprint that was set is found with its id", async (t) => {
  const index = new SeenIndex(placeFor(t, 100), 0, threadFor(t));
  index.set(7, 9, 1);
  index.advance(1);
  assert.equal(index.get(7, 9), 1);
  assert.equal(index.get(9, 7), 0);
  assert.equal(index.coveredTo, 1);
  index.close();
});

test("promise 1: get returns the last id set, across flushes and merges", async (t) => {
  for (let seed = 1; seed <= 3; seed++) {
    const random = randomFrom(seed);
    const index = new SeenIndex(placeFor(t, 300), 0, threadFor(t));
    const model = new Map<string, number>();
    for (let id = 1; id <= 20_000; id++) {
      // Few high halves, so that many are equal and cross block boundaries; some keys repeat.
      const high = below(random, 50);
      const low = below(random, 300);
      index.set(high, low, id);
      model.set(`${high} ${low}`, id);
      index.advance(id);
      if (id % 10 === 0) index.makeRoom();
      if (id % 4_000 === 0) assertAgrees(index, model, `seed ${seed}, id ${id}`);
    }
    assertAgrees(index, model, `seed ${seed}, end`);
    index.close();
  }
});

test("promise 2: reopened, it has everything up to coveredTo and nothing beyond", async (t) => {
  for (let seed = 1; seed <= 3; seed++) {
    const place = placeFor(t, 1_000);
    const keys = hashedKeys(seed, 30_000);
    const first = new SeenIndex(place, 0, threadFor(t));
    fill(first, keys);
    first.close();

    const second = new SeenIndex(place, keys.length, threadFor(t));
    assert.ok(second.coveredTo > 10_000, `seed ${seed}: only ${second.coveredTo}`);
    for (const [at, [high, low]] of keys.entries()) {
      const wanted = at < second.coveredTo ? at + 1 : 0;
      assert.equal(second.get(high, low), wanted, `seed ${seed}, entry ${at + 1}`);
    }
    second.close();

    // The index must not have rows that a power cut removed from the table.
    const third = new SeenIndex(place, 5_000, threadFor(t));
    assert.ok(third.coveredTo <= 5_000);
    third.close();
  }
});

test("a run with any changed byte is detected, at opening or at reading", (t) => {
  const path = join(placeFor(t, 1).folder, "a-1-500.run");
  const table = new FingerprintTable();
  const keys = hashedKeys(1, 500);
  for (const [at, [high, low]] of keys.entries()) table.set(high, low, at + 1);
  flushTable({ kind: "flush", words: table.words, path, from: 1, to: 500 });
  const whole = readFileSync(path);
  const random = randomFrom(2);
  const readAll = (): void => {
    const run = SeenRun.open(path);
    try {
      for (const [at, [high, low]] of keys.entries()) assert.equal(run.get(high, low), at + 1);
      using blocks = RunBlocks.open(path);
      for (let block = 0; block < run.head.fences.length; block++) blocks.read(block);
    } finally {
      run.close();
    }
  };
  readAll();
  for (let change = 0; change < 200; change++) {
    const at = below(random, whole.length);
    const damaged = Uint8Array.from(whole);
    damaged[at] = (damaged[at] ?? 0) ^ (1 << below(random, 8));
    writeFileSync(path, damaged);
    assert.throws(readAll, DamagedRun, `byte ${at}`);
  }
  for (const length of [0, 1, 31, whole.length - 1]) {
    writeFileSync(path, whole);
    truncateSync(path, length);
    assert.throws(readAll, DamagedRun, `cut to ${length}`);
  }
});

test("damage ends the covered range, and the rest can be filled again", async (t) => {
  const place = placeFor(t, 1_000);
  const keys = hashedKeys(4, 9_000);
  const first = new SeenIndex(place, 0, threadFor(t));
  fill(first, keys);
  first.close();
  const oldest = readdirSync(place.folder).find((file) => /-1-\d+\.run$/.test(file)) ?? "";
  const bytes = readFileSync(join(place.folder, oldest));
  bytes[5] = (bytes[5] ?? 0) ^ 1;
  writeFileSync(join(place.folder, oldest), bytes);

  const second = new SeenIndex(place, keys.length, threadFor(t));
  let damage: unknown;
  try {
    for (const [high, low] of keys) second.get(high, low);
  } catch (error) {
    damage = error;
  }
  assert.ok(damage instanceof DamagedRun);
  second.discard(damage);
  const third = new SeenIndex(place, keys.length, threadFor(t));
  assert.equal(third.coveredTo, 0);
  fill(third, keys);
  for (const [at, [high, low]] of keys.entries()) assert.equal(third.get(high, low), at + 1);
  third.close();
});

test("two indexes share a thread, and survive its end", async (t) => {
  const thread = threadFor(t);
  const place = placeFor(t, 500);
  const indexes = ["a", "b"].map((name) => new SeenIndex({ ...place, name }, 0, thread));
  const keys = hashedKeys(5, 20_000);
  for (const end of [5_000, 12_000, 20_000]) {
    for (const index of indexes) fill(index, keys.slice(0, end));
    await thread.close();
  }
  for (const index of indexes) {
    for (const [at, [high, low]] of keys.entries()) assert.equal(index.get(high, low), at + 1);
    index.close();
  }
});

test("a table of any size is sorted, even when a sort key contains only a part of the high half", (t) => {
  for (const slots of [2 ** 10, 2 ** 22]) {
    const path = join(placeFor(t, 1).folder, "a-1-600.run");
    const table = new FingerprintTable(slots);
    const random = randomFrom(slots);
    // High halves that differ only in their last bits, or not at all.
    const keys = Array.from({ length: 600 }, () => [2 ** 31 + below(random, 4), below(random, 99)]);
    for (const [high = 0, low = 0] of keys) table.set(high, low, 1);
    flushTable({ kind: "flush", words: table.words, path, from: 1, to: 600 });
    const run = SeenRun.open(path);
    for (const [high = 0, low = 0] of keys) assert.equal(run.get(high, low), 1, `${slots} slots`);
    run.close();
  }
});

function assertAgrees(index: SeenIndex, model: ReadonlyMap<string, number>, where: string): void {
  for (const [key, id] of model) {
    const [high = 0, low = 0] = key.split(" ").map(Number);
    assert.equal(index.get(high, low), id, `${where}, key ${key}`);
  }
  assert.equal(index.get(51, 1), 0, where);
}

function fill(index: SeenIndex, keys: readonly (readonly [number, number])[]): void {
  for (let at = index.coveredTo; at < keys.length; at++) {
    const [high, low] = keys[at] as readonly [number, number];
    index.set(high, low, at + 1);
    index.advance(at + 1);
    if (at % 100 === 0) index.makeRoom();
  }
}

function hashedKeys(seed: number, count: number): (readonly [number, number])[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => {
    return [below(random, 2 ** 32), below(random, 2 ** 32)] as const;
  });
}

function placeFor(t: TestContext, entriesMax: number) {
  const folder = mkdtempSync(join(tmpdir(), "weir-seen-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return { folder, name: "a", entriesMax };
}

function threadFor(t: TestContext): StoreThread {
  const thread = new StoreThread();
  t.after(() => thread.close());
  return thread;
}
