import assert from "node:assert/strict";
import { test } from "node:test";
import { DESCRIPTORS_PER_QUESTION } from "./dns-question.ts";
import { DESCRIPTORS_LEAST, socketBudget } from "./socket-budget.ts";

const WANTED = { connectionsMax: 200, lanesMax: 400, lookupsMax: 64 };

test("descriptors are divided among files, connections and DNS questions", () => {
  assert.equal(DESCRIPTORS_LEAST, 22);
  for (const [free, connectionsMax, lanesMax, lookupsMax] of [
    [DESCRIPTORS_LEAST, 1, 1, 1],
    [42, 7, 7, 1],
    [78, 26, 26, 1],
    [234, 142, 142, 11],
    [1000, 200, 400, 59],
    [2000, 200, 400, 64],
  ] as const)
    assert.deepEqual(socketBudget(WANTED, free), { connectionsMax, lanesMax, lookupsMax });
});

test("with any number of descriptors something can be fetched, and files keep theirs", () => {
  for (let free = DESCRIPTORS_LEAST; free < 5000; free++) {
    const { connectionsMax, lanesMax, lookupsMax } = socketBudget(WANTED, free);
    assert.ok(connectionsMax >= 1 && lanesMax >= connectionsMax && lookupsMax >= 1);
    const most = lanesMax + DESCRIPTORS_PER_QUESTION * lookupsMax;
    // Below 30 a repeated DNS question may find no descriptor; it is asked again.
    if (free >= 30) assert.ok(most <= free - 20, `${most} of ${free}`);
  }
});
