import assert from "node:assert/strict";
import { test } from "node:test";
import type { DayMoment } from "../bandwidth/clock/day-kind.ts";
import { CrawlError } from "../base/errors.ts";
import { checkPlanOrder } from "../config/order.ts";
import { defaultsOf } from "../config/resolve.ts";
import { type Settings, SITE_SETTINGS } from "../config/schema.ts";
import { siteWishes } from "../config/site-wishes.ts";
import { gatherSettings } from "../config/sources.ts";
import type { Earlier, Knowledge } from "./plan-knowledge.ts";
import { planInput, type PlanInput, type PlannedSite } from "./plan-task.ts";

const NOON: DayMoment = { date: "2026-04-10", weekday: 4, minuteOfDay: 720, kind: "working" };
const SITE = "https://a.example";
const NOTHING: Knowledge = { earlier: new Map(), speeds: new Map(), usualBytes: 30_000 };
const MET: Earlier = {
  pending: 0,
  settled: 100,
  bytes: 4e6,
  bytesPerCrawlBefore: 0,
  robots: undefined,
};

/** Without delays, where a test is not about them. */
const HASTE = ["--delay", "0", "--address-delay", "0"];

async function inputOf(
  words: readonly string[],
  knowledge: Partial<Knowledge> = {},
  site: Partial<Settings["sites"][number]> = {},
): Promise<PlanInput> {
  const { settings } = await gatherSettings([`${SITE}/`, ...HASTE, ...words], {});
  const own = { ...PLAIN, ...site };
  const order = checkPlanOrder({ ...settings, urls: [], sites: [own] });
  const wishes = siteWishes(order.settings, order.seeds);
  return planInput(order.settings, wishes, { ...NOTHING, ...knowledge }, NOON);
}

const PLAIN: Settings["sites"][number] = { ...defaultsOf(SITE_SETTINGS), url: `${SITE}/` };

async function siteFrom(...rest: Parameters<typeof inputOf>): Promise<PlannedSite> {
  const [first] = (await inputOf(...rest)).sites;
  assert.ok(first !== undefined);
  return first;
}

function met(changes: Partial<Earlier>): Partial<Knowledge> {
  return { earlier: new Map([[SITE, { ...MET, ...changes }]]) };
}

test("a size is what the file says, or is left of the crawl, or what an earlier one brought", async () => {
  const limit = ["--limit", "1MB/s"];
  const said = await siteFrom(limit, met({}), { sizeBytes: 5e6 });
  assert.deepEqual([said.bytes, said.sizeFrom], [5e6, "size"]);
  const earlier = await siteFrom(limit, met({}));
  assert.deepEqual([earlier.bytes, earlier.sizeFrom], [4e6, "earlier"]);
  const left = await siteFrom(limit, met({ pending: 50 }));
  // 100 URLs of 40 KB and three imagined ones of 30 KB: 50 more of their mean.
  assert.deepEqual([Math.round(left.bytes ?? 0), left.sizeFrom], [1_985_437, "left"]);
  const again = await siteFrom([...limit, "--fresh"], met({ pending: 50 }));
  assert.deepEqual([Math.round(again.bytes ?? 0), again.sizeFrom], [5_985_437, "earlier"]);
  const recrawled = met({ bytes: 40_000, bytesPerCrawlBefore: 4e6 });
  assert.equal((await siteFrom([...limit, "--refresh"], recrawled)).bytes, 40_000);
  assert.equal((await siteFrom([...limit, "--fresh"], recrawled)).bytes, 4e6);
});

test("a site whose size nobody knows is left out with the remedy, and the others are planned", async () => {
  const input = await inputOf(["--limit", "1MB/s"]);
  assert.match(
    input.sites[0]?.leftOut ?? "",
    /size is unknown; set its `size` or `pages`, or crawl it/,
  );
  assert.deepEqual(input.task.sites, []);
});

