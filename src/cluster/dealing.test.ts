import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import type { Division } from "../crawl/ownership.ts";
import { partitionFor } from "../partition/partition.ts";
import { Dealing, nobodysDivision } from "./dealing.ts";
import { readDivision, writeDivision } from "./written-division.ts";

const partition = partitionFor("site-hash", { bucketCount: 8, rules: [] });
const rules = { coordination: "static", partition, grain: 1, seeded: [] } as const;

function workers(...names: readonly string[]): { name: string; weight: number }[] {
  return names.map((name) => ({ name, weight: 1 }));
}

test("what changes hands waits until its owner has handed it over, whoever coordinates by then", () => {
  const first = new Dealing(rules, workers("a", "b"), undefined);
  first.refit(workers("a"), new Set(), new Set(["a", "b"]));
  assert.equal(first.division.inTransit.size, 4);
  const written = JSON.parse(JSON.stringify(writeDivision(first.division)));
  const second = new Dealing(rules, [], readDivision(written));
  second.renumber();
  assert.ok(second.isHandingOver("b"));
  assert.equal(second.handedOver("b", 1), false, "that was before it lost them");
  assert.ok(second.handedOver("b", 2));
  assert.equal(second.division.inTransit.size, 0);
});

test("a bucket that moves twice waits for both who had it", () => {
  const dealing = new Dealing(rules, workers("a", "b", "c"), undefined);
  const all = new Set(["a", "b", "c"]);
  const [bucket] = dealing.division.owners.flatMap((owner, at) => (owner === "a" ? [at] : []));
  assert.ok(bucket !== undefined);
  dealing.refit(workers("b", "c"), new Set(), all);
  const second = dealing.division.owners[bucket] as string;
  dealing.refit(workers(...["b", "c"].filter((name) => name !== second)), new Set(), all);
  assert.deepEqual(
    dealing.division.inTransit.get(bucket)?.map(({ from }) => from),
    ["a", second],
  );
  dealing.handedOver(second, 9);
  assert.ok(dealing.division.inTransit.has(bucket));
  dealing.handedOver("a", 9);
  assert.ok(!dealing.division.inTransit.has(bucket));
});

test("a node that is lost is lost with what it had, what it had before, and what it was handing over", () => {
  const dealing = new Dealing(rules, workers("a", "b"), undefined);
  const ofA = new Set(dealing.division.owners.flatMap((owner, at) => (owner === "a" ? [at] : [])));
  dealing.refit(workers("b"), new Set(), new Set(["a", "b"]));
  dealing.refit(workers("b"), new Set(["a"]), new Set(["b"]));
  const [loss] = dealing.division.losses;
  assert.deepEqual(loss?.buckets, ofA);
  assert.equal(loss?.epoch, 3);
  assert.equal(dealing.division.inTransit.size, 0);
});

test("who has taken part unknown to us may have something of everything", () => {
  const dealing = new Dealing(rules, workers("a"), undefined);
  dealing.refit(workers("a", "old"), new Set(), new Set(["a", "old"]), ["old"]);
  assert.equal(dealing.division.inTransit.size, 8);
  assert.ok(dealing.handedOver("old", 2));
  const [left] = dealing.division.inTransit.values();
  assert.deepEqual(left, [{ from: "a", epoch: 2 }]);
});

test("a process without work takes from the fullest one, and nothing that is under way already", () => {
  const dealing = new Dealing(
    { ...rules, coordination: "dynamic" },
    workers("a", "b", "c"),
    undefined,
  );
  const found = new Map([1, 2, 3, 4].map((bucket) => [bucket, 10]));
  for (let count = 0; count < 4; count++) dealing.handOut("a", found);
  assert.deepEqual(dealing.handOut("b", found), [[1, 10]]);
  assert.deepEqual(dealing.division.inTransit.get(1), [{ from: "a", epoch: 6 }]);
  assert.deepEqual(dealing.handOut("b", found), [], "what it took is on its way");
  assert.deepEqual(dealing.handOut("c", found), [[2, 10]]);
  assert.ok(dealing.handedOver("a", 7));
  assert.deepEqual(dealing.handOut("b", new Map([[3, 1]])), [], "an only bucket stays");
});

test("a part without an owner is handed out while its former owner hands it over: letters wait for one", () => {
  const dealing = new Dealing({ ...rules, coordination: "dynamic" }, workers("a", "b"), undefined);
  dealing.handOut("a", new Map([[1, 10]]));
  dealing.refit(workers("b"), new Set(), new Set(["a", "b"]));
  assert.ok(dealing.division.inTransit.has(1));
  assert.deepEqual(dealing.handOut("b", new Map([[1, 10]])), [[1, 10]]);
});

test("over random comings and goings a division survives its writing, and every bucket has an owner who is there", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const random = randomFrom(seed);
    const dealing = new Dealing(rules, [], nobodysDivision(partition));
    const there = new Set<string>(["n0"]);
    for (let step = 1; step < 30; step++) {
      const lost = new Set<string>();
      const name = `n${below(random, 6)}`;
      if (!there.has(name)) there.add(name);
      else if (there.size > 1) {
        there.delete(name);
        lost.add(name);
      }
      const { epoch } = dealing.division;
      dealing.refit(workers(...there), lost, new Set(there));
      const { division } = dealing;
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
      if (random.next() < 0.5) dealing.handedOver(name, division.epoch);
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
