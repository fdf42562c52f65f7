import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "../../base/clock.ts";
import { below, pick, type Random, randomFrom } from "../../base/random.ts";
import { MemoryRegistry, MemoryTable } from "../../lab/sim-registry.ts";
import type { Registry } from "../../exchange/registry.ts";
import { SimClock } from "../../lab/sim-clock.ts";
import { Lease } from "./lease.ts";

const LEASE_MS = 3_000;

test("the first leads after one lease, the second when the first has been silent for one", async () => {
  const clock = new SimClock();
  const world = new World(clock, randomFrom(1), { lossShare: 0, delayMsMax: 1 });
  const [a, b] = [world.addNode("a", 1), world.addNode("b", 1)];
  a.leadership.start();
  await clock.runFor(100);
  b.leadership.start();
  await clock.runFor(LEASE_MS + 50);
  assert.deepEqual([a.leadership.term !== undefined, b.leadership.term], [true, undefined]);
  assert.equal(b.leadership.leader?.node ?? "a", "a");
  const firstTerm = a.leadership.term ?? 0;

  await clock.runFor(10 * LEASE_MS);
  assert.equal(a.leadership.term, firstTerm, "it goes on leading");
  assert.deepEqual(b.leadership.leader, { node: "a", term: firstTerm });

  a.registry.isCut = true;
  await clock.runFor(0.8 * LEASE_MS);
  assert.equal(a.leadership.term, undefined, "it no longer believes");
  assert.equal(b.leadership.term, undefined, "it does not believe yet");
  await clock.runFor(0.7 * LEASE_MS);
  assert.ok((b.leadership.term ?? 0) > firstTerm);
});

test("a leader that stops is succeeded at once, and does not lead again", async () => {
  const clock = new SimClock();
  const world = new World(clock, randomFrom(1), { lossShare: 0, delayMsMax: 1 });
  const [a, b] = [world.addNode("a", 1), world.addNode("b", 1)];
  a.leadership.start();
  await clock.runFor(2 * LEASE_MS);
  b.leadership.start();
  await clock.runFor(LEASE_MS);
  await clock.runUntil(a.leadership.stop());
  assert.equal(a.leadership.term, undefined);
  await clock.runFor(LEASE_MS / 2);
  assert.ok(b.leadership.term !== undefined);
});

test("a leader outlives the loss of the table, and keeps its term", async () => {
  const clock = new SimClock();
  const world = new World(clock, randomFrom(1), { lossShare: 0, delayMsMax: 1 });
  const nodes = ["a", "b", "c"].map((name) => world.addNode(name, 1));
  for (const { leadership } of nodes) leadership.start();
  await clock.runFor(2 * LEASE_MS);
  const { term } = world.leaders()[0]?.leadership ?? {};
  assert.ok(term !== undefined);
  for (let count = 0; count < 5; count++) {
    world.table.wipe();
    await clock.runFor(2 * LEASE_MS);
    assert.deepEqual(
      world.leaders().map(({ leadership }) => leadership.term),
      [term],
    );
  }
});

test("a wall clock set forward, as after the sleep of a machine, ends a leadership", async () => {
  const clock = new SimClock();
  const world = new World(clock, randomFrom(1), { lossShare: 0, delayMsMax: 1 });
  const { leadership } = world.addNode("a", 1);
  leadership.start();
  await clock.runFor(2 * LEASE_MS);
  const before = leadership.term ?? 0;
  clock.jumpWall(60_000);
  assert.equal(leadership.term, undefined);
  await clock.runFor(LEASE_MS);
  assert.ok((leadership.term ?? 0) > before);
});

test("a foreign value under the key is waited for like a dead leader", async () => {
  const clock = new SimClock();
  for (const value of ["", "null", "7", "[]", '{"term":"x"}', '{"term":1e300}']) {
    const world = new World(clock, randomFrom(1), { lossShare: 0, delayMsMax: 1 });
    world.table.put("leader", value, 0);
    const { leadership } = world.addNode("a", 1);
    leadership.start();
    await clock.runFor(0.9 * LEASE_MS);
    assert.equal(leadership.term, undefined, value);
    await clock.runFor(LEASE_MS);
    assert.ok(leadership.term !== undefined, value);
    await clock.runUntil(leadership.stop());
  }
});

