import assert from "node:assert/strict";
import { test } from "node:test";
import { endUrl } from "./end-url.ts";
import { addUrl, SmallCrawl } from "./small-crawl.suite.ts";

const FIRST = "http://a.example/1";

test("a URL ends in the batch, the counters and its site together, and only once", () => {
  const { crawl, context, site, row } = oneUrl();
  addUrl(context, "http://a.example/2");
  endUrl(context, site, row, { reason: "dns_nxdomain", detail: "no such name" });
  assert.equal(context.batch.url(row.id)?.reason, "dns_nxdomain");
  assert.deepEqual([site.pending, context.counters.pending], [1, 1]);
  assert.deepEqual(context.counters.failures, [
    { url: FIRST, reason: "dns_nxdomain", detail: "no such name" },
  ]);
  assert.equal(crawl.eventsOf("siteDone").length, 0);
  const second = context.batch.waiting(site.id, 9);
  assert.equal(second.length, 1);
  for (const left of second) endUrl(context, site, left, { reason: "ok" });
  assert.equal(crawl.eventsOf("siteDone").length, 1);
  assert.throws(() => endUrl(context, site, row, { reason: "ok" }), /invariant 4/);
});

test("a seed that a rule refuses is reported, a link is not", () => {
  const { context, site, row } = oneUrl();
  endUrl(context, site, row, { reason: "robots_denied", detail: "line 2" });
  const other = addUrl(context, "http://a.example/link");
  endUrl(context, site, { ...other.row, depth: 1 }, { reason: "robots_denied", detail: "line 2" });
  const { count, first } = context.counters.refusedSeeds;
  assert.deepEqual([count, first[0]?.url], [1, FIRST]);
});

test("visits are recorded for URLs of an earlier round, with what has changed", () => {
  for (const [hasChanged, kind] of [
    [true, "changed"],
    [false, "unchanged"],
  ] as const) {
    const { context, site, row } = oneUrl();
    endUrl(context, site, row, { reason: "ok" });
    assert.equal(context.batch.visits(row.id), undefined, "there is no recrawl yet");
    site.roundBegins({ ...site.round, number: 2 }, false);
    const visits = { checks: 0, changes: 0, watchedMs: 0, lastAtMs: 0, was: "ok" as const };
    context.batch.reopenUrl(site.id, { id: row.id, score: 0, visits });
    context.counters.reopened("ok");
    site.reopened();
    endUrl(context, site, row, { reason: "ok", hasChanged });
    assert.equal(site.round.news[kind], 1);
    const { checks, changes } = context.batch.visits(row.id) ?? {};
    assert.deepEqual([checks, changes], [1, hasChanged ? 1 : 0]);
  }
});

function oneUrl() {
  const crawl = new SmallCrawl();
  const context = crawl.context();
  return { crawl, context, ...addUrl(context, FIRST) };
}
