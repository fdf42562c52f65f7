import assert from "node:assert/strict";
import { test } from "node:test";
import type { CrawledPage } from "./hooks.ts";
import { pageWith, SmallCrawl, type SmallPlan, type SmallWeb } from "./small-crawl.suite.ts";

const HOME = "http://a.example/";

test("invariant 3: a page, its links and its outcome are in the same commit", async () => {
  const web: SmallWeb = {};
  for (let at = 0; at < 50; at++)
    web[`http://a.example/${at}`] = pageWith(`/${at + 1}`, `/${at + 50}`);
  const crawl = new SmallCrawl({ web, seeds: ["http://a.example/0"] });
  const { store } = crawl.parts;
  const commit = store.commit.bind(store);
  let pages = 0;
  store.commit = (batch) => {
    const ok = batch.settled.filter(({ reason }) => reason === "ok").map(({ id }) => id);
    assert.deepEqual(batch.pages.map(({ id }) => id).sort(), ok.sort());
    pages += batch.pages.length;
    commit(batch);
    for (const { id } of batch.pages) {
      const at = Number(new URL(store.url(id)?.url ?? HOME).pathname.slice(1));
      const next = store.sites()[Symbol.iterator]().next().value?.known ?? 0;
      assert.ok(next > at, "the links of a stored page are known");
    }
  };
  await crawl.run();
  assert.equal(pages, 50);
});

test("all links of a page are taken, however many it has", async () => {
  const links = Array.from({ length: 4500 }, (_, at) => `/page/${String(at).padStart(4, "0")}`);
  const settings = { pagesMax: 1, patternUrlsMax: 10_000 };
  const { urls } = await run({ web: { [HOME]: pageWith(...links) }, settings });
  assert.equal(urls.known, 4501);
});

test("exact copies are found and stored once, also when they arrive at the same time", async () => {
  const paths = Array.from({ length: 8 }, (_, at) => `/copy${at}`);
  const web: SmallWeb = { [HOME]: pageWith(...paths) };
  for (const path of paths) web[`http://a.example${path}`] = "<title>copy</title>same words";
  const crawl = new SmallCrawl({ web, settings: { concurrencyPerSite: 8, nearDuplicates: false } });
  const { pages, duplicates } = await crawl.run();
  assert.deepEqual([pages, duplicates.exact], [9, 7]);
  assert.equal(crawl.archive.records.length, 9, "each copy has its record");
});

test("a page that has not changed since the last crawl is no duplicate of itself", async () => {
  const web = { [HOME]: pageWith() };
  const first = new SmallCrawl({ web });
  await first.run();
  const { disk, clock } = first;
  const again = new SmallCrawl({ web, disk, clock, settings: { refresh: true } });
  const { pages, duplicates, sites } = await again.run();
  assert.deepEqual([pages, duplicates.exact], [1, 0]);
  assert.equal(sites[0]?.roundPages.unchanged, 1);
});

test("a 304 response keeps the record, with a new date", async () => {
  const etag: readonly [string, string] = ["etag", '"one"'];
  const web: SmallWeb = { [HOME]: { body: pageWith(), headers: [etag] } };
  const first = new SmallCrawl({ web });
  await first.run();
  const { disk, clock } = first;
  await clock.runFor(60_000);
  web[HOME] = { status: 304, headers: [etag] };
  const again = new SmallCrawl({ web, seeds: [HOME], disk, clock, settings: { refresh: true } });
  const before = again.store.page(1);
  const { outcomes, pages } = await again.clock.runUntil(again.start().done);
  const after = again.store.page(1);
  assert.deepEqual([outcomes, pages], [{ not_modified: 1 }, 1]);
  assert.deepEqual(after?.digest, before?.digest);
  assert.ok((after?.fetchedAtMs ?? 0) >= (before?.fetchedAtMs ?? 0) + 60_000);
});

test("a hook gets each page once, before it is stored, and its error ends the crawl", async () => {
  const seen: CrawledPage[] = [];
  const web = { [HOME]: pageWith("/1"), "http://a.example/1": "<title>one</title>words" };
  await run({ web, hooks: { onPage: (page) => void seen.push(page) } });
  assert.deepEqual(
    seen.map(({ url, title }) => [url, title]),
    [
      [HOME, "page"],
      ["http://a.example/1", "one"],
    ],
  );
  const fails = { onPage: () => assert.fail("the hook failed") };
  const crawl = new SmallCrawl({ web, hooks: fails });
  await assert.rejects(crawl.run(), /the hook failed/);
  assert.equal(crawl.store.totals.pages, 0);
});

test("a refresh in a page is followed like a redirect, up to the same limit", async () => {
  const web: SmallWeb = {};
  for (let at = 0; at < 9; at++)
    web[`http://a.example/${at}`] = `<meta http-equiv=refresh content="0; url=/${at + 1}">${at}`;
  const plan = { web, seeds: ["http://a.example/0"], settings: { redirectsMax: 3 } };
  const { pages, refusedLinks } = await run(plan);
  assert.deepEqual([pages, refusedLinks["redirect_limit"]], [4, 1]);
});

function run(plan: SmallPlan) {
  return new SmallCrawl(plan).run();
}
