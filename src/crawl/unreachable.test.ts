import assert from "node:assert/strict";
import { test } from "node:test";
import { Queue } from "./queue.ts";
import { addUrl, pageWith, type Served, SmallCrawl } from "./small-crawl.suite.ts";
import { Unreachable } from "./unreachable.ts";

const MINUTE_MS = 60_000;

test("a site that is down for 20 minutes stays pending, is probed, and is stored in the end", async () => {
  const crawl = new SmallCrawl({
    web: { "http://a.example/": pageWith("/1", "/2"), "http://b.example/": pageWith() },
    seeds: ["http://a.example/", "http://b.example/"],
    settings: { patienceMs: 24 * 60 * MINUTE_MS },
  });
  const down: Served = "refuse";
  serve(crawl, "http://a.example", down);
  const { done } = crawl.start();
  await crawl.clock.runFor(20 * MINUTE_MS);
  const probes = crawl.requests.filter(({ url }) => url.startsWith("http://a.example")).length;
  assert.ok(probes > 3 && probes < 100, `${probes} probes in 20 minutes`);
  delete crawl.web["http://a.example/robots.txt"];
  crawl.web["http://a.example/"] = pageWith("/1", "/2");
  for (const path of ["/1", "/2"]) crawl.web[`http://a.example${path}`] = pageWith(path);
  const { pages, complete, unreachable } = await crawl.clock.runUntil(done);
  assert.deepEqual([pages, complete, unreachable.count], [4, true, 0]);
});

test("without patience the crawl ends incomplete, names the site, and the same crawl resumes it", async () => {
  const web = {
    "http://a.example/": "refuse" as Served,
    "http://a.example/robots.txt": "refuse" as Served,
  };
  const first = new SmallCrawl({ web, settings: { patienceMs: MINUTE_MS } });
  const result = await first.run();
  assert.deepEqual([result.complete, result.stoppedBy], [false, "1 site could not be reached"]);
  const [site] = result.unreachable.first;
  assert.deepEqual(
    [site?.site, site?.pending, site?.reason],
    ["http://a.example", 1, "connect_refused"],
  );
  const { disk, clock } = first;
  const again = new SmallCrawl({ web: { "http://a.example/": pageWith() }, disk, clock });
  const { pages, complete } = await again.run();
  assert.deepEqual([pages, complete], [1, true]);
});

test("when one site responds after silence, all others are probed at once", async () => {
  const hosts = Array.from({ length: 20 }, (_, at) => `http://s${at}.example`);
  const web = Object.fromEntries(
    hosts.flatMap((host) => [
      [`${host}/`, pageWith()],
      [`${host}/robots.txt`, { status: 404 }],
    ]),
  );
  const crawl = new SmallCrawl({
    web,
    seeds: hosts.map((host) => `${host}/`),
    settings: { patienceMs: 24 * 60 * MINUTE_MS },
  });
  crawl.isNameServerDown = true;
  const { done } = crawl.start();
  await crawl.clock.runFor(20 * MINUTE_MS);
  assert.equal(crawl.requests.length, 0);
  crawl.isNameServerDown = false;
  const backAtMs = crawl.clock.nowMs();
  const { pages, complete } = await crawl.clock.runUntil(done);
  assert.deepEqual([pages, complete], [20, true]);
  const [first] = crawl.requests;
  assert.ok(first !== undefined);
  const lastAtMs = Math.max(...crawl.requests.map(({ atMs }) => atMs));
  assert.ok(lastAtMs - first.atMs < 1000, `${lastAtMs - first.atMs} ms after the first response`);
  assert.ok(first.atMs - backAtMs <= 10 * MINUTE_MS, "one of them is probed within its pause");
});

test("ten seconds without any response make the next one a reason to probe all sites", async () => {
  for (const [silentMs, isProbed] of [
    [9900, false],
    [10_000, true],
  ] as const) {
    const crawl = new SmallCrawl();
    const context = crawl.context();
    const queue = new Queue(context);
    const unreachable = new Unreachable(context, queue);
    const [down, up] = ["http://down.example/", "http://up.example/"].map(
      (url) => addUrl(context, url).site,
    );
    assert.ok(down !== undefined && up !== undefined);
    // Down for an hour, so its next probe is minutes away.
    const sinceMs = crawl.clock.nowMs() - 60 * MINUTE_MS;
    const reason = "connect_timeout";
    const outage = { siteId: down.id, sinceMs, untilMs: -Infinity, reason, detail: "" } as const;
    context.sites.outages.set(down.key, { ...outage });
    queue.wake(down);
    unreachable.startFailed(down, reason, "");
    await crawl.clock.runFor(silentMs);
    unreachable.ended(up, "ok");
    await crawl.clock.runFor(1);
    assert.equal(down.awake, isProbed, `${silentMs} ms`);
    unreachable.stop();
  }
});

test("a site that responds to an earlier request has its place again at once", () => {
  const crawl = new SmallCrawl({ web: { "http://a.example/": pageWith() } });
  const context = crawl.context();
  const { sites } = context;
  const queue = new Queue(context);
  const unreachable = new Unreachable(context, queue);
  const { site } = addUrl(context, "http://a.example/");
  queue.wake(site);
  unreachable.startFailed(site, "connect_timeout", "");
  assert.deepEqual([site.state, sites.isHeldBack(site)], ["unreachable", true]);
  unreachable.ended(site, "ok");
  assert.deepEqual([site.state, sites.outages.size], ["locating", 0]);
  unreachable.stop();
});

/** All URLs of a host are served in this way. */
function serve(crawl: SmallCrawl, host: string, served: Served): void {
  for (const path of ["/", "/robots.txt"]) crawl.web[host + path] = served;
}
