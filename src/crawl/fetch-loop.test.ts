import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_TRAFFIC } from "../fetch/transport.ts";
import { pageWith, SmallCrawl, type SmallWeb } from "./small-crawl.suite.ts";

test("there are never more requests than connections, and all connections are used", async () => {
  for (const connectionsMax of [1, 5, 16]) {
    const crawl = new SmallCrawl({ ...manySites(60), settings: { connectionsMax } });
    const handle = crawl.start();
    let most = 0;
    const watch = (): void => {
      const { connectionsOpen } = handle.snapshot();
      assert.ok(connectionsOpen <= connectionsMax, `${connectionsOpen} of ${connectionsMax}`);
      most = Math.max(most, connectionsOpen);
      crawl.clock.after(1, watch);
    };
    watch();
    const { pages } = await crawl.clock.runUntil(handle.done);
    assert.deepEqual([pages, most], [60, connectionsMax]);
  }
});

test("the limit of pages is kept to the page, whatever is in progress", async () => {
  for (const pagesMax of [1, 7, 30]) {
    const crawl = new SmallCrawl({ ...manySites(40), settings: { pagesMax } });
    const { pages, complete, stoppedBy } = await crawl.run();
    assert.deepEqual([pages, complete, stoppedBy], [pagesMax, false, "pages limit"]);
    assert.equal(crawl.pathsRequested.length, pagesMax);
  }
});

test("a pause starts no request, and the crawl continues after it", async () => {
  const crawl = new SmallCrawl({ ...manySites(40), settings: { connectionsMax: 2 } });
  const handle = crawl.start();
  await crawl.clock.runFor(200);
  handle.hold("test", true);
  await crawl.clock.runFor(1000);
  const before = crawl.requests.length;
  assert.ok(before > 0 && before < 80, `${before} requests`);
  await crawl.clock.runFor(60_000);
  assert.equal(crawl.requests.length, before);
  handle.hold("test", false);
  assert.equal((await crawl.clock.runUntil(handle.done)).pages, 40);
});

test("the delay of a site is kept while other sites are requested", async () => {
  const web: SmallWeb = {};
  const seeds: string[] = [];
  for (const host of ["a", "b", "c"])
    for (const path of ["/1", "/2", "/3", "/4"]) seeds.push(`http://${host}.example${path}`);
  for (const seed of seeds) web[seed] = pageWith();
  const crawl = new SmallCrawl({ web, seeds, settings: { delayMs: 2000, ignoreRobots: true } });
  assert.equal((await crawl.run()).pages, 12);
  for (const host of ["a", "b", "c"]) {
    const times = crawl.requests.flatMap(({ url, atMs }) =>
      url.startsWith(`http://${host}.`) ? [atMs] : [],
    );
    const gaps = times.slice(1).map((atMs, at) => atMs - (times[at] ?? 0));
    assert.ok(
      gaps.every((gapMs) => gapMs >= 2000 && gapMs < 2100),
      `${host}: ${gaps.join(", ")}`,
    );
  }
});

test("without descriptors fewer requests run at a time, later more again, and no page is lost", async () => {
  const crawl = new SmallCrawl({ ...manySites(400), settings: { connectionsMax: 20 } });
  const { fetcher } = crawl.parts;
  const fetch = fetcher.fetch.bind(fetcher);
  let open = 0;
  let isShort = true;
  fetcher.fetch = async (asked) => {
    if (isShort && open >= 4) {
      const times = { atMs: 0, durationMs: 0, address: "", traffic: NO_TRAFFIC };
      const detail = "EMFILE";
      return { kind: "failed", reason: "local_resource", detail, reply: undefined, ...times };
    }
    open += 1;
    const result = await fetch(asked);
    open -= 1;
    return result;
  };
  const handle = crawl.start();
  await crawl.clock.runFor(500);
  const { connectionsMax } = handle.snapshot();
  assert.ok(connectionsMax >= 4 && connectionsMax <= 6, `${connectionsMax} connections`);
  const [warning] = crawl.logged.filter(({ level }) => level === "warn");
  assert.match(warning?.message ?? "", /no file descriptors or ports left/);
  isShort = false;
  const before = crawl.requests.length;
  const { pages, complete } = await crawl.clock.runUntil(handle.done);
  assert.deepEqual([pages, complete], [400, true]);
  const more = handle.snapshot().connectionsMax - connectionsMax;
  const calm = (crawl.requests.length - before) / 64;
  assert.ok(
    Math.abs(more - calm) <= 1.5 && calm > 6,
    `${more} more after ${calm} times 64 requests`,
  );
});

test("while 8 MiB of responses wait for a slow hook, no request starts", async () => {
  const { seeds } = manySites(40);
  const body = `<title>large</title>${" ".repeat(2 ** 20)}`;
  const web = Object.fromEntries(seeds.map((seed, at) => [seed, body + at]));
  const { promise, resolve } = Promise.withResolvers<void>();
  const settings = { connectionsMax: 10, ignoreRobots: true };
  const crawl = new SmallCrawl({ web, seeds, settings, hooks: { onPage: () => promise } });
  const handle = crawl.start();
  await crawl.clock.runFor(30_000);
  const count = crawl.requests.length;
  assert.ok(count >= 10 && count < 20, `${count} requests`);
  resolve();
  assert.equal((await crawl.clock.runUntil(handle.done)).pages, 40);
});

function manySites(count: number): { web: SmallWeb; seeds: string[] } {
  const seeds = Array.from({ length: count }, (_, at) => `http://s${at}.example/`);
  return { seeds, web: Object.fromEntries(seeds.map((seed) => [seed, pageWith()])) };
}
