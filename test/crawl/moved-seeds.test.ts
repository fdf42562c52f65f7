/** Seeds whose servers redirect to another host: each is followed, and its new host belongs to the scope. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../src/base/log.ts";
import { randomFrom } from "../../src/base/random.ts";
import type { Settings } from "../../src/config/schema.ts";
import { defaultSettings } from "../../src/config/sources.ts";
import { startCrawl } from "../../src/crawl/crawl.ts";
import { plainLine } from "../../src/crawl/limit/link-budget.ts";
import { fetcherOptions } from "../../src/crawl/open.ts";
import type { CrawlResult } from "../../src/control/snapshot.ts";
import { Fetcher } from "../../src/fetch/fetcher.ts";
import type { Resolver } from "../../src/fetch/resolver.ts";
import type { Conduct } from "../../src/lab/faults.ts";
import { SimClock } from "../../src/lab/sim-clock.ts";
import { SimTransport } from "../../src/lab/sim-transport.ts";
import { MemoryDisk } from "../../src/lab/memory-disk.ts";
import type { CanonicalUrl } from "../../src/url/url.ts";

const resolver: Resolver = {
  resolve: () => Promise.resolve({ kind: "addresses", addresses: ["192.0.2.1"] }),
};

/** `old-N.test` redirects to `new-N.test`, whose pages / and /1 link to /1 and /2. */
function conductOf({ host, path }: { readonly host: string; readonly path: string }): Conduct {
  const isOld = host.startsWith("old-");
  const headers = isOld
    ? [["location", `http://${host.replace("old", "new")}/`] as const]
    : [["content-type", "text/html"] as const];
  const next = Number(path.slice(1)) + 1;
  const body = Buffer.from(isOld || next > 2 ? host + path : `<a href=/${next}>${host}${path}</a>`);
  const answer = { status: isOld ? 301 : 200, statusText: "OK", headers, body };
  return { connect: "accept", latencyMs: 5, answer, speedBps: 1e9, breaksOff: undefined };
}

async function crawlMoved(
  count: number,
  disk: MemoryDisk,
  changes: Partial<Settings> = {},
): Promise<CrawlResult> {
  const clock = new SimClock();
  const manners = { delayMs: 0, addressDelayMs: 0, ignoreRobots: true, sitemaps: false };
  const settings = { ...defaultSettings(), ...manners, ...changes };
  const transport = new SimTransport({ clock, conductOf });
  const store = disk.open();
  const handle = startCrawl({
    settings,
    seeds: Array.from({ length: count }, (_, at) => `http://old-${at}.test/` as CanonicalUrl),
    clock,
    random: randomFrom(1),
    store,
    resolver,
    fetcher: new Fetcher({ clock, resolver, transport, ...fetcherOptions(settings) }),
    output: undefined,
    log: silentLog,
    hooks: {},
    line: plainLine(settings, transport),
  });
  const result = await clock.runUntil(handle.done);
  await store.close();
  return result;
}

test("more than 10,000 seeds that moved to another host are all followed", async () => {
  const count = 10_020;
  const { outcomes } = await crawlMoved(count, new MemoryDisk(), { depthMax: 0 });
  assert.deepEqual(outcomes, { redirect: count, ok: count });
});

test("the new host of a moved seed is in scope, also for a run that resumes", async () => {
  const disk = new MemoryDisk();
  const first = await crawlMoved(3, disk, { pagesMax: 4, connectionsMax: 1 });
  assert.equal(first.pages, 4);
  assert.equal(first.complete, false);
  const { outcomes, refusedLinks } = await crawlMoved(3, disk);
  assert.deepEqual(outcomes, { redirect: 3, ok: 9 });
  assert.deepEqual(refusedLinks, {});
});
