import assert from "node:assert/strict";
import { test } from "node:test";
import { BrokenPromise } from "../../base/assert.ts";
import { NO_TOTALS } from "../store.ts";
import { MemoryDisk, openMemoryStore } from "./store-memory.ts";
import { emptyBatch, makeSite, makeUrl, storeSuite } from "../store.suite.ts";

storeSuite("memory, closed", () => {
  const disk = new MemoryDisk();
  return { open: () => openMemoryStore(disk), end: (store) => store.close() };
});

storeSuite("memory, crashed", () => {
  const disk = new MemoryDisk();
  return {
    open: () => openMemoryStore(disk),
    async end() {
      disk.crash();
    },
  };
});

test("after a crash the old handle is invalid and a new one has the last commit", () => {
  const disk = new MemoryDisk();
  const before = openMemoryStore(disk);
  before.commit({
    ...emptyBatch(),
    sites: [makeSite(1)],
    urls: [makeUrl(1, 1, 0)],
    totals: { ...NO_TOTALS, known: 1 },
  });
  disk.crash();
  assert.throws(() => before.commit(emptyBatch()), BrokenPromise);
  assert.equal(openMemoryStore(disk).url(1)?.siteId, 1);
});