test("a cap is what the file says, or what servers give at once, or what the pace lets through", async () => {
  const limit = ["--limit", "1MB/s", "--concurrency-per-site", "2"];
  const speeds = new Map([
    [SITE, { address: "192.0.2.1", downloadBps: 15_000, scatter: { mean: 0.2, most: 1 } }],
  ]);
  const measured = await siteFrom(limit, { speeds });
  assert.deepEqual([measured.capBps, measured.capFrom], [30_000, "speeds"]);
  assert.deepEqual(measured.server.strayed, { mean: 0.2, most: 1 });
  const said = await siteFrom(limit, { speeds }, { capBps: 70_000 });
  assert.deepEqual([said.capBps, said.capFrom], [70_000, "cap"]);
  // 4 MB in 100 pages, robots.txt and sitemap with two seconds in between.
  const paced = await siteFrom([...limit, "--delay", "2s"], { ...met({}), speeds });
  assert.deepEqual([paced.capBps, paced.capFrom], [4e6 / 204, "delay"]);
  const robots = { status: 200, text: "User-agent: *\nCrawl-delay: 4\n", fetchedAtMs: 0 };
  const asked = await siteFrom([...limit, "--delay", "2s"], { ...met({ robots }), speeds });
  assert.deepEqual([asked.capBps, asked.capFrom], [4e6 / 408, "delay"]);
  const held = await siteFrom(limit, { speeds }, { capBps: 70_000, limitBps: 5000 });
  assert.deepEqual([held.capBps, held.capFrom], [5000, "limit"]);
  // A cap is no reason to leave out the delay.
  const both = await siteFrom([...limit, "--delay", "2s"], met({}), { capBps: 70_000 });
  assert.deepEqual([both.capBps, both.capFrom], [4e6 / 204, "delay"]);
  const unknown = await siteFrom(limit);
  assert.deepEqual([unknown.capBps, unknown.capFrom], [Infinity, undefined]);
});

test("pages are as configured, or as an earlier crawl found them, or the size in pages of the typical size", async () => {
  const limit = ["--limit", "1MB/s", "--delay", "1s"];
  const given = await siteFrom(limit, {}, { sizeBytes: 200_000, pagesExpected: 40 });
  assert.deepEqual([given.pages, given.pagesFrom, given.typicalBytes], [40, "pages", undefined]);
  assert.equal(given.slots.seconds, 42);
  const typical = await siteFrom(limit, {}, { sizeBytes: 300_000 });
  assert.deepEqual([typical.pages, typical.pagesFrom, typical.typicalBytes], [10, "typical", 3e4]);
  const sized = await siteFrom(limit, {}, { pagesExpected: 10 });
  assert.deepEqual([sized.bytes, sized.sizeFrom, sized.typicalBytes], [300_000, "pages", 3e4]);
  const earlier = await siteFrom(limit, met({}));
  assert.deepEqual([earlier.pages, earlier.pagesFrom], [100, "earlier"]);
  const plain = await siteFrom([...limit, "--no-sitemaps", "--ignore-robots"], met({}));
  assert.equal(plain.slots.seconds, 100);
});

test("the rate is the limit, or the calendar's now, or the sum of the caps, or an error that names it", async () => {
  const site = { sizeBytes: 1e6, capBps: 50_000 };
  const rateOf = async (...words: string[]): Promise<unknown[]> => {
    const { task, rateFrom, rateUntilSeconds } = await inputOf(words, {}, site);
    return [task.rateBps, rateFrom, rateUntilSeconds];
  };
  assert.deepEqual(await rateOf("--limit", "1MB/s"), [1e6, "limit", undefined]);
  const calendar = "mon-fri 08:00-18:00=1MB/s,else=8MB/s";
  assert.deepEqual(await rateOf("--limit-at", calendar), [1e6, "calendar", 6 * 3600]);
  assert.deepEqual(await rateOf(), [50_000, "caps", undefined]);
  for (const [words, changes, why] of [
    [[], { sizeBytes: 1e6 }, /^limit: no total rate; set --limit, or a cap for https:\/\/a/],
    [
      ["--limit-at", "daily 08:00-18:00=pause,else=none"],
      site,
      /^limit: the calendar pauses the crawl now/,
    ],
  ] as const)
    await assert.rejects(inputOf(words, {}, changes), (error) => {
      assert.ok(error instanceof CrawlError && error.code === "SETTINGS_INVALID");
      assert.match(error.message, why);
      return true;
    });
});

test("bytes are multiplied by the efficiency, and a site that could never start is left out", async () => {
  const { task } = await inputOf(["--limit=1MB/s"], {}, { sizeBytes: 1e6, efficiency: 1.5 });
  assert.equal(task.sites[0]?.bytes, 1.5e6);
  const slow = { sizeBytes: 1e6, capBps: 1000 };
  const input = await inputOf(["--limit=1MB/s", "--min-rate=2KB/s"], {}, slow);
  assert.match(input.sites[0]?.leftOut ?? "", /1\.00 KB\/s at most, less than minRate of 2\.00 KB/);
  assert.equal(input.task.sites.length, 0);
});