test("never two leaders at once, terms rise, and one is there again soon, over 400 seeds", async () => {
  const totals = { gained: 0, wiped: 0, slept: 0 };
  for (let seed = 1; seed <= 400; seed++) {
    const random = randomFrom(seed);
    const clock = new SimClock();
    const lossShare = random.next() * 0.3;
    const delayMsMax = pick(random, [5, 200, 1_000, 4_000]);
    const world = new World(clock, random, { lossShare, delayMsMax });
    world.label = `seed ${seed}`;
    const nodes = Array.from({ length: 2 + below(random, 3) }, (_, index) =>
      // Clocks that run alike within a tenth.
      world.addNode(`n${index}`, 0.95 + 0.1 * random.next()),
    );
    for (const { leadership } of nodes) leadership.start();
    for (let step = 0; step < 20; step++) {
      await clock.runFor(random.next() * LEASE_MS);
      world.judge();
      disturb(world, random, totals);
    }
    for (const node of nodes) node.heal();
    world.faults = { lossShare: 0, delayMsMax: 20 };
    await clock.runFor(3 * LEASE_MS);
    world.judge();
    const [leader] = world.leaders();
    assert.ok(leader !== undefined, `seed ${seed}: nobody leads`);
    await clock.runFor(3 * LEASE_MS);
    assert.deepEqual(world.leaders(), [leader], `seed ${seed}: it does not last`);
    totals.gained += world.gained;
  }
  // Otherwise nothing was tried.
  assert.ok(totals.gained > 800 && totals.wiped > 500 && totals.slept > 500);
});

function disturb(world: World, random: Random, totals: { wiped: number; slept: number }): void {
  const node = pick(random, world.nodes);
  const chance = random.next();
  if (chance < 0.15) {
    world.table.wipe();
    totals.wiped++;
  } else if (chance < 0.4) {
    node.isAsleep = true;
    totals.slept++;
  } else if (chance < 0.6) node.registry.isCut = true;
  else if (chance < 0.9) node.heal();
}

/** A node that can fall asleep: what it waits for happens when it wakes up. */
class Node {
  readonly registry: MemoryRegistry;
  readonly leadership: Lease;
  readonly #asleep: (() => void)[] = [];
  #isAsleep = false;

  constructor(world: World, name: string, rate: number) {
    this.registry = new MemoryRegistry(world.table, {
      clock: world.clock,
      random: world.random,
      timeoutMs: 1_500,
      get lossShare() {
        return world.faults.lossShare;
      },
      get delayMsMax() {
        return world.faults.delayMsMax;
      },
    });
    this.leadership = new Lease({
      registry: this.#drowsy(this.registry),
      clock: this.#ownClock(world.clock, rate),
      node: name,
      leaseMs: LEASE_MS,
      random: world.random,
      onGained: (term) => world.onGained(this, term),
      onLost: () => {},
    });
  }

  set isAsleep(isAsleep: boolean) {
    this.#isAsleep = isAsleep;
    if (!isAsleep) for (const callBack of this.#asleep.splice(0)) callBack();
  }

  heal(): void {
    this.registry.isCut = false;
    this.isAsleep = false;
  }

  #whenAwake(callBack: () => void): void {
    if (this.#isAsleep) this.#asleep.push(callBack);
    else callBack();
  }

  #ownClock(clock: SimClock, rate: number): Clock {
    return {
      nowMs: () => clock.nowMs() * rate,
      wallMs: () => clock.wallMs(),
      soon: (callBack) => clock.soon(() => this.#whenAwake(callBack)),
      after: (delayMs, callBack) => {
        let isCancelled = false;
        const fire = (): void => {
          if (!isCancelled) callBack();
        };
        const cancel = clock.after(delayMs / rate, () => this.#whenAwake(fire));
        return () => {
          isCancelled = true;
          cancel();
        };
      },
    };
  }

  /** Answers wait for it to wake up. */
  #drowsy(registry: Registry): Registry {
    const wake = <T>(answer: Promise<T>): Promise<T> =>
      answer.finally(() => new Promise<void>((resolve) => this.#whenAwake(resolve)));
    return {
      get: (key) => wake(registry.get(key)),
      put: (key, value, revision) => wake(registry.put(key, value, revision)),
      remove: (key, revision) => wake(registry.remove(key, revision)),
      close: () => registry.close(),
    };
  }
}

/** Nodes around one table, and a judge who asks them all at the same moment. */
class World {
  readonly table = new MemoryTable();
  readonly nodes: Node[] = [];
  readonly clock: SimClock;
  readonly random: Random;
  faults: { readonly lossShare: number; readonly delayMsMax: number };
  label = "";
  gained = 0;
  #termMax = 0;
  readonly #breaches: string[] = [];

  constructor(clock: SimClock, random: Random, faults: World["faults"]) {
    this.clock = clock;
    this.random = random;
    this.faults = faults;
  }

  addNode(name: string, rate: number): Node {
    const node = new Node(this, name, rate);
    this.nodes.push(node);
    return node;
  }

  leaders(): Node[] {
    return this.nodes.filter(({ leadership }) => leadership.term !== undefined);
  }

  judge(): void {
    if (this.leaders().length > 1) this.#breaches.push(`two lead at ${this.clock.nowMs()} ms`);
    assert.deepEqual(this.#breaches, [], this.label);
  }

  /** The moment at which another could still believe, asleep or not. */
  onGained(node: Node, term: number): void {
    if (this.leaders().some((leader) => leader !== node))
      this.#breaches.push(`another still leads at ${this.clock.nowMs()} ms`);
    if (term <= this.#termMax) this.#breaches.push(`term ${term} after ${this.#termMax}`);
    this.#termMax = term;
    this.gained++;
  }
}
