/** Whole crawls of a served world, with real sockets, disk and clock, judged from outside. */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { crawl, type CrawlOptions, type CrawlResult } from "../../src/index.ts";
import { checkAccounts, checkTruth } from "../../src/lab/checkers/accounts.ts";
import { checkArchive } from "../../src/lab/checkers/archive.ts";
import { checkOnce } from "../../src/lab/checkers/once.ts";
import type { Violation } from "../../src/lab/violation.ts";
import { digestOf, type Fate, groundTruth, type TruePage } from "../../src/lab/ground-truth.ts";
import type { RequestEntry } from "../../src/lab/request-log.ts";
import { serveWorld, type WorldServer } from "../../src/lab/serve.ts";
import { seedUrls } from "../../src/lab/world.ts";
import { DECOY_PATH } from "../../src/lab/world/html.ts";
import { linksOf, pageAt, pathOf } from "../../src/lab/world/page.ts";
import type { World, WorldPlan } from "../../src/lab/world/plan.ts";
import { siteAt } from "../../src/lab/world/site.ts";
import { readRecord, readRecords } from "../../src/output/warc/warc-read.ts";
import { openReadOnly } from "../../src/store/joined/open-read-only.ts";
import { run, temporaryFolder } from "../cli/program.ts";
import { checkArchiveFiles } from "./archive-witness.ts";

const SMALL: Partial<WorldPlan> = {
  seed: 5,
  siteCount: 5,
  pagesMin: 60,
  pagesMax: 120,
  bytesMedianMax: 8_000,
  crawlDelayShare: 0,
  copyShare: 0.1,
  nearCopyShare: 0.1,
  movedShare: 0.1,
};
const LOCAL = ["--allow-private", "127.0.0.0/8"];

test("the program finds every page of the world, once, whole, and nothing else", async () => {
  await using web = await serveWorld(SMALL, { by: "address" });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const words = ["crawl", ...seedUrls(web.world), ...LOCAL, "--out", out, "--json"];
  const { code, stdout, stderr } = await run(words);
  assert.equal(code, 0, stderr);
  const result = JSON.parse(stdout) as CrawlResult;
  const truths = [...groundTruth(web.world)];
  assert.deepEqual(await violationsIn(web, out), []);
  assert.equal(result.complete, true);
  assert.equal(result.urls.known, truths.length);
  assert.equal(result.pages, countOf(truths, "stored"));
  assert.equal(result.outcomes["redirect"], countOf(truths, "redirected"));
  assert.equal(result.outcomes["robots_denied"], countOf(truths, "forbidden"));
  assert.equal(result.urls.failed, countOf(truths, "error"));
});

test("what robots.txt closes, and links that are none, are never asked for", async () => {
  const plan = { ...SMALL, robotsShare: 1, forbiddenShare: 0.3, sitemapShare: 1 };
  await using web = await serveWorld(plan, { by: "address" });
  const result = await crawlOf(web.world, {});
  const closed = [...groundTruth(web.world)].filter(({ fate }) => fate === "forbidden");
  assert.ok(closed.length > 20, `${closed.length} closed pages`);
  assert.equal(result.outcomes["robots_denied"], closed.length);
  const asked = new Set(web.log.entries.map(({ site, path }) => site + path));
  assert.deepEqual(
    closed.filter(({ url }) => asked.has(url)),
    [],
  );
  assert.ok([...asked].every((url) => !url.endsWith(DECOY_PATH)));
  for (let site = 0; site < web.world.plan.siteCount; site++) {
    const { origin } = siteAt(web.world, site);
    const first = web.log.entries.find((entry) => entry.site === origin);
    assert.equal(first?.path, "/robots.txt", "the rules come first");
  }
});

