import assert from "node:assert/strict";
import { test } from "node:test";
import { OPEN, rulesFor } from "../fetch/robots.ts";
import { Queue } from "./queue.ts";
import { retryFor } from "./requests.ts";
import type { Site } from "./site.ts";
import { addUrl, pageWith, SmallCrawl, type SmallPlan } from "./small-crawl.suite.ts";

test("the rules of a site are stored before its first page is requested", async () => {
  const urls = Array.from({ length: 20 }, (_, at) => `http://s${at}.example/`);
  const crawl = new SmallCrawl({
    web: Object.fromEntries(urls.map((url) => [url, pageWith()])),
    seeds: urls,
  });
  const unstored: string[] = [];
  const { fetcher, store } = crawl.parts;
  const fetch = fetcher.fetch.bind(fetcher);
  fetcher.fetch = (asked) => {
    const { origin, pathname } = new URL(asked.url);
    const isPage = pathname !== "/robots.txt";
    if (isPage && store.siteByKey(origin)?.robots === undefined) unstored.push(asked.url);
    return fetch(asked);
  };
  const { pages } = await crawl.run();
  assert.deepEqual([pages, unstored], [20, []]);
});

test("a site has at most 256 URLs on the workbench, the rest comes from the store", () => {
  const { context, queue } = newQueue();
  let site: Site | undefined;
  for (let at = 0; at < 1000; at++) ({ site } = addUrl(context, `http://a.example/${at}`));
  assert.ok(site !== undefined);
  makeReady(queue, context, site);
  assert.equal(context.workbench.queued(site.id), 256);
  queue.refill(site);
  assert.equal(context.workbench.queued(site.id), 256);
});

test("URLs that robots.txt forbids end without a request", () => {
  const { context, queue, crawl } = newQueue();
  const { site } = addUrl(context, "http://a.example/open");
  addUrl(context, "http://a.example/closed");
  const rules = rulesFor(200, Buffer.from("User-agent: *\nDisallow: /closed"), "weir");
  makeReady(queue, context, site, rules);
  assert.deepEqual([site.pending, context.workbench.queued(site.id)], [1, 1]);
  const [end] = crawl.eventsOf("urlEnded");
  assert.deepEqual(
    [end?.reason, end?.detail],
    ["robots_denied", "robots.txt line 2: Disallow: /closed"],
  );
});

test("a new URL goes to the workbench only if its site is ready, and wakes a sleeping site", () => {
  const { context, queue, crawl } = newQueue();
  const first = addUrl(context, "http://a.example/1");
  queue.feed(first.site, first.row);
  assert.equal(first.site.state, "locating");
  assert.equal(crawl.eventsOf("siteWoken").length, 1);
  makeReady(queue, context, first.site);
  const second = addUrl(context, "http://a.example/2");
  queue.feed(second.site, second.row);
  assert.deepEqual(
    [...context.workbench.held(first.site.id).keys()],
    [first.row.id, second.row.id],
  );
});

test("128 of 256 sites in memory may be awake; others wake when an eighth of the places is free", () => {
  const { context, queue } = newQueue();
  const sites: Site[] = [];
  for (let at = 0; at < 200; at++) sites.push(addUrl(context, `http://s${at}.example/`).site);
  queue.wakeSites();
  assert.equal(context.sites.awakeCount, 128);
  const awake = sites.filter((site) => site.awake);
  for (const site of awake.splice(0, 15)) queue.endAll(site, "dns_nxdomain", "");
  queue.afterCommit();
  assert.equal(context.sites.awakeCount, 113);
  for (const site of awake.splice(0, 1)) queue.endAll(site, "dns_nxdomain", "");
  queue.afterCommit();
  assert.equal(context.sites.awakeCount, 128);
});

test("when the best sites go first, a site gives its place to one with 1.5 times its score", () => {
  const settings = { order: "topic", topic: "any" } as const;
  const { context, queue } = newQueue({ settings });
  const fed = (name: string, score: number): Site => {
    const { site, row } = addUrl(context, `http://${name}.example/`);
    context.batch.setScore(row.id, score);
    queue.feed(site, { ...row, score });
    return site;
  };
  const sites = Array.from({ length: 128 }, (_, at) => fed(`s${at}`, 1));
  for (const site of sites) makeReady(queue, context, site);
  assert.equal(fed("slightly-better", 1.4).awake, false);
  assert.equal(fed("better", 1.6).awake, true);
  assert.equal(sites.filter((site) => site.awake).length, 127);
});

test("a site with many retries gets no further URLs from the store", () => {
  for (const [retries, isRefilled] of [
    [120, true],
    [140, false],
  ] as const) {
    const { context, queue } = newQueue({ hooks: { score: () => 0 } });
    let site: Site | undefined;
    for (let at = 0; at < 300; at++) ({ site } = addUrl(context, `http://a.example/${at}`));
    assert.ok(site !== undefined);
    makeReady(queue, context, site);
    const { workbench } = context;
    const held = workbench.queued(site.id);
    assert.equal(held, 32);
    for (const row of context.batch.waiting(site.id, held)) workbench.withdraw(site.id, row.id);
    for (const row of context.batch.waiting(site.id, 300).slice(-retries))
      workbench.put(site.id, retryFor(row, 0));
    queue.refill(site);
    assert.equal(workbench.queued(site.id) > retries, isRefilled, `${retries} retries`);
  }
});

test("all waiting URLs of a site end with one reason, except those being requested", () => {
  const { context, queue } = newQueue();
  let site: Site | undefined;
  for (let at = 0; at < 30; at++) ({ site } = addUrl(context, `http://a.example/${at}`));
  assert.ok(site !== undefined);
  makeReady(queue, context, site);
  const taken = context.workbench.take(context.clock.nowMs(), undefined);
  assert.ok(taken !== undefined);
  context.requests.begin(site, taken);
  queue.endAll(site, "dns_nxdomain", "no such name");
  assert.deepEqual([site.pending, site.state], [1, "asleep"]);
  assert.equal(context.counters.outcome("dns_nxdomain"), 29);
});

test("a site sleeps when nothing waits, and not before its last file has been read", () => {
  const { context, queue } = newQueue();
  const { site, row } = addUrl(context, "http://a.example/");
  makeReady(queue, context, site);
  queue.sleepIfDone(site);
  assert.equal(site.awake, true);
  context.workbench.take(context.clock.nowMs(), undefined);
  context.batch.endUrl(site.id, { id: row.id, reason: "ok", attempts: 0 });
  site.ended(row.id, 0);
  queue.sleepIfDone(site);
  assert.equal(site.state, "ending");
  context.workbench.release(site.id, row.id);
  queue.sleepIfDone(site);
  assert.equal(site.state, "asleep");
});

function newQueue(plan: SmallPlan = {}) {
  const crawl = new SmallCrawl(plan);
  const context = crawl.context();
  return { crawl, context, queue: new Queue(context) };
}

/** As the name server, the robots.txt and the commit do it. */
function makeReady(
  queue: Queue,
  context: ReturnType<SmallCrawl["context"]>,
  site: Site,
  rules = OPEN,
): void {
  if (!site.awake) queue.wake(site);
  queue.open(site, { siteId: site.id, address: "203.0.113.1", delayMs: 0, addressDelayMs: 0 });
  site.ruled(rules, Infinity);
  queue.refillAfterCommit(site);
  assert.ok(context.batch.commit());
  queue.afterCommit();
}
