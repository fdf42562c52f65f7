import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../base/log.ts";
import { randomFrom } from "../../base/random.ts";
import { defaultSettings } from "../../config/sources.ts";
import { MemoryRegistry, MemoryTable } from "../../lab/sim-registry.ts";
import { SimBus } from "../../lab/sim-bus.ts";
import { SimClock } from "../../lab/sim-clock.ts";
import { emptyDivision } from "../ownership.ts";
import { partitionOf } from "../team-setup.ts";
import { LeaderElection } from "./leader-election.ts";

test("one of two nodes leads; the other one does as soon as it stops", async () => {
  const clock = new SimClock();
  const table = new MemoryTable();
  const bus = new SimBus(clock, randomFrom(1));
  const settings = defaultSettings();
  const electionOf = (node: string, seed: number): LeaderElection =>
    new LeaderElection({
      clock,
      log: silentLog,
      bus: bus.from(node, (callBack) => callBack()),
      registry: new MemoryRegistry(table),
      settings,
      seeds: [],
      spec: "crawl",
      node,
      random: randomFrom(seed),
      leaseMs: 2_000,
      licenceMs: 3_000,
      known: () => emptyDivision(partitionOf(settings)),
      knownChanges: () => [],
      hasTakenPart: () => false,
      isBeginning: true,
      onFault: (fault) => assert.fail(String(fault)),
    });
  const pass = (ms: number): Promise<void> =>
    clock.runUntil(new Promise((resolve) => void clock.after(ms, resolve)));
  const elections = [electionOf("a", 2), electionOf("b", 3)];
  await pass(10_000);
  const leading = elections.filter(({ leader }) => leader !== undefined);
  assert.equal(leading.length, 1);
  const [first] = leading;
  await clock.runUntil(first?.stop() ?? Promise.resolve());
  await pass(10_000);
  assert.equal(first?.leader, undefined);
  assert.equal(elections.filter(({ leader }) => leader !== undefined).length, 1);
  for (const election of elections) await clock.runUntil(election.stop());
});