test("requests to a site keep their distance, as its server sees them", async () => {
  const plan = { ...SMALL, siteCount: 2, pagesMin: 40, pagesMax: 40 };
  await using web = await serveWorld(plan, { by: "address" });
  await crawlOf(web.world, { delayMs: 50, concurrencyPerSite: 4 });
  for (const [site, entries] of Map.groupBy(web.log.entries, ({ site }) => site)) {
    const startsMs = entries.map(({ startMs }) => startMs).toSorted((a, b) => a - b);
    assert.ok(startsMs.length > 30, `${site}: ${startsMs.length} requests`);
    // A busy machine may hand a request to the server late, so that the next seems to come soon
    // after; over twenty requests that evens out. Single delays are judged in virtual time.
    for (let at = 20; at < startsMs.length; at++) {
      const apartMs = Number(startsMs[at]) - Number(startsMs[at - 20]);
      assert.ok(apartMs >= 20 * 50 - 250, `${site}: 20 requests within ${apartMs} ms`);
    }
  }
});

test("a crawl that was stopped goes on where it was, and asks for nothing twice", async () => {
  await using web = await serveWorld(SMALL, { by: "address" });
  using folder = temporaryFolder();
  const outFolder = join(folder.path, "out");
  const stops: number[] = [];
  for (const target of [30, 150]) {
    let seen = 0;
    const running = start(web.world, {
      outFolder,
      onPage: () => {
        if (++seen === target) running.stop();
      },
    });
    const stopped = await running;
    assert.equal(stopped.complete, false);
    assert.equal(stopped.stoppedBy, "stopped by the program");
    assert.ok(stopped.urls.pending > 0);
    stops.push(stopped.pages);
  }
  const result = await crawlOf(web.world, { outFolder });
  assert.equal(result.resumed, true);
  assert.equal(result.complete, true);
  assert.ok((stops[0] ?? 0) >= 30 && (stops[1] ?? 0) > (stops[0] ?? 0), String(stops));
  assert.deepEqual(await violationsIn(web, outFolder), []);
});

test("--refresh asks for pages alone, brings 304s and revisits, and no new pages", async () => {
  await using web = await serveWorld(SMALL, { by: "address" });
  using folder = temporaryFolder();
  const outFolder = join(folder.path, "out");
  const first = await crawlOf(web.world, { outFolder });
  const before = web.log.entries.length;
  const again = await crawlOf(web.world, { outFolder, refresh: true });
  const pages = again.pages;
  assert.equal(pages, first.pages);
  assert.deepEqual(again.urls, first.urls);
  assert.equal(again.outcomes["not_modified"], pages);
  const second = web.log.entries.slice(before).filter(({ path }) => isPage(path));
  assert.equal(second.length, pages);
  assert.ok(second.every(({ status }) => status === 304));

  const types = new Map<string, number>();
  for (const file of readdirSync(join(outFolder, "archive")))
    for (const { fields } of readRecords(join(outFolder, "archive", file))) {
      const type = fields.get("warc-type") ?? "";
      const profile = fields.get("warc-profile")?.split("/").at(-1) ?? "";
      types.set(type + profile, (types.get(type + profile) ?? 0) + 1);
    }
  assert.equal(types.get("revisitserver-not-modified"), pages);
  assert.equal(types.get("request"), 2 * pages);
  const store = openReadOnly(outFolder);
  assert.deepEqual(checkAccounts(store), []);
  await store.close();
});

test("exact copies are counted, one original of each; near copies are noticed", async () => {
  await using web = await serveWorld(SMALL, { by: "address" });
  const result = await crawlOf(web.world, {});
  const stored = [...groundTruth(web.world)].filter(({ fate }) => fate === "stored");
  const contents = new Set(stored.map((truth) => hexOf(digestOf(web.world, truth))));
  const originals = new Set(stored.map(({ site, page }) => `${site.index} ${page.of}`));
  const nearCopies = contents.size - originals.size;
  assert.equal(result.duplicates.exact, stored.length - contents.size);
  assert.ok(nearCopies > 20, `${nearCopies} near copies in the world`);
  const share = result.duplicates.near / nearCopies;
  assert.ok(share > 0.9 && share < 1.1, `found ${result.duplicates.near} of ${nearCopies}`);
});

