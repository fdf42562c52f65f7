import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_TRAFFIC } from "../fetch/transport.ts";
import { Politeness, POLITENESS_DEFAULTS } from "../frontier/politeness.ts";
import { requestFor } from "./requests.ts";
import { Retries } from "./retries.ts";
import { addUrl, pageWith, SmallCrawl, type SmallWeb } from "./small-crawl.suite.ts";

const SITE = "http://a.example";

test("a URL that always fails costs its retries and nothing else: all other pages are stored", async () => {
  const web: SmallWeb = {
    [`${SITE}/`]: pageWith("/bad", ...numbered(30)),
    [`${SITE}/bad`]: { status: 503 },
  };
  for (const path of numbered(30)) web[`${SITE}${path}`] = pageWith(path);
  const crawl = new SmallCrawl({ web, settings: { retriesMax: 2 } });
  const { pages, complete, outcomes, sites } = await crawl.run();
  assert.deepEqual([pages, complete, outcomes["http_503"]], [31, true, 1]);
  assert.equal(sites.length, 1);
  const tries = crawl.pathsRequested.filter((path) => path === "/bad").length;
  assert.ok(tries >= 3 && tries <= 4, `${tries} requests of the bad URL`);
});

test("a retry waits for 1, 4 and 16 s, the last one only 1 s, behind the other URLs", () => {
  const { retries, site, row, context } = oneRequest();
  const waits: number[] = [];
  for (let attempts = 0; attempts <= 3; attempts++) {
    const result = failed("first_byte_timeout");
    assert.equal(retries.putBehind(site, { ...row, attempts }, result), "retry");
    waits.push((site.trial(row.id)?.notBeforeMs ?? 0) - context.clock.nowMs());
    site.ended(row.id, 0);
    site.reopened();
  }
  assert.deepEqual(waits, [1000, 4000, 16_000, 1000]);
});

test("no pause before a retry is longer than a minute", () => {
  const { retries, site, row, context } = oneRequest({ retriesMax: 9 });
  retries.putBehind(site, { ...row, attempts: 6 }, failed("first_byte_timeout"));
  assert.equal((site.trial(row.id)?.notBeforeMs ?? 0) - context.clock.nowMs(), 60_000);
});

test("a failure is charged only when the site responds to a later request", () => {
  const { retries, site, row, context, crawl } = oneRequest();
  const other = addUrl(context, `${SITE}/other`).row;
  const first = context.requests.begin(site, taken(row));
  retries.begin(first);
  retries.learn(first, "first_byte_timeout");
  retries.putBehind(site, row, failed("first_byte_timeout"));
  assert.equal(site.trial(row.id)?.attempts, 0);
  const later = context.requests.begin(site, taken(other));
  retries.begin(later);
  retries.learn(later, "ok");
  assert.deepEqual([site.trial(row.id)?.attempts, crawl.eventsOf("urlCharged").length], [1, 1]);
});

test("during an outage of the site no URL is charged", () => {
  const { retries, site, row, context } = oneRequest();
  const rows = [row, ...numbered(5).map((path) => addUrl(context, SITE + path).row)];
  for (const one of rows) {
    const request = context.requests.begin(site, taken(one));
    retries.begin(request);
    retries.learn(request, "conn_reset");
    retries.putBehind(site, one, failed("conn_reset"));
  }
  assert.deepEqual(
    rows.map(({ id }) => site.trial(id)?.attempts),
    rows.map(() => 0),
  );
});

test("when only failed URLs are left on the workbench, the site is in doubt", () => {
  const { retries, site, row, crawl, context } = oneRequest();
  site.woken();
  const to = { siteId: site.id, address: "203.0.113.1", delayMs: 0, addressDelayMs: 0 };
  site.placed(to);
  context.workbench.open(to);
  context.workbench.put(site.id, requestFor(row));
  context.workbench.take(context.clock.nowMs(), undefined);
  retries.putBehind(site, row, failed("conn_reset"));
  assert.equal(crawl.eventsOf("siteDoubted").length, 1);
});

function oneRequest({ retriesMax } = { retriesMax: 3 }) {
  const crawl = new SmallCrawl({ settings: { retriesMax } });
  const context = crawl.context();
  return { crawl, context, retries: new Retries(context), ...addUrl(context, `${SITE}/`) };
}

function taken(row: Parameters<typeof requestFor>[0]) {
  const politeness = new Politeness(POLITENESS_DEFAULTS);
  const to = { siteId: row.siteId, address: undefined, delayMs: 0, addressDelayMs: 0 };
  const turn = politeness.begin(0, to);
  return { entry: requestFor(row), turn, overtaken: 0, passedOverMs: 0 };
}

function failed(reason: "first_byte_timeout" | "conn_reset") {
  const times = { atMs: 0, durationMs: 0, traffic: NO_TRAFFIC };
  return { kind: "failed", reason, detail: "", address: "", reply: undefined, ...times } as const;
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `/page${at}`);
}
