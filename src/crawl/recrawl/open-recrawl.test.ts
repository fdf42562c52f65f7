import assert from "node:assert/strict";
import { test } from "node:test";
import { makePage } from "../../store/store.suite.ts";
import { endUrl } from "../end-url.ts";
import { Queue } from "../queue.ts";
import { addUrl, SmallCrawl, type SmallPlan } from "../small-crawl.suite.ts";
import { RecrawlOpening } from "./open-recrawl.ts";

const COUNT = 1200;

test("all known URLs wait again, in portions, and the site is woken after the last one", async () => {
  const { crawl, site, opening, calls } = endedSite();
  opening.add(site, "refresh");
  assert.deepEqual([site.state, opening.isBusy], ["opening", true]);
  await crawl.clock.runFor(0);
  assert.equal(site.pending, 500, "one portion");
  assert.equal(site.state, "opening");
  await crawl.clock.runFor(10);
  assert.deepEqual([site.pending, site.state, opening.isBusy], [COUNT, "locating", false]);
  assert.equal(calls.opened, 1);
});

test("a scheduled recrawl leaves out URLs that are unlikely to have changed", async () => {
  const { crawl, site, opening } = endedSite({ settings: { revisitChance: 1 } });
  opening.add(site, "scheduled");
  await crawl.clock.runFor(100);
  // Only the seed is requested, for new links.
  assert.deepEqual([site.pending, site.round.news.left], [1, COUNT - 1]);
});

test("progress is committed with the URLs, so the next process opens the rest", async () => {
  const { crawl, site, opening, context } = endedSite();
  opening.add(site, "refresh");
  await crawl.clock.runFor(0);
  opening.stop();
  assert.ok(context.batch.commit());
  const row = crawl.store.siteByKey(site.key);
  assert.ok(row?.round?.openedTo !== undefined && row.round.openedTo < COUNT);
  const waiting = crawl.store.waiting(site.id, COUNT);
  assert.ok(waiting.every(({ id }) => id <= (row.round?.openedTo ?? 0)));
  assert.equal(waiting.length, row.pending);
  await crawl.clock.runFor(1000);
  assert.equal(site.pending, row.pending, "nothing is opened after a stop");
});

function endedSite(plan: SmallPlan = {}) {
  const crawl = new SmallCrawl(plan);
  const context = crawl.context();
  const fetchedAtMs = context.clock.wallMs();
  const { site } = addUrl(context, "http://a.example/");
  for (let at = 1; at < COUNT; at++) addUrl(context, `http://a.example/${at}`, 1);
  for (const row of context.batch.waiting(site.id, COUNT)) {
    context.batch.addPage({ ...makePage(row.id, row.id), fetchedAtMs });
    endUrl(context, site, row, { reason: "ok" });
  }
  assert.ok(context.batch.commit());
  site.roundBegins({ ...site.round, number: 2, openedTo: 0 }, false);
  const calls = { opened: 0 };
  const opened = (): void => void (calls.opened += 1);
  const opening = new RecrawlOpening(context, new Queue(context), opened);
  return { crawl, context, site, opening, calls };
}