test("--pages is kept to the page, and a larger one goes on", async () => {
  await using web = await serveWorld(SMALL, { by: "address" });
  using folder = temporaryFolder();
  const outFolder = join(folder.path, "out");
  for (const pagesMax of [1, 57, 200]) {
    const result = await crawlOf(web.world, { outFolder, pagesMax });
    assert.equal(result.pages, pagesMax);
    assert.equal(result.stoppedBy, "pages limit");
    const { known, done, failed, skipped, pending } = result.urls;
    assert.equal(known, done + failed + skipped + pending);
  }
  const delivered = web.log.entries.filter(({ path, status }) => isPage(path) && status === 200);
  assert.equal(delivered.length, 200, "no page was fetched for nothing");
});

test("--depth 0 fetches the starting pages, --depth 1 what they link to", async () => {
  await using web = await serveWorld({ ...SMALL, sitemapShare: 0 }, { by: "address" });
  const seeds = new Set(seedUrls(web.world));
  const known = async (depthMax: number): Promise<Set<string>> => {
    const from = web.log.entries.length;
    await crawlOf(web.world, { depthMax });
    return new Set(pageUrls(web.log.entries.slice(from)));
  };
  assert.deepEqual(await known(0), seeds);
  const linked = new Set(seeds);
  for (let site = 0; site < web.world.plan.siteCount; site++)
    for (const link of homeLinks(web.world, site)) linked.add(link);
  assert.deepEqual((await known(1)).symmetricDifference(linked), new Set());
});

test("for await walks every page once, with its text and links", async () => {
  await using web = await serveWorld({ ...SMALL, siteCount: 2 }, { by: "address" });
  const seen: string[] = [];
  for await (const page of start(web.world, {})) {
    seen.push(page.url);
    assert.equal(page.status, 200);
    assert.match(page.title, /^[a-z ]+$/);
    assert.ok(page.text().length > 100, page.url);
    assert.ok(page.links().some(({ text }) => text === "Home"));
  }
  assert.deepEqual(seen.toSorted(), storedUrls(web.world).toSorted());
});

test("leaving the loop stops the crawl", async () => {
  await using web = await serveWorld(SMALL, { by: "address" });
  const running = start(web.world, { connectionsMax: 4 });
  let seen = 0;
  for await (const _ of running) if (++seen === 10) break;
  const result = await running;
  assert.equal(seen, 10);
  assert.equal(result.complete, false);
  assert.ok(result.pages < 30, `${result.pages} pages after the loop was left at 10`);
});

test("onPage is awaited and sees every page, onLink leaves out what it refuses", async () => {
  await using web = await serveWorld({ ...SMALL, siteCount: 2 }, { by: "address" });
  const pages: string[] = [];
  const offered: string[] = [];
  let underWay = 0;
  const result = await crawlOf(web.world, {
    onPage: async ({ url }) => {
      underWay += 1;
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
      pages.push(url);
    },
    onLink: (url, from) => {
      if (from !== undefined) offered.push(url);
      return !url.includes("-1");
    },
  });
  assert.equal(underWay, 0, "the crawl ended when every hook had");
  assert.equal(new Set(pages).size, result.pages);
  assert.ok(offered.some((url) => url.includes("-1")));
  assert.deepEqual(
    pageUrls(web.log.entries).filter((url) => url.includes("-1")),
    [],
  );
  assert.ok((result.refusedLinks["hook"] ?? 0) > 0);
});

test("onLink that refuses every seed ends the crawl with an error that names them", async () => {
  await using web = await serveWorld({ ...SMALL, siteCount: 2 }, { by: "address" });
  await assert.rejects(
    () => crawlOf(web.world, { onLink: () => false }),
    /onLink refused every seed: http:/,
  );
  assert.deepEqual(web.log.entries, []);
});

test("a score of one's own decides what comes first", async () => {
  await using web = await serveWorld({ ...SMALL, siteCount: 1 }, { by: "address" });
  const order: number[] = [];
  await crawlOf(web.world, {
    connectionsMax: 1,
    sitemaps: false,
    score: ({ url }) => numberOf(url),
    onPage: ({ url }) => void order.push(numberOf(url)),
  });
  assert.equal(order[0], 0);
  const links = homeLinks(web.world, 0).map(numberOf);
  assert.equal(order[1], Math.max(...storedNumbers(web.world, links)));
});

