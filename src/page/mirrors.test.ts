import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { type Copy, mirrorsAmong } from "./mirrors.ts";

function copies(count: number, siteId: number, ofSiteId: number): Copy[] {
  return Array.from({ length: count }, () => ({ siteId, ofSiteId }));
}

test("a site is a mirror of another that has most of its pages, in any order of download", () => {
  const pages = new Map([
    [1, 100],
    [2, 90],
    [3, 100],
  ]);
  const all = [...copies(40, 1, 2), ...copies(45, 2, 1), ...copies(20, 3, 1), ...copies(9, 3, 2)];
  assert.deepEqual(
    mirrorsAmong(all, (site) => pages.get(site) ?? 0),
    [{ siteId: 2, ofSiteId: 1, pagesShared: 85, share: 85 / 90 }],
  );
});

test("copies within a site do not make a mirror", () => {
  assert.deepEqual(
    mirrorsAmong(copies(500, 4, 4), () => 500),
    [],
  );
});

test("the order of copies does not matter", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const all = Array.from({ length: 200 }, () => ({
      siteId: 1 + below(random, 4),
      ofSiteId: 1 + below(random, 4),
    }));
    const found = mirrorsAmong(all, pagesOf);
    assert.deepEqual(mirrorsAmong(all.toReversed(), pagesOf).sort(bySites), found.sort(bySites));
    for (const { share } of found) assert.ok(share >= 0.5 && share <= 1, `seed ${seed}`);
  }
});

function bySites(a: Copy, b: Copy): number {
  return a.siteId - b.siteId || a.ofSiteId - b.ofSiteId;
}

function pagesOf(site: number): number {
  return 10 * site;
}
