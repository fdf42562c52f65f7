/** Limits in virtual time: whatever the pages, the servers and the operator do, the wire stays below. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { pick, type Random, randomFrom } from "../../src/base/random.ts";
import type { Settings } from "../../src/config/schema.ts";
import type { CrawlParts } from "../../src/crawl/context.ts";
import type { CrawlHandle } from "../../src/crawl/crawl.ts";
import type { FetchRequest } from "../../src/fetch/fetcher.ts";
import { checkRateLimit, type LimitFrom } from "../../src/lab/checkers/rate-limit.ts";
import type { Violation } from "../../src/lab/violation.ts";
import { crawlQueue, type QueuePlan } from "../../src/lab/experiments/queue-crawl.ts";
import type { SimClock } from "../../src/lab/sim-clock.ts";
import { type MixName, PAGE_MIXES } from "../../src/lab/world/mixes.ts";
import { windowsOf } from "../../src/lab/sim-wire.ts";
import type { WorldPlan } from "../../src/lab/world/plan.ts";

/** More with WEIR_SIM_SEEDS, before a release. */
const SEEDS = Number(process.env["WEIR_SIM_SEEDS"] ?? 24);
const SECONDS = 12;
/** Over any time, in seconds at the limit: the burst, what is made good of a stall, and windows that fill unpaid. */
const BURST_SECONDS = 0.11;
/** The goal is 1.05. Here nothing is measured but chance: some worlds of a hundred come to 1.062. */
const SECOND_SHARE_MAX = 1.07;
const LIMIT_BPS = { least: 100_000, most: 50_000_000 };
/** Beyond this many pages a second a simulation takes longer than the crawl would. */
const PAGES_PER_SECOND_MAX = 500;
const MIX_BYTES: Readonly<Record<MixName, number>> = {
  small: 10_000,
  docs: 50_000,
  mixed: 500_000,
  large: 2_000_000,
};

const NEAR = { speedBpsMin: 1e6, speedBpsMax: 1e7, latencyMsMin: 2, latencyMsMax: 20 };

interface Trial {
  readonly plan: QueuePlan;
  readonly limits: readonly LimitFrom[];
}

test(`${SEEDS} crawls keep to their limit, whatever is done to them`, async () => {
  const broken: string[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) {
    for (const { rule, detail } of await judged(trialOf(seed)))
      broken.push(`seed ${seed}: ${rule}: ${detail}`);
  }
  assert.deepEqual(broken, []);
});

test("planted: a reader that does not wait when it must is caught on the wire", async () => {
  const limits = [{ fromMs: 0, limitBps: 1_000_000 }];
  const plan: QueuePlan = {
    seed: 1,
    queue: "sites",
    world: { siteCount: 20, ...PAGE_MIXES.large, speedBpsMin: 1e6, speedBpsMax: 1e7 },
    settings: { limitBps: 1_000_000, bodyBytesMax: 32_000_000 },
    pagesPerSite: 50,
    warmUpSeconds: 0,
    seconds: 5,
  };
  assert.deepEqual(await judged({ plan, limits }), []);
  const violations = await judged({ plan: { ...plan, plant: impatient }, limits });
  assert.deepEqual(
    violations.map(({ rule }) => rule),
    ["burst", "second"],
  );
});

test("who had nothing at all, and gets a part of the limit, begins without a burst", async () => {
  const limitBps = 250_000;
  const plan: QueuePlan = {
    seed: 1,
    queue: "sites",
    world: { siteCount: 40, ...PAGE_MIXES.large, speedBpsMin: 1e7, speedBpsMax: 1e8 },
    settings: { limitBps: 0, bodyBytesMax: 32_000_000, ignoreRobots: true },
    pagesPerSite: 50,
    warmUpSeconds: 0,
    seconds: 8,
    attend: (handle, clock) =>
      void clock.after(2_000, () => handle.setLimit(limitBps, 4 * limitBps)),
  };
  const { tenths } = await crawlQueue(plan);
  const bytes = (from: number, to: number): number =>
    tenths.slice(from, to).reduce((sum, tenth) => sum + tenth, 0);
  assert.equal(bytes(0, 19), 0);
  for (let from = 20; from < 60; from++) {
    const share = bytes(from, from + 10) / limitBps;
    assert.ok(share < SECOND_SHARE_MAX, `${share} in the second from ${from / 10}`);
  }
});

test("bodies that come later than their headers count as due until they arrive", async () => {
  const limitBps = 333_000;
  for (let seed = 1; seed <= 3; seed++) {
    const { tenths } = await crawlQueue({
      seed,
      queue: "sites",
      world: { siteCount: 40, ...PAGE_MIXES.docs, ...NEAR },
      settings: { limitBps, concurrencyPerSite: 16, connectionsMax: 512 },
      pagesPerSite: 100,
      bodyMsMax: 1500,
      warmUpSeconds: 4,
      seconds: SECONDS,
    });
    const windows = windowsOf(tenths).map((bytes) => bytes / limitBps);
    const mean = windows.reduce((sum, share) => sum + share, 0) / windows.length;
    const most = Math.max(...windows);
    assert.ok(most < SECOND_SHARE_MAX, `seed ${seed}: ${most} of the limit in a second`);
    assert.ok(mean > 0.96, `seed ${seed}: ${mean} of the limit`);
  }
});

