/** `--refresh` in virtual time: a round of every site, killed at any commit, still asks for every page. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../src/base/log.ts";
import { randomFrom } from "../../src/base/random.ts";
import type { Settings } from "../../src/config/schema.ts";
import { defaultSettings } from "../../src/config/sources.ts";
import { startCrawl } from "../../src/crawl/crawl.ts";
import type { CrawlParts } from "../../src/crawl/context.ts";
import type { DeadlineNotice } from "../../src/crawl/hooks.ts";
import { plainLine } from "../../src/crawl/limit/link-budget.ts";
import { fetcherOptions } from "../../src/crawl/open.ts";
import { Fetcher } from "../../src/fetch/fetcher.ts";
import { checkAccounts } from "../../src/lab/checkers/accounts.ts";
import { conductOf } from "../../src/lab/faults.ts";
import { SimClock } from "../../src/lab/sim-clock.ts";
import { SimResolver } from "../../src/lab/sim-resolver.ts";
import { MemoryDisk, SimulatedCrash } from "../../src/lab/memory-disk.ts";
import { SimTransport } from "../../src/lab/sim-transport.ts";
import { seedUrls, siteNamed } from "../../src/lab/world.ts";
import { makeWorld } from "../../src/lab/world/plan.ts";
import type { CanonicalUrl } from "../../src/url/url.ts";

const WORLD = makeWorld({
  seed: 2,
  siteCount: 4,
  pagesMin: 5,
  pagesMax: 30,
  bytesMedianMax: 2_000,
  crawlDelayShare: 0,
});

class Life {
  readonly #clock = new SimClock();
  readonly #disk = new MemoryDisk();
  readonly #asked: string[] = [];
  readonly #late: string[] = [];

  get disk(): MemoryDisk {
    return this.#disk;
  }

  /** URLs asked for since the last call. */
  takeAsked(): string[] {
    return this.#asked.splice(0).filter((url) => !/\/(robots\.txt|sitemap.*)$/.test(url));
  }

  /** Sites whose deadline was reported to be out of reach. */
  get late(): readonly string[] {
    return this.#late;
  }

  /** Crawls to the end, or until it is killed at that commit. */
  async run(own: Partial<Settings>, crashAtCommit?: number): Promise<"done" | "killed"> {
    const settings: Settings = { ...defaultSettings(), memoryBytes: 8e6, delayMs: 100, ...own };
    const clock = this.#clock;
    const random = randomFrom(1);
    const killed = Promise.withResolvers<"killed">();
    const onCrash = (): void => killed.resolve("killed");
    const store = this.#disk.openWith({ random, crashAtCommit, fullShare: 0, onCrash });
    const resolver = new SimResolver(clock, WORLD, random, 0);
    const transport = new SimTransport({
      clock,
      watch: ({ scheme, host, path }) => {
        this.#asked.push(`${scheme}://${host}${path}`);
        return () => undefined;
      },
      conductOf: ({ host, path, headers }) => {
        const site = siteNamed(WORLD, host);
        assert.ok(site !== undefined);
        const etag = headers.find(([name]) => name.toLowerCase() === "if-none-match")?.[1];
        return conductOf(WORLD, { site, path, etag, wallMs: clock.wallMs() }, undefined);
      },
    });
    const parts = {
      settings,
      seeds: seedUrls(WORLD) as CanonicalUrl[],
      clock,
      random,
      store,
      resolver,
      fetcher: new Fetcher({ clock, resolver, transport, ...fetcherOptions(settings) }),
      output: undefined,
      log: silentLog,
      hooks: {
        onDeadline: ({ site, isLate }: DeadlineNotice) => {
          if (isLate) this.#late.push(site);
        },
      },
      line: plainLine(settings, transport),
    };
    const done = crawlOrDie(parts);
    let end: "done" | "killed" | undefined;
    try {
      end = await clock.runUntil(Promise.race([killed.promise, done]));
      return end;
    } finally {
      if (end === "killed") clock.forget();
      else await store.close();
    }
  }
}

