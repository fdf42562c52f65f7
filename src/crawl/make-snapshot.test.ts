import assert from "node:assert/strict";
import { test } from "node:test";
import { measuredRate, resultOf } from "./make-snapshot.ts";
import { Meter } from "../bandwidth/history/meter.ts";
import { addUrl, pageWith, SmallCrawl, type SmallWeb } from "./small-crawl.suite.ts";
import { wire } from "./wire.ts";

test("the state of a site follows its crawl", async () => {
  const web: SmallWeb = { "http://a.example/": pageWith("/1"), "http://a.example/1": pageWith() };
  const crawl = new SmallCrawl({ web, settings: { delayMs: 10_000 } });
  const handle = crawl.start();
  const seen: string[] = [];
  const look = (): void => {
    const [site] = handle.snapshot().sites;
    if (site !== undefined && seen.at(-1) !== site.state) seen.push(site.state);
    crawl.clock.after(1, look);
  };
  look();
  await crawl.clock.runUntil(handle.done);
  const page = ["polite delay", "ready", "fetching"];
  const states = ["locating", "robots", ...page, ...page];
  assert.deepEqual(seen, states);
});

test("a site without an IP address is shown as unreachable, with the time of its probe", async () => {
  const crawl = new SmallCrawl({ web: { "http://a.example/": pageWith() } });
  crawl.isNameServerDown = true;
  const handle = crawl.start();
  await crawl.clock.runFor(1000);
  const { sites, unreachable, state } = handle.snapshot();
  assert.deepEqual([sites[0]?.state, unreachable, state], ["unreachable", 1, "paused"]);
  assert.ok((sites[0]?.nextInMs ?? 0) > 0);
  crawl.isNameServerDown = false;
  await crawl.clock.runUntil(handle.done);
});

test("sites with deadlines are shown first, and at most 100", async () => {
  const seeds = Array.from({ length: 150 }, (_, at) => `http://s${at}.example/`);
  const web = Object.fromEntries(seeds.map((seed) => [seed, pageWith()]));
  const crawl = new SmallCrawl({ web, seeds });
  const handle = crawl.start();
  handle.setDeadline("http://s140.example", 60_000);
  const { sites, siteCount } = handle.snapshot();
  assert.deepEqual([sites.length, siteCount, sites[0]?.site], [100, 150, "http://s140.example"]);
  const result = await crawl.clock.runUntil(handle.done);
  assert.equal(result.sites.length, 150);
  const due = result.sites.find(({ site }) => site === "http://s140.example");
  assert.deepEqual([due?.deadlineSeconds, due?.met], [60, true]);
});

test("the pace is that of the last ten seconds", async () => {
  const seeds = Array.from({ length: 40 }, (_, at) => `http://a.example/${at}`);
  const web = Object.fromEntries(seeds.map((seed) => [seed, pageWith() + seed]));
  const crawl = new SmallCrawl({ web, seeds, settings: { delayMs: 1000 } });
  const handle = crawl.start();
  await crawl.clock.runFor(25_000);
  const { pagesPerSecond, remainingMs, pending } = handle.snapshot();
  assert.ok(Math.abs(pagesPerSecond - 1) < 0.15, `${pagesPerSecond} pages per second`);
  assert.ok(Math.abs((remainingMs ?? 0) - pending * 1000) < pending * 150);
  handle.hold("test", true);
  await crawl.clock.runFor(12_500);
  assert.equal(handle.snapshot().pagesPerSecond, 0);
  handle.hold("test", false);
  await crawl.clock.runUntil(handle.done);
});

test("the accounts of the result add up, in total and over the sites", async () => {
  const web: SmallWeb = {
    "http://a.example/": pageWith("/1", "/missing"),
    "http://a.example/1": pageWith() + "one",
    "http://b.example/": pageWith("/closed"),
    "http://b.example/robots.txt": { body: "User-agent: *\nDisallow: /closed" },
  };
  const crawl = new SmallCrawl({ web, seeds: ["http://a.example/", "http://b.example/"] });
  const { urls, outcomes, sites, pages, bytes, ledger } = await crawl.run();
  assert.deepEqual(urls, { known: 5, done: 3, failed: 1, skipped: 1, pending: 0 });
  assert.deepEqual(outcomes, { ok: 3, http_404: 1, robots_denied: 1 });
  const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);
  assert.equal(sum(sites.map((site) => site.pages)), pages);
  assert.equal(sum(sites.map((site) => site.bytes)), bytes);
  assert.equal(sum(Object.values(ledger.byPurpose)), bytes);
});

test("a result lists 10,000 sites, and counts all of them", () => {
  const crawl = new SmallCrawl();
  const wired = wire(crawl.parts, new AbortController().signal, () => undefined);
  const { context } = wired;
  for (let at = 0; at < 10_020; at++) addUrl(context, `http://s${at}.example/`);
  assert.ok(context.batch.commit());
  const moment = { nowMs: crawl.clock.nowMs(), startedAtMs: crawl.clock.nowMs() };
  const result = resultOf({ wired, ...moment, stoppedBy: "test", modelDigest: undefined });
  assert.deepEqual([result.sites.length, result.urls.known], [10_000, 10_020]);
});

test("the share of the limit is what was received, over the time", () => {
  const meter = new Meter(0);
  assert.deepEqual(
    [measuredRate(meter, undefined, 1000).utilisation, measuredRate(meter, 500, 0).meanBps],
    [null, 0],
  );
});