test("a site's limit and a quota count what packets add, as the limit does", async () => {
  const added = 0.25;
  const plan: QueuePlan = {
    seed: 1,
    queue: "sites",
    world: { siteCount: 4, ...PAGE_MIXES.small, ...NEAR },
    settings: { packetOverhead: added },
    pagesPerSite: 500,
    warmUpSeconds: 0,
    seconds: 20,
  };
  const lineBytesOf = async (settings: Partial<Settings>): Promise<number> => {
    const all = { ...plan, settings: { ...plan.settings, ...settings } };
    const { tenths } = await crawlQueue(all);
    return tenths.reduce((sum, tenth) => sum + tenth, 0) * (1 + added);
  };
  const siteLimitBps = 60_000;
  const share = (await lineBytesOf({ siteLimitBps })) / (4 * siteLimitBps * plan.seconds);
  assert.ok(share > 0.95 && share <= 1.02, `site limits: ${share}`);
  const quota = { bytes: 3e6, per: "day" } as const;
  const used = (await lineBytesOf({ quota, limitBps: 300_000 })) / quota.bytes;
  assert.ok(used >= 1 && used <= 1.02, `quota: ${used}`);
  // Downloads under way do not go on beyond it, however large they are.
  Object.assign(plan.world, PAGE_MIXES.large);
  const usedByLarge = (await lineBytesOf({ quota, limitBps: 300_000 })) / quota.bytes;
  assert.ok(usedByLarge >= 1 && usedByLarge <= 1.02, `quota: ${usedByLarge} by large pages`);
});

async function judged({ plan, limits }: Trial): Promise<Violation[]> {
  const { tenths } = await crawlQueue(plan);
  return checkRateLimit({
    tenths,
    limits,
    settleMs: 2_000,
    burstSeconds: BURST_SECONDS,
    secondShareMax: SECOND_SHARE_MAX,
  });
}

function trialOf(seed: number): Trial {
  const random = randomFrom(seed);
  const { least, most } = LIMIT_BPS;
  const limitBps = Math.round(least * (most / least) ** random.next());
  const mixes = (Object.keys(MIX_BYTES) as MixName[]).filter(
    (mix) => limitBps / MIX_BYTES[mix] < PAGES_PER_SECOND_MAX,
  );
  const mix = pick(random, mixes);
  const { attend, limits } = eventsOf(random, limitBps);
  const plan: QueuePlan = {
    seed,
    queue: random.next() < 0.5 ? "urls" : "sites",
    world: { siteCount: 40, ...PAGE_MIXES[mix], ...serversOf(random, limitBps) },
    settings: { limitBps, bodyBytesMax: 32_000_000, ignoreRobots: random.next() < 0.5 },
    pagesPerSite: Math.ceil((4 * SECONDS * limitBps) / MIX_BYTES[mix] / 40) + 20,
    warmUpSeconds: 0,
    seconds: SECONDS,
    faultShare: pick(random, [0, 0.1]),
    attend,
  };
  return { plan, limits };
}

/** All fast, or spread a hundredfold around the limit's share, or slow to begin. */
function serversOf(random: Random, limitBps: number): Partial<WorldPlan> {
  const fast = { speedBpsMin: limitBps, speedBpsMax: 10 * limitBps, latencyMsMax: 60 };
  return pick<Partial<WorldPlan>>(random, [
    fast,
    { speedBpsMin: limitBps / 20, speedBpsMax: limitBps * 5 },
    { ...fast, thinkMsMin: 200, thinkMsMax: 3_000 },
  ]);
}

/** A pause, a change of the limit, a jump of the wall clock, each at some moment, or none of them. */
function eventsOf(
  random: Random,
  limitBps: number,
): { readonly attend: NonNullable<QueuePlan["attend"]>; readonly limits: LimitFrom[] } {
  const atMs = (): number => Math.round(1_000 * SECONDS * (0.1 + 0.6 * random.next()));
  const changeAtMs = atMs();
  const pauseAtMs = atMs();
  const jumpAtMs = atMs();
  const changedBps = pick(random, [
    limitBps,
    Math.max(LIMIT_BPS.least, limitBps / 4),
    limitBps * 4,
  ]);
  const doesPause = random.next() < 0.5;
  const jumpMs = pick(random, [0, -3_600_000, 86_400_000]);
  const attend = (handle: CrawlHandle, clock: SimClock): void => {
    clock.after(changeAtMs, () => handle.setLimit(changedBps));
    clock.after(jumpAtMs, () => clock.jumpWall(jumpMs));
    if (!doesPause) return;
    clock.after(pauseAtMs, () => handle.hold("a pause", true));
    clock.after(pauseAtMs + 1_500, () => handle.hold("a pause", false));
  };
  const limits = [
    { fromMs: 0, limitBps },
    { fromMs: changeAtMs, limitBps: changedBps },
  ];
  return { attend, limits };
}

/** Ignores every pause. */
function impatient(parts: CrawlParts): CrawlParts {
  const fetcher = new Proxy(parts.fetcher, {
    get(target, name) {
      if (name !== "fetch") return Reflect.get(target, name) as unknown;
      return (request: FetchRequest) =>
        target.fetch({
          ...request,
          onBytes: (bytes, readOn) => {
            if (request.onBytes?.(bytes, readOn) === false) readOn();
            return true;
          },
        });
    },
  });
  return { ...parts, fetcher };
}
