import assert from "node:assert/strict";
import { test } from "node:test";
import { SiteAccounts } from "./site-accounts.ts";

const NONE = (): ReadonlySet<number> => new Set();

test("a site with a limit waits until it has earned what it took, others never", () => {
  const sites = new SiteAccounts(0.015);
  sites.setRate(0, 1, 1000, NONE);
  assert.equal(sites.mayRead(10, { siteId: 1 }), true);
  sites.spend({ siteId: 1 }, 500);
  assert.equal(sites.mayRead(100, { siteId: 1 }), false);
  assert.ok((sites.mayReadAtMs(100, { siteId: 1 }) ?? 0) > 400);
  assert.equal(sites.mayRead(100, { siteId: 2 }), true);
  assert.equal(sites.mayReadAtMs(100, { siteId: 2 }), undefined);
  sites.setRate(100, 1, undefined, NONE);
  assert.equal(sites.rateBps({ siteId: 1 }), Infinity);
});

test("of very many sites those are forgotten that have nothing under way", () => {
  const sites = new SiteAccounts(0.015);
  for (let siteId = 0; siteId <= 4096; siteId++) sites.setRate(0, siteId, 1000, () => new Set([7]));
  assert.equal(sites.rateBps({ siteId: 7 }), 1000);
  assert.equal(sites.rateBps({ siteId: 8 }), Infinity);
  assert.equal(sites.rateBps({ siteId: 4096 }), 1000, "the newest has just been given one");
});
