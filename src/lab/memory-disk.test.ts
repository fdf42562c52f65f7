import assert from "node:assert/strict";
import { test } from "node:test";
import { BrokenPromise } from "../base/assert.ts";
import { randomFrom } from "../base/random.ts";
import { NO_TOTALS, type Batch } from "../store/store.ts";
import { emptyBatch, makeSite, makeUrl, storeSuite } from "../store/store.suite.ts";
import { MemoryDisk, SimulatedCrash, type StoreFaults } from "./memory-disk.ts";

storeSuite("rows in memory, closed", () => {
  const disk = new MemoryDisk();
  return { open: () => disk.open(), end: (store) => store.close() };
});

storeSuite("rows in memory, killed", () => {
  const disk = new MemoryDisk();
  return {
    open: () => disk.open(),
    async end() {
      disk.crash();
    },
  };
});

storeSuite("simulated", () => {
  const disk = new MemoryDisk();
  return { open: () => disk.openWith(faultsOf(1)), end: (store) => store.close() };
});

test("a kill at a commit stores all of it or nothing, and nothing afterwards", () => {
  const left = new Set<number>();
  for (let seed = 1; seed <= 20; seed++) {
    const disk = new MemoryDisk();
    let crashes = 0;
    const onCrash = (): number => crashes++;
    const store = disk.openWith({ ...faultsOf(seed), crashAtCommit: 2, onCrash });
    store.commit(batchOf(1));
    assert.throws(() => store.commit(batchOf(2)), SimulatedCrash, `seed ${seed}`);
    assert.throws(() => store.commit(batchOf(2)), BrokenPromise, `seed ${seed}`);
    assert.equal(crashes, 1, `seed ${seed}`);
    const reopened = disk.openWith(faultsOf(seed));
    assert.equal(reopened.totals.known, reopened.nextUrlId - 1, `seed ${seed}`);
    left.add(reopened.totals.known);
  }
  assert.deepEqual([...left].sort(), [1, 2]);
});

test("a full disk refuses a whole commit, and accepts it later", () => {
  const store = new MemoryDisk().openWith({ ...faultsOf(3), fullShare: 0.5 });
  let refusals = 0;
  for (let id = 1; id <= 50;) {
    try {
      store.commit(batchOf(id));
      id++;
    } catch (error) {
      assert.equal((error as { code?: string }).code, "DISK_FULL");
      assert.equal(store.totals.known, id - 1);
      refusals++;
    }
  }
  assert.ok(refusals > 10, `${refusals} refusals`);
  assert.equal(store.totals.known, 50);
});

function faultsOf(seed: number): StoreFaults {
  const random = randomFrom(seed);
  return { random, crashAtCommit: undefined, fullShare: 0, onCrash: unwantedCrash };
}

function unwantedCrash(): void {
  assert.fail("unexpected crash");
}

function batchOf(id: number): Batch {
  const sites = id === 1 ? [makeSite(1)] : [];
  const totals = { ...NO_TOTALS, known: id };
  return { ...emptyBatch(), sites, urls: [makeUrl(id, 1, 0)], totals };
}
