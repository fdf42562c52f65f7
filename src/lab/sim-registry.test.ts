import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import { SimClock } from "./sim-clock.ts";
import { MemoryRegistry, MemoryTable } from "./sim-registry.ts";
import { registrySuite } from "../exchange/registry.suite.ts";

registrySuite("memory", async () => {
  const table = new MemoryTable();
  return {
    ours: new MemoryRegistry(table),
    theirs: new MemoryRegistry(table),
    wipe: async () => table.wipe(),
  };
});

test("with faults an answer comes late or never, and a lost answer may have been a change", async () => {
  const clock = new SimClock();
  const table = new MemoryTable();
  const faults = { clock, lossShare: 0.3, delayMsMax: 100, timeoutMs: 150 };
  const ends = { answered: 0, lost: 0, changedUnanswered: 0 };
  for (let seed = 1; seed <= 200; seed++) {
    const registry = new MemoryRegistry(table, { ...faults, random: randomFrom(seed) });
    const key = String(seed);
    const put = registry.put(key, "1", 0).then(
      () => ends.answered++,
      () => {
        ends.lost++;
        if (table.get(key) !== undefined) ends.changedUnanswered++;
      },
    );
    await clock.runUntil(put);
  }
  assert.ok(ends.answered > 50 && ends.changedUnanswered > 20);
  assert.ok(ends.lost > ends.changedUnanswered);
});

test("a way that is cut carries nothing until it is whole again", async () => {
  const clock = new SimClock();
  const random = randomFrom(1);
  const faults = { clock, random, lossShare: 0, delayMsMax: 10, timeoutMs: 1_000 };
  const registry = new MemoryRegistry(new MemoryTable(), faults);
  registry.isCut = true;
  await assert.rejects(clock.runUntil(registry.put("k", "1", 0)), { name: "RegistryAway" });
  registry.isCut = false;
  assert.equal(await clock.runUntil(registry.get("k")), undefined);
});
