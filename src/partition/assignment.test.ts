import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, type Random, randomFrom } from "../base/random.ts";
import {
  assignGroups,
  assignStatic,
  nextBuckets,
  reassign,
  type WeightedProcess,
} from "./assignment.ts";

const BUCKETS = 4096;

function named(count: number, prefix = "p"): WeightedProcess[] {
  return Array.from({ length: count }, (_, index) => ({ name: `${prefix}${index}`, weight: 1 }));
}

function countsOf(owners: readonly string[], workers: readonly WeightedProcess[]): number[] {
  return workers.map(({ name }) => owners.filter((owner) => owner === name).length);
}

function movedBetween(before: readonly string[], after: readonly string[]): number {
  return after.filter((owner, bucket) => owner !== before[bucket]).length;
}

function randomWorkers(random: Random): WeightedProcess[] {
  const prefix = `w${below(random, 1e6)}-`;
  return named(1 + below(random, 20), prefix).map(({ name }) => ({
    name,
    weight: pick(random, [1, 1, 2, 0.5, 3.3]),
  }));
}

test("one process owns all buckets; without processes they have no owner", () => {
  assert.deepEqual(assignStatic(3, [{ name: "only", weight: 2 }]), ["only", "only", "only"]);
  assert.deepEqual(assignStatic(2, []), ["", ""]);
  assert.deepEqual(reassign(["a", "a"], []), ["", ""]);
});

test("as many buckets as processes: each gets one", () => {
  assert.equal(new Set(assignStatic(5, named(5))).size, 5);
});

test("owners depend on the processes, not on the order of their list", () => {
  const workers = named(9);
  assert.deepEqual(assignStatic(500, workers), assignStatic(500, workers.toReversed()));
});

test("no process has more than its share by weight, rounded up or 3 % more", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = randomFrom(seed);
    const workers = randomWorkers(random);
    const bucketCount = 1 + below(random, 3000);
    const owners = assignStatic(bucketCount, workers);
    const weightAll = workers.reduce((sum, { weight }) => sum + weight, 0);
    const counts = countsOf(owners, workers);
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      bucketCount,
      `seed ${seed}: a bucket has no owner`,
    );
    for (const [index, { weight }] of workers.entries()) {
      const share = (bucketCount * weight) / weightAll;
      const most = Math.max(Math.ceil(share), 1.03 * share);
      assert.ok((counts[index] as number) <= most, `seed ${seed}: ${counts[index]} > ${most}`);
    }
  }
});

test("up to 16 processes, joining moves at most a quarter more than the new process's share", () => {
  for (let seed = 1; seed <= 5; seed++) {
    for (const count of [1, 2, 4, 8, 16]) {
      const workers = named(count + 1, `s${seed}-`);
      const before = assignStatic(BUCKETS, workers.slice(1));
      const after = assignStatic(BUCKETS, workers);
      const least = BUCKETS / (count + 1);
      const moved = movedBetween(before, after);
      assert.ok(moved <= 1.25 * least, `seed ${seed}, ${count} + 1: ${moved}, least ${least}`);
      assert.ok(moved >= 0.7 * least, `seed ${seed}, ${count} + 1: ${moved}, least ${least}`);
    }
  }
});

test("after a change each process is within one bucket of its share, and no bucket moves needlessly", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const before = assignStatic(1000, randomWorkers(random));
    const stayed = [...new Set(before)].filter(() => random.next() < 0.7);
    const workers = [...stayed.map((name) => ({ name, weight: 1 })), ...randomWorkers(random)];
    const after = reassign(before, workers);
    const weightAll = workers.reduce((sum, { weight }) => sum + weight, 0);
    const had = countsOf(before, workers);
    const has = countsOf(after, workers);
    let due = 0;
    for (const [index, { weight }] of workers.entries()) {
      const share = (1000 * weight) / weightAll;
      assert.ok(
        Math.abs((has[index] as number) - share) < 1,
        `seed ${seed}: ${has[index]}, ${share}`,
      );
      due += Math.max(0, (has[index] as number) - (had[index] as number));
    }
    // The buckets gained have to move, and no others do.
    assert.equal(movedBetween(before, after), due, `seed ${seed}`);
    assert.deepEqual(reassign(after, workers), after, `seed ${seed}: moved without a change`);
  }
});

