import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import { addUrl, SmallCrawl } from "./small-crawl.suite.ts";

test("a new site is announced once, and found again by its key and its id", () => {
  const crawl = new SmallCrawl();
  const { sites } = crawl.context();
  const site = sites.of("http://a.example");
  assert.equal(sites.of("http://a.example"), site);
  assert.equal(sites.byId(site.id), site);
  assert.deepEqual([sites.count, crawl.eventsOf("siteFound").length], [1, 1]);
});

test("sites with work are listed once, in order of id, stored or not", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = randomFrom(seed);
    const context = new SmallCrawl().context();
    const { sites, batch } = context;
    for (let step = 0; step < 40; step++) {
      const key = `http://s${Math.floor(random.next() * 12)}.example`;
      const site = sites.of(key);
      if (random.next() < 0.4 && site.pending > 0) site.ended(0, 0);
      else site.found(true);
      if (random.next() < 0.2) assert.ok(batch.commit());
      const wanted = [...sites.inMemory()].filter(({ pending }) => pending > 0);
      const ids = wanted.map(({ id }) => id).sort((a, b) => a - b);
      assert.deepEqual(
        sites.withWork(0, 99).map(({ id }) => id),
        ids,
        `seed ${seed}, ${step}`,
      );
      const after = ids[1] ?? 0;
      assert.deepEqual(
        sites.withWork(after, 2).map(({ id }) => id),
        ids.filter((id) => id > after).slice(0, 2),
        `seed ${seed}, ${step}`,
      );
    }
  }
});

test("only sites that sleep and are stored leave the memory, and come back as they were", () => {
  const crawl = new SmallCrawl();
  const context = crawl.context();
  const { sites, batch } = context;
  const awake = addUrl(context, "http://awake.example/").site;
  sites.wake(awake);
  const busy = addUrl(context, "http://busy.example/").site;
  busy.requestBegan();
  for (let at = 0; at < 1000; at++) addUrl(context, `http://s${at}.example/`);
  assert.ok(batch.commit());
  const kept = [...sites.inMemory()];
  assert.ok(kept.length < 1000, `${kept.length} sites in memory`);
  assert.ok(kept.includes(awake) && kept.includes(busy));
  const gone = Array.from({ length: 1000 }, (_, at) => `http://s${at}.example`).find(
    (key) => !kept.some((site) => site.key === key),
  );
  const again = sites.of(gone ?? "");
  assert.deepEqual([again.pending, again.known, again.state], [1, 1, "asleep"]);
});

test("a site is held back until its probe, and one that was dropped is still unreachable", () => {
  const crawl = new SmallCrawl();
  const context = crawl.context();
  const { sites } = context;
  const { site } = addUrl(context, "http://a.example/");
  const untilMs = crawl.clock.nowMs() + 1000;
  const outage = { siteId: site.id, sinceMs: 0, untilMs, reason: "connect_refused" as const };
  sites.outages.set(site.key, { ...outage, detail: "" });
  assert.equal(sites.isHeldBack(site), true);
  sites.wake(site);
  sites.sleep(site);
  assert.equal(site.state, "unreachable");
  assert.deepEqual([sites.awakeCount, crawl.eventsOf("siteAsleep").length], [0, 1]);
});

test("during a recrawl of all sites, one whose round began earlier is held back", () => {
  const context = new SmallCrawl().context();
  const { site } = addUrl(context, "http://a.example/");
  context.sites.recrawlSinceMs = site.round.startedWallMs + 1;
  assert.equal(context.sites.isHeldBack(site), true);
  context.sites.recrawlSinceMs = site.round.startedWallMs;
  assert.equal(context.sites.isHeldBack(site), false);
});
