import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { type Addressee, Politeness, POLITENESS_DEFAULTS } from "./politeness.ts";
import { type Taken, type Waiting, Workbench } from "./workbench.ts";

const only =
  (wantedId: number) =>
  ({ id }: Waiting): boolean =>
    id === wantedId;
const GOOD = { reason: "ok", retryAfterMs: undefined, chance: 0 } as const;

test("the best score goes first, then the oldest, one delay apart", () => {
  const bench = new Workbench<Waiting>(new Politeness(POLITENESS_DEFAULTS));
  bench.open({ siteId: 1, address: "192.0.2.1", delayMs: 1000, addressDelayMs: 0 });
  for (const [id, score] of [
    [1, 0],
    [2, 5],
    [3, 5],
  ] as const)
    bench.put(1, { id, score, notBeforeMs: 0 });

  const first = bench.take(0);
  assert.equal(first?.entry.id, 2);
  assert.equal(bench.take(2000), undefined, "one request at a time");
  assert.ok(first);
  bench.end(100, first.turn, GOOD);
  assert.equal(bench.nextAtMs(), 1000);
  assert.equal(bench.take(999), undefined);
  assert.equal(bench.take(1000)?.entry.id, 3);
});

test("a retry waits its time while others go on", () => {
  const bench = new Workbench<Waiting>(new Politeness(POLITENESS_DEFAULTS));
  bench.open({ siteId: 1, address: undefined, delayMs: 0, addressDelayMs: 0 });
  bench.put(1, { id: 1, score: 9, notBeforeMs: 500 });
  bench.put(1, { id: 2, score: 1, notBeforeMs: 0 });
  const other = bench.take(0);
  assert.equal(other?.entry.id, 2);
  assert.ok(other);
  bench.end(1, other.turn, GOOD);
  assert.equal(bench.nextAtMs(), 500);
  assert.equal(bench.take(500)?.entry.id, 1);
});

test("a search looks down to its depth, and what it passes over keeps its place", () => {
  const bench = new Workbench<Waiting>(new Politeness(POLITENESS_DEFAULTS));
  for (const siteId of [1, 2, 3, 4]) {
    bench.open({ siteId, address: undefined, delayMs: 0, addressDelayMs: 0 });
    bench.put(siteId, { id: siteId, score: 0, notBeforeMs: 0 });
  }
  assert.equal(bench.take(0, { depthMax: 2, fits: only(3) }), undefined);
  const third = bench.take(10, { depthMax: 3, fits: only(3) });
  assert.equal(third?.entry.id, 3);
  assert.equal(third?.overtaken, 2);
  const first = bench.take(50, { depthMax: 1, fits: only(1) });
  assert.equal(first?.passedOverMs, 40);
  assert.equal(first?.overtaken, 0);
  assert.equal(bench.take(60)?.entry.id, 2);
});

test("with ranks the lowest of those whose time has come goes first, and nobody is lost", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const random = randomFrom(seed);
    const bench = new Workbench<Waiting>(new Politeness(POLITENESS_DEFAULTS));
    const sites = Array.from({ length: 12 }, (_, siteId) => ({ siteId, rank: random.next() }));
    for (const { siteId } of sites) {
      const delayMs = below(random, 3) * 40;
      bench.open({ siteId, address: undefined, delayMs, addressDelayMs: 0 });
      for (let i = 0; i < 5; i++)
        bench.put(siteId, { id: siteId * 5 + i, score: 0, notBeforeMs: 0 });
    }
    const rankOf = (siteId: number): number => sites[siteId]?.rank ?? Infinity;
    const search = {
      depthMax: 6,
      rank: (_: Waiting, { siteId }: Addressee) => rankOf(siteId),
      // Now and then one does not fit, and now and then it is not its turn.
      fits: () => (random.next() < 0.1 ? false : random.next() < 0.1 ? ("not now" as const) : true),
    };
    const taken = new Set<number>();
    for (let nowMs = 0; nowMs < 20_000 && taken.size < 60; nowMs += 5) {
      // Sometimes takes without ranks, as when a plan ends.
      const one = bench.take(nowMs, random.next() < 0.9 ? search : undefined);
      if (one === undefined) continue;
      assert.ok(!taken.has(one.entry.id), `seed ${seed}: ${one.entry.id} twice`);
      taken.add(one.entry.id);
      bench.end(nowMs, one.turn, GOOD);
      bench.release(one.turn.to.siteId, one.entry.id);
    }
    assert.equal(taken.size, 60, `seed ${seed}`);
  }
  const bench = new Workbench<Waiting>(new Politeness(POLITENESS_DEFAULTS));
  for (const siteId of [1, 2, 3]) {
    bench.open({ siteId, address: undefined, delayMs: 0, addressDelayMs: 0 });
    bench.put(siteId, { id: siteId, score: 0, notBeforeMs: siteId === 3 ? 100 : 0 });
  }
  const byId = { depthMax: 6, rank: ({ id }: Waiting) => -id, fits: () => true };
  assert.equal(bench.take(0, byId)?.entry.id, 2, "the third one's time has not come");
  assert.equal(bench.take(100, byId)?.entry.id, 3);
  assert.equal(bench.take(100, byId)?.entry.id, 1);
});

