/** Promises in virtual time on a line that gives less than the limit. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultsOf } from "../../src/config/resolve.ts";
import { type Settings, SITE_SETTINGS } from "../../src/config/schema.ts";
import type { DeadlineNotice } from "../../src/crawl/hooks.ts";
import { runSim } from "../../src/lab/run-sim.ts";

/** More with WEIR_SIM_SEEDS, before a release. */
const SEEDS = Number(process.env["WEIR_SIM_SEEDS"] ?? 4);
const LINE_BPS = 100_000;
const WORLD = {
  siteCount: 4,
  pagesMin: 150,
  pagesMax: 250,
  linksAwayShare: 0,
  copyShare: 0,
  crawlDelayShare: 0,
  latencyMsMin: 1,
  latencyMsMax: 12,
  speedBpsMin: 2_000_000,
  speedBpsMax: 5_000_000,
};
const SETTINGS: Partial<Settings> = {
  limitBps: 3 * LINE_BPS,
  packetOverhead: 0,
  delayMs: 0,
  addressDelayMs: 0,
  concurrencyPerSite: 4,
};

test(`in ${SEEDS} worlds on a line at a third of the limit a plan counts on what the line gives, and reports in time what it cannot keep`, async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const free = await runSim({ seed, world: WORLD, settings: { ...SETTINGS, limitBps: 1e9 } });
    const sites = (free.result?.sites ?? []).toSorted((a, b) => b.bytes - a.bytes);
    const [largest] = sites;
    assert.ok(largest !== undefined);
    // At the limit it would have more than half of its time to spare; the line alone needs longer.
    const leastSeconds = largest.bytes / LINE_BPS;
    const deadlineSeconds = 0.8 * leastSeconds;
    const own = sites.map(({ site, bytes }) => ({
      ...defaultsOf(SITE_SETTINGS),
      url: `${site}/`,
      sizeBytes: bytes,
      capBps: 2_000_000,
      deadlineMs: site === largest.site ? 1000 * deadlineSeconds : undefined,
    }));
    const late: { atSeconds: number; finishSeconds: number }[] = [];
    await runSim({
      seed,
      world: WORLD,
      settings: { ...SETTINGS, sites: own },
      linkBps: LINE_BPS,
      plant: (parts) => {
        const startMs = parts.clock.nowMs();
        const onDeadline = ({ finishInMs, isLate }: DeadlineNotice): void => {
          const atSeconds = (parts.clock.nowMs() - startMs) / 1000;
          if (isLate) late.push({ atSeconds, finishSeconds: atSeconds + finishInMs / 1000 });
        };
        return { ...parts, hooks: { onDeadline } };
      },
    });
    const [first] = late;
    const what = `seed ${seed}: ${JSON.stringify(first)}, ${leastSeconds} s at least, due after ${deadlineSeconds} s`;
    assert.ok(first !== undefined && first.atSeconds < 0.7 * deadlineSeconds, what);
    assert.ok(first.finishSeconds > 0.9 * leastSeconds, what);
  }
});