/** The first commit is made while it starts, the others later: both ways a kill comes out as one. */
async function crawlOrDie(parts: CrawlParts): Promise<"done" | "killed"> {
  try {
    await startCrawl(parts).done;
    return "done";
  } catch (error) {
    if (!(error instanceof SimulatedCrash)) throw error;
    return "killed";
  }
}

test("a refresh that is killed at any commit and resumed asks for every page of every site", async () => {
  let kills = 0;
  for (let crashAtCommit = 1; crashAtCommit <= 12; crashAtCommit++) {
    const life = new Life();
    assert.equal(await life.run({}), "done");
    life.takeAsked();
    const before = life.disk.open();
    const pages = Array.from(before.urls()).filter(({ reason }) => reason === "ok");
    await before.close();
    assert.ok(pages.length > 20);

    if ((await life.run({ refresh: true }, crashAtCommit)) === "killed") kills += 1;
    // The switch makes no difference to a refresh that has begun.
    await life.run({ refresh: crashAtCommit % 2 === 0 });
    const asked = new Set(life.takeAsked());
    const missing = pages.filter(({ url }) => !asked.has(url)).map(({ url }) => url);
    assert.deepEqual(missing, [], `killed at commit ${crashAtCommit}`);
    const after = life.disk.open();
    assert.deepEqual(checkAccounts(after), [], `killed at commit ${crashAtCommit}`);
    for (const { id } of pages) assert.equal(after.url(id)?.reason, "not_modified");
    await after.close();
  }
  assert.ok(kills >= 10, `${kills} kills`);
});

test("a refresh under a limit of pages, killed at any commit, fetches that many in all", async () => {
  const pagesMax = 20;
  let kills = 0;
  for (let crashAtCommit = 1; crashAtCommit <= 12; crashAtCommit++) {
    const life = new Life();
    await life.run({ pagesMax });
    const before = life.disk.open();
    assert.equal(before.totals.pages, pagesMax);
    assert.ok(before.totals.known > pagesMax + 10, "there is more to fetch");
    const hosts = hostsOf(Array.from(before.pages(), ({ id }) => before.url(id)?.url ?? ""));
    await before.close();
    life.takeAsked();
    if ((await life.run({ refresh: true, pagesMax }, crashAtCommit)) === "killed") kills += 1;
    await life.run({ refresh: true, pagesMax });
    const message = `killed at commit ${crashAtCommit}`;
    const asked = life.takeAsked();
    assert.deepEqual(hostsOf(asked), hosts, message);
    const after = life.disk.open();
    assert.equal(after.totals.pagesRecrawled, pagesMax, message);
    assert.deepEqual(checkAccounts(after), [], message);
    await after.close();
  }
  assert.ok(kills >= 6, `${kills} kills`);
});

test("strict refuses a refresh that its delays make late before it begins, and starts one that they permit", async () => {
  const life = new Life();
  await life.run({});
  life.takeAsked();
  const before = life.disk.open();
  const most = Math.max(...Array.from(before.sites(), ({ known }) => known));
  await before.close();
  const delayMs = 1_000;
  const strict = { refresh: true, strict: true, delayMs, addressDelayMs: 0, limitBps: 1e6 };
  const tooEarly = life.run({ ...strict, deadlineMs: 0.8 * most * delayMs });
  await assert.rejects(tooEarly, { code: "DEADLINES_OUT_OF_REACH" });
  assert.deepEqual(life.takeAsked(), []);
  // Without a limit, small 304 responses must not be taken for all that the line can give.
  for (const limitBps of [strict.limitBps, undefined]) {
    const inTime = { ...strict, limitBps, deadlineMs: (most + 4) * delayMs };
    assert.equal(await life.run(inTime), "done");
    assert.ok(life.takeAsked().length > 20);
    assert.deepEqual(life.late, []);
  }
});

function hostsOf(urls: readonly string[]): readonly string[] {
  return [...new Set(urls.map((url) => new URL(url).host))].toSorted();
}