test("stop ends it with what it has", async () => {
  await using web = await serveWorld(SMALL, { by: "address" });
  let seen = 0;
  const crawling = start(web.world, {
    onPage: () => {
      if (++seen === 20) crawling.stop();
    },
  });
  const result = await crawling;
  assert.equal(result.complete, false);
  assert.ok(result.pages >= 20 && result.urls.pending > 0);
});

test("a hook that throws ends the crawl with its error, and the store is whole", async () => {
  await using web = await serveWorld(SMALL, { by: "address" });
  using folder = temporaryFolder();
  const outFolder = join(folder.path, "out");
  let seen = 0;
  const onPage = (): void => {
    if (++seen === 40) throw new Error("the program's own mistake");
  };
  await assert.rejects(async () => crawlOf(web.world, { outFolder, onPage }), /own mistake/);
  const result = await crawlOf(web.world, { outFolder });
  assert.equal(result.complete, true);
  const store = openReadOnly(outFolder);
  assert.deepEqual([...checkAccounts(store), ...checkTruth(store, web.world)], []);
  await store.close();
});

function start(world: World, options: Partial<CrawlOptions>): ReturnType<typeof crawl> {
  const local = { allowPrivate: ["127.0.0.0/8"], delayMs: 0 };
  return crawl({ urls: seedUrls(world), ...local, ...options });
}

async function crawlOf(world: World, options: Partial<CrawlOptions>): Promise<CrawlResult> {
  return start(world, options);
}

/** Everything that can be held against a finished crawl of the whole world. */
async function violationsIn(web: WorldServer, folder: string): Promise<Violation[]> {
  const { world, log } = web;
  const store = openReadOnly(folder);
  const archive = join(folder, "archive");
  try {
    return [
      ...checkAccounts(store),
      ...checkTruth(store, world),
      ...checkArchive(store, (place) => readRecord(archive, place).fields.get("warc-target-uri")),
      ...(await checkArchiveFiles(folder, store.marks, world)),
      ...checkOnce({
        log: log.entries,
        stored: Array.from(store.pages(), ({ id }) => store.url(id)?.url ?? ""),
        crashedAtMs: [],
        uncommittedMax: 0,
        mayRepeat: (path) => !isPage(path),
      }),
    ];
  } finally {
    await store.close();
  }
}

function isPage(path: string): boolean {
  return path !== "/robots.txt" && !path.startsWith("/sitemap");
}

function pageUrls(entries: readonly RequestEntry[]): string[] {
  return entries.filter(({ path }) => isPage(path)).map(({ site, path }) => site + path);
}

function countOf(truths: readonly TruePage[], fate: Fate): number {
  return truths.filter((truth) => truth.fate === fate).length;
}

function numberOf(url: string): number {
  return Number(/-(\d+)(?:\.html|\/)$/.exec(url)?.[1] ?? 0);
}

function storedUrls(world: World): string[] {
  return [...groundTruth(world)].filter(({ fate }) => fate === "stored").map(({ url }) => url);
}

function storedNumbers(world: World, numbers: readonly number[]): number[] {
  const site = siteAt(world, 0);
  const kinds = new Set(["page", "copy", "near"]);
  return numbers.filter((number) => kinds.has(pageAt(world, site, number).kind));
}

/** What may be asked for from a home page: its links, and where those lead that have moved. */
function homeLinks(world: World, index: number): string[] {
  const home = siteAt(world, index);
  const truths = new Map([...groundTruth(world)].map((truth) => [truth.url, truth]));
  return linksOf(world, home, 0).flatMap((link) => {
    const { origin, pathname } = new URL(link, home.origin);
    const truth = truths.get(origin + pathname);
    if (truth === undefined || truth.fate === "forbidden") return [];
    const { url, fate, site, page } = truth;
    return fate === "redirected" ? [url, site.origin + pathOf(world, site, page.of)] : [url];
  });
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