test("whose own limit it is that stops it is not passed over, and stops nobody else", () => {
  const bench = new Workbench<Waiting>(new Politeness(POLITENESS_DEFAULTS));
  for (const siteId of [1, 2, 3]) {
    bench.open({ siteId, address: undefined, delayMs: 0, addressDelayMs: 0 });
    bench.put(siteId, { id: siteId, score: 0, notBeforeMs: 0 });
  }
  const third = bench.take(0, { depthMax: 1, fits: ({ id }) => id === 3 || "not now" });
  assert.equal(third?.entry.id, 3);
  assert.equal(third?.overtaken, 0);
  assert.equal(bench.take(70)?.passedOverMs, 0);
});

test("4: sites that were never asked and the others have the same part of what is expected", () => {
  const bench = new Workbench<Waiting>(
    new Politeness({ ...POLITENESS_DEFAULTS, siteConcurrencyMax: 8 }),
  );
  const open = (siteId: number, entries: number): void => {
    bench.open({ siteId, address: undefined, delayMs: 0, addressDelayMs: 0 });
    for (let at = 0; at < entries; at++)
      bench.put(siteId, { id: siteId * 100 + at, score: 0, notBeforeMs: 0 });
  };
  const search = {
    depthMax: 6,
    fits: () => true,
    // A page of the known one is as much as four first answers.
    expectedBytes: ({ id }: Waiting) => (id < 200 && id > 100 ? 4000 : 1000),
  };
  open(1, 8);
  assert.equal(bench.take(0, search)?.entry.id, 100);
  for (let siteId = 2; siteId < 14; siteId++) open(siteId, 1);
  const taken = Array.from({ length: 12 }, () => {
    // Looking in vain changes nothing.
    assert.equal(bench.take(0, { ...search, depthMax: 3, fits: () => false }), undefined);
    return bench.take(0, search)?.entry.id ?? 0;
  });
  const known = taken.flatMap((id, at) => (id < 200 ? [at] : []));
  assert.ok(known.length === 2 || known.length === 3, `${taken}`);
  for (const [index, at] of known.slice(1).entries()) assert.equal(at - (known[index] ?? 0), 5);
  assert.deepEqual(
    taken.filter((id) => id >= 200),
    taken.filter((id) => id >= 200).toSorted((a, b) => a - b),
    "each kind in its own order",
  );
});

test("closing a site gives back what waited and frees its address for others", () => {
  const politeness = new Politeness({ ...POLITENESS_DEFAULTS, addressConcurrencyMax: 1 });
  const bench = new Workbench<Waiting>(politeness);
  for (const siteId of [1, 2, 3]) {
    bench.open({ siteId, address: "192.0.2.1", delayMs: 0, addressDelayMs: 0 });
    bench.put(siteId, { id: siteId, score: 0, notBeforeMs: 0 });
  }
  const first = bench.take(0);
  assert.equal(first?.entry.id, 1);
  assert.equal(bench.take(0), undefined);
  assert.deepEqual(
    bench.close(2).map((entry) => entry.id),
    [2],
  );
  assert.ok(first);
  bench.end(1, first.turn, GOOD);
  assert.equal(bench.take(1)?.entry.id, 3);
});

test("whatever may be asked now is found, for any sites, addresses, delays and endings", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomFrom(seed);
    const politeness = new Politeness({
      ...POLITENESS_DEFAULTS,
      siteConcurrencyMax: 1 + below(random, 3),
      addressConcurrencyMax: 1 + below(random, 3),
    });
    const bench = new Workbench<Waiting>(politeness);
    const sites: Addressee[] = Array.from({ length: 1 + below(random, 8) }, (_, siteId) => {
      const host = below(random, 3);
      const delayMs = below(random, 3) * 50;
      return { siteId, address: `192.0.2.${host}`, delayMs, addressDelayMs: host * 20 };
    });
    const waiting = new Map(sites.map((to) => [to.siteId, 0]));
    for (const to of sites) bench.open(to);
    const underWay: Taken<Waiting>[] = [];
    const siteOf = new Map<number, number>();
    let lastId = 0;

    for (let nowMs = 0; nowMs < 2000; nowMs += 1 + below(random, 30)) {
      for (let add = below(random, 3); add > 0; add--) {
        const { siteId } = sites[below(random, sites.length)] as Addressee;
        lastId += 1;
        siteOf.set(lastId, siteId);
        waiting.set(siteId, (waiting.get(siteId) ?? 0) + 1);
        bench.put(siteId, { id: lastId, score: below(random, 4), notBeforeMs: 0 });
      }
      for (let end = below(random, 3); end > 0 && underWay.length > 0; end--) {
        const [ended] = underWay.splice(below(random, underWay.length), 1);
        assert.ok(ended);
        bench.end(nowMs, ended.turn, GOOD);
        bench.release(ended.turn.to.siteId, ended.entry.id);
      }
      for (let taken = bench.take(nowMs); taken !== undefined; taken = bench.take(nowMs)) {
        underWay.push(taken);
        const siteId = siteOf.get(taken.entry.id) as number;
        waiting.set(siteId, (waiting.get(siteId) as number) - 1);
      }
      for (const to of sites)
        assert.ok(
          (waiting.get(to.siteId) as number) === 0 || !politeness.maySend(nowMs, to),
          `seed ${seed}: site ${to.siteId} was forgotten at ${nowMs}`,
        );
    }
  }
});