test("a process that leaves and returns gets the same number of buckets", () => {
  const workers = named(4);
  const before = assignStatic(1024, workers);
  const without = reassign(before, workers.slice(1));
  assert.ok(!without.includes("p0"));
  assert.deepEqual(countsOf(reassign(without, workers), workers), [256, 256, 256, 256]);
});

test("a group belongs to the process of its name; other groups go to processes without one", () => {
  const owners = assignGroups({ bucketCount: 100, groups: ["x", "p1", "y"] }, named(3));
  assert.equal(owners[1], "p1");
  assert.deepEqual([owners[0], owners[2]].toSorted(), ["p0", "p2"]);
  assert.deepEqual(owners.slice(3), assignStatic(100, named(3)).slice(3));
});

test("a group keeps its owner until the process of its name joins or the owner leaves", () => {
  const groups = ["x", "p9"];
  const before = ["p1", "p2", ...assignStatic(98, named(3))];
  const joined = reassign(before, [...named(3), { name: "p9", weight: 1 }], groups);
  assert.deepEqual(joined.slice(0, 2), ["p1", "p9"]);
  const left = reassign(before, [{ name: "p2", weight: 1 }], groups);
  assert.deepEqual(
    left,
    before.map(() => "p2"),
  );
  // The other buckets are assigned as if there were no groups.
  const counts = countsOf(joined.slice(2), [...named(3), { name: "p9", weight: 1 }]);
  assert.deepEqual(counts.toSorted(), [24, 24, 25, 25]);
});

test("an idle process gets its share of the buckets without an owner, the fullest first", () => {
  const owners = ["a", "", "", "a", "", "", ""];
  const waiting = [9, 1, 0, 9, 5, 2, 3];
  const waitingIn = (bucket: number): number => waiting[bucket] as number;
  const rules = { owners, idle: "b", waitingIn };
  assert.deepEqual(nextBuckets({ ...rules, processes: 2, grain: 9 }), [4, 6, 5]);
  assert.deepEqual(nextBuckets({ ...rules, processes: 4, grain: 9 }), [4], "not one and a half");
  const later = { ...rules, idle: "a", grain: 9 };
  assert.deepEqual(nextBuckets({ ...later, processes: 1 }), [4, 6], "half a share of four");
  assert.deepEqual(nextBuckets({ ...later, processes: 9 }), [4]);
  assert.deepEqual(nextBuckets({ ...rules, processes: 2, grain: 1 }), [4]);
  assert.deepEqual(nextBuckets({ ...rules, processes: 9, grain: 9 }), [4]);
});

test("free buckets for which nothing waits do not keep an idle process from the longest queue", () => {
  const owners = ["a", "a", "a", "b", "c", ""];
  const waiting = [6, 3, 1, 0, 4, 0];
  const waitingIn = (bucket: number): number => waiting[bucket] as number;
  const rules = { owners, processes: 2, waitingIn };
  assert.deepEqual(nextBuckets({ ...rules, idle: "b", grain: 9 }), [1, 2]);
  assert.deepEqual(nextBuckets({ ...rules, idle: "b", grain: 1 }), [1]);
  assert.deepEqual(nextBuckets({ ...rules, idle: "b", grain: 9, processes: 7 }), [1]);
  assert.deepEqual(nextBuckets({ ...rules, idle: "a", grain: 9 }), [], "an only bucket stays");
  const all = { owners: ["a", "a"], idle: "a", processes: 1, grain: 9, waitingIn };
  assert.deepEqual(nextBuckets(all), []);
});

test("buckets are handed out until all URLs are done, at any speed of the processes", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const random = randomFrom(seed);
    const waiting = Array.from({ length: 40 }, () => below(random, 20));
    const owners = waiting.map(() => "");
    const names = ["a", "b", "c"];
    let handed = 0;
    for (let step = 0; waiting.some((left) => left > 0); step++) {
      assert.ok(step < 10_000, `seed ${seed}: never done`);
      const name = pick(random, names);
      const own = owners.flatMap((owner, bucket) =>
        owner === name && (waiting[bucket] as number) > 0 ? [bucket] : [],
      );
      const bucket = own[0];
      if (bucket !== undefined) waiting[bucket] = (waiting[bucket] as number) - 1;
      else
        for (const next of nextBuckets({
          owners,
          idle: name,
          processes: names.length,
          grain: 4,
          waitingIn: (at) => waiting[at] as number,
        })) {
          owners[next] = name;
          handed += 1;
        }
    }
    assert.ok(handed < 40 * 8, `seed ${seed}: ${handed} buckets moved back and forth`);
  }
});
