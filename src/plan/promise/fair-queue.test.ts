import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../../base/random.ts";
import { Shares } from "./fair-queue.ts";

/** Serves pieces of the given size to the site that is next. */
function serve(shares: Shares, siteIds: readonly number[], sizes: () => number, count: number) {
  const bytes = new Map(siteIds.map((siteId) => [siteId, 0]));
  for (let i = 0; i < count; i++) {
    const first = siteIds.toSorted((a, b) => shares.rankOf(a) - shares.rankOf(b))[0] as number;
    const size = sizes();
    shares.charge(first, size);
    bytes.set(first, (bytes.get(first) ?? 0) + size);
  }
  return bytes;
}

test("two sites at 300 and 100 bytes a second get three bytes to one", () => {
  const shares = new Shares();
  shares.set([
    { siteId: 1, rateBps: 300, headStart: 0 },
    { siteId: 2, rateBps: 100, headStart: 0 },
  ]);
  const bytes = serve(shares, [1, 2], () => 10, 400);
  assert.equal(bytes.get(1), 3000);
  assert.equal(bytes.get(2), 1000);
});

test("1: sites that can all take more get bytes in proportion to their rates", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const claims = Array.from({ length: 2 + Math.floor(random.next() * 8) }, (_, siteId) => ({
      siteId,
      rateBps: 1000 * (1 + 99 * random.next()),
      headStart: 0,
    }));
    const shares = new Shares();
    shares.set(claims);
    const siteIds = claims.map(({ siteId }) => siteId);
    const bytes = serve(shares, siteIds, () => 1 + random.next() * 500, 20_000);
    const seconds = claims.map(({ siteId, rateBps }) => (bytes.get(siteId) ?? 0) / rateBps);
    const spread = Math.max(...seconds) - Math.min(...seconds);
    // No site is further ahead than one piece at its own rate.
    assert.ok(spread <= 500 / 1000 + 1e-6, `seed ${seed}: ${spread} s apart`);
  }
});

test("2: a site without a rate goes before none that has one, and leftover goes in the plan's order", () => {
  const shares = new Shares();
  shares.set([
    { siteId: 7, rateBps: 0, headStart: 0 },
    { siteId: 5, rateBps: 100, headStart: 0 },
    { siteId: 6, rateBps: 0, headStart: 0 },
  ]);
  shares.charge(5, 1e9);
  const order = [9, 6, 5, 7].toSorted((a, b) => shares.rankOf(a) - shares.rankOf(b));
  assert.deepEqual(order, [5, 7, 6, 9]);
});

test("2: who is to have all it can take goes before shares, and a head start before everything", () => {
  const shares = new Shares();
  shares.set([
    { siteId: 1, rateBps: Infinity, headStart: 0 },
    { siteId: 2, rateBps: 100, headStart: 0 },
    { siteId: 3, rateBps: Infinity, headStart: 0 },
    { siteId: 4, rateBps: 0, headStart: 2 },
  ]);
  const order = (): number[] =>
    [1, 2, 3, 4].toSorted((a, b) => shares.rankOf(a) - shares.rankOf(b));
  shares.charge(1, 1e9);
  assert.deepEqual(order(), [4, 1, 3, 2]);
  shares.ended(4);
  assert.deepEqual(order(), [4, 1, 3, 2]);
  shares.ended(4);
  assert.deepEqual(order(), [1, 3, 2, 4]);
});

test("3: who could not use its share does not keep others waiting for it later", () => {
  const shares = new Shares();
  shares.set([
    { siteId: 1, rateBps: 1000, headStart: 0 },
    { siteId: 2, rateBps: 1000, headStart: 0 },
  ]);
  serve(shares, [1], () => 100, 1000);
  const bytes = serve(shares, [1, 2], () => 100, 100);
  const early = bytes.get(2) ?? 0;
  // Half a second of its rate at once, then half of what comes.
  assert.ok(early <= 500 + 100 * 100 * 0.5 + 100, `${early} bytes`);
  assert.ok(early >= 5000);
});

test("at most so many sites run, the first in the plan's order", () => {
  const shares = new Shares();
  const claims = [3, 1, 2].map((siteId) => ({ siteId, rateBps: 10, headStart: 0 }));
  shares.set(claims, 2);
  assert.deepEqual(
    [1, 2, 3, 4].map((siteId) => shares.mayRun(siteId)),
    [true, false, true, false],
  );
});

test("what a site gets tells of its server only where nothing of ours comes before it", () => {
  const shares = new Shares();
  shares.set([
    { siteId: 1, rateBps: Infinity, headStart: 0 },
    { siteId: 2, rateBps: Infinity, headStart: 0, isRest: true },
    { siteId: 3, rateBps: 100, headStart: 0 },
    { siteId: 4, rateBps: 0, headStart: 1 },
  ]);
  assert.deepEqual(
    [1, 2, 3, 4].map((siteId) => shares.isFree(siteId)),
    [true, false, false, true],
  );
});
