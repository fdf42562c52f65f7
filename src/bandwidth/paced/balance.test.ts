import assert from "node:assert/strict";
import { test } from "node:test";
import { Balance, SiteBalances } from "./balance.ts";

test("a balance earns its rate and pays a debt back by time", () => {
  const balance = new Balance(0, 1000);
  balance.spend(0, 500);
  assert.equal(balance.bytes(250), -250);
  assert.equal(balance.positiveAtMs(), 501);
  assert.equal(balance.bytes(200), -250, "the clock does not go backwards");
});

test("a silence saves 30 ms of the rate, and no more", () => {
  const balance = new Balance(0, 1000);
  assert.equal(balance.bytes(20), 20);
  assert.equal(balance.bytes(60_000), 30);
  balance.spend(60_000, -100);
  assert.equal(balance.bytes(60_001), 130, "bytes that are given back are kept");
});

test("a lower rate shrinks savings and debts, a higher one keeps them", () => {
  const balance = new Balance(0, 1000);
  balance.spend(0, 400);
  balance.setRate(0, 500);
  assert.equal(balance.bytes(0), -200);
  balance.setRate(0, 5000);
  assert.equal(balance.bytes(0), -200);
});

test("a site without a limit may always read, one with a limit as far as it has earned", () => {
  const sites = new SiteBalances();
  const nobody = (): Set<number> => new Set();
  sites.setRate(0, 1, 1000, nobody);
  sites.spend(0, { siteId: 1 }, 99);
  assert.equal(sites.mayRead(0, { siteId: 1 }), false);
  assert.equal(sites.mayReadAtMs(0, { siteId: 1 }), 100);
  assert.equal(sites.mayRead(100, { siteId: 1 }), true);
  assert.equal(sites.mayRead(0, { siteId: 2 }), true);
  assert.equal(sites.rateBps({ siteId: 2 }), Infinity);
  sites.setRate(100, 1, undefined, nobody);
  assert.equal(sites.rateBps({ siteId: 1 }), Infinity);
});

test("beyond 4,096 sites with a limit, those without downloads are forgotten", () => {
  const sites = new SiteBalances();
  const busy = (): Set<number> => new Set([7]);
  for (let siteId = 0; siteId < 4096; siteId++) sites.setRate(0, siteId, 1000, busy);
  assert.equal(sites.rateBps({ siteId: 8 }), 1000);
  sites.setRate(0, 4096, 1000, busy);
  assert.deepEqual(
    [7, 8, 4096].map((siteId) => sites.rateBps({ siteId })),
    [1000, Infinity, 1000],
  );
});
