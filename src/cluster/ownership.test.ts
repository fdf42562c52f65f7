import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import type { Division } from "../crawl/ownership.ts";
import { partitionFor } from "../partition/partition.ts";
import { Ownership, emptyDivision } from "./ownership.ts";
import { readDivision, writeDivision } from "./division-codec.ts";

const partition = partitionFor("site-hash", { bucketCount: 8, rules: [] });
const rules = { coordination: "static", partition, grain: 1, seeded: [] } as const;

function workers(...names: readonly string[]): { name: string; weight: number }[] {
  return names.map((name) => ({ name, weight: 1 }));
}

test("a part that changes hands waits until its owner has handed it over, under any coordinator", () => {
  const first = new Ownership(rules, workers("a", "b"), undefined);
  first.refit(workers("a"), new Set(), new Set(["a", "b"]));
  assert.equal(first.division.inTransit.size, 4);
  const written = JSON.parse(JSON.stringify(writeDivision(first.division)));
  const second = new Ownership(rules, [], readDivision(written));
  second.renumber();
  assert.ok(second.isHandingOver("b"));
  assert.equal(second.handedOver("b", 1), false, "that was before it lost them");
  assert.ok(second.handedOver("b", 2));
  assert.equal(second.division.inTransit.size, 0);
});

test("a bucket that moves twice waits for both former owners", () => {
  const ownership = new Ownership(rules, workers("a", "b", "c"), undefined);
  const all = new Set(["a", "b", "c"]);
  const [bucket] = ownership.division.owners.flatMap((owner, at) => (owner === "a" ? [at] : []));
  assert.ok(bucket !== undefined);
  ownership.refit(workers("b", "c"), new Set(), all);
  const second = ownership.division.owners[bucket] as string;
  ownership.refit(workers(...["b", "c"].filter((name) => name !== second)), new Set(), all);
  assert.deepEqual(
    ownership.division.inTransit.get(bucket)?.map(({ from }) => from),
    ["a", second],
  );
  ownership.handedOver(second, 9);
  assert.ok(ownership.division.inTransit.has(bucket));
  ownership.handedOver("a", 9);
  assert.ok(!ownership.division.inTransit.has(bucket));
});

test("with a lost node all its buckets are lost, present, former and in transit", () => {
  const ownership = new Ownership(rules, workers("a", "b"), undefined);
  const ofA = new Set(
    ownership.division.owners.flatMap((owner, at) => (owner === "a" ? [at] : [])),
  );
  ownership.refit(workers("b"), new Set(), new Set(["a", "b"]));
  ownership.refit(workers("b"), new Set(["a"]), new Set(["b"]));
  const [loss] = ownership.division.losses;
  assert.deepEqual(loss?.buckets, ofA);
  assert.equal(loss?.epoch, 3);
  assert.equal(ownership.division.inTransit.size, 0);
});

test("a process of divisions unknown here may know URLs of every bucket", () => {
  const ownership = new Ownership(rules, workers("a"), undefined);
  ownership.refit(workers("a", "old"), new Set(), new Set(["a", "old"]), ["old"]);
  assert.equal(ownership.division.inTransit.size, 8);
  assert.ok(ownership.handedOver("old", 2));
  const [left] = ownership.division.inTransit.values();
  assert.deepEqual(left, [{ from: "a", epoch: 2 }]);
});

test("a process without work takes from the fullest one, and nothing that is under way already", () => {
  const ownership = new Ownership(
    { ...rules, coordination: "dynamic" },
    workers("a", "b", "c"),
    undefined,
  );
  const found = new Map([1, 2, 3, 4].map((bucket) => [bucket, 10]));
  for (let count = 0; count < 4; count++) ownership.handOut("a", found);
  assert.deepEqual(ownership.handOut("b", found), [[1, 10]]);
  assert.deepEqual(ownership.division.inTransit.get(1), [{ from: "a", epoch: 6 }]);
  assert.deepEqual(ownership.handOut("b", found), [], "what it took is on its way");
  assert.deepEqual(ownership.handOut("c", found), [[2, 10]]);
  assert.ok(ownership.handedOver("a", 7));
  assert.deepEqual(ownership.handOut("b", new Map([[3, 1]])), [], "an only bucket stays");
});

test("a part without an owner is handed out while its former owner hands it over: messages wait for one", () => {
  const ownership = new Ownership(
    { ...rules, coordination: "dynamic" },
    workers("a", "b"),
    undefined,
  );
  ownership.handOut("a", new Map([[1, 10]]));
  ownership.refit(workers("b"), new Set(), new Set(["a", "b"]));
  assert.ok(ownership.division.inTransit.has(1));
  assert.deepEqual(ownership.handOut("b", new Map([[1, 10]])), [[1, 10]]);
});

test("whatever processes join and leave, a division survives its encoding, and every bucket has a present owner", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const random = randomFrom(seed);
    const ownership = new Ownership(rules, [], emptyDivision(partition));
    const there = new Set<string>(["n0"]);
    for (let step = 1; step < 30; step++) {
      const lost = new Set<string>();
      const name = `n${below(random, 6)}`;
      if (!there.has(name)) there.add(name);
      else if (there.size > 1) {
        there.delete(name);
        lost.add(name);
      }
      const { epoch } = ownership.division;
      ownership.refit(workers(...there), lost, new Set(there));
      const { division } = ownership;
      assert.equal(division.epoch, epoch + 1);
      assert.ok(
        division.owners.every((owner) => there.has(owner)),
        `seed ${seed}`,
      );
      for (const all of division.inTransit.values())
        assert.ok(
          all.every(({ from }) => there.has(from)),
          `seed ${seed}`,
        );
      const again = readDivision(JSON.parse(JSON.stringify(writeDivision(division))));
      assert.ok(again !== undefined);
      assert.deepEqual(inOrder(again), inOrder(division), `seed ${seed}`);
      if (random.next() < 0.5) ownership.handedOver(name, division.epoch);
    }
  }
});

/** In whatever order those are listed who hand over. */
function inOrder(division: Division): unknown {
  const lists = [...division.inTransit].map(([bucket, all]) => ({
    bucket,
    all: all.toSorted((a, b) => a.epoch - b.epoch || (a.from < b.from ? -1 : 1)),
  }));
  return { ...division, inTransit: lists.toSorted((a, b) => a.bucket - b.bucket) };
}
