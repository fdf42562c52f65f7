import assert from "node:assert/strict";
import { test } from "node:test";
import { crawlQueue, type QueuePlan } from "../../lab/experiments/queue-crawl.ts";
import { PAGE_MIXES } from "../../lab/world/mixes.ts";

const LIMIT_BPS = 500_000;
const PLAN: QueuePlan = {
  seed: 1,
  queue: "sites",
  world: {
    siteCount: 20,
    ...PAGE_MIXES.docs,
    speedBpsMin: 5e6,
    speedBpsMax: 5e6,
    latencyMsMax: 30,
  },
  settings: { limitBps: LIMIT_BPS, concurrencyPerSite: 8 },
  pagesPerSite: 60,
  warmUpSeconds: 2,
  seconds: 6,
};

async function shareOf(plan: Partial<QueuePlan>): Promise<number> {
  const { tenths } = await crawlQueue({ ...PLAN, ...plan });
  return tenths.reduce((sum, bytes) => sum + bytes, 0) / (LIMIT_BPS * PLAN.seconds);
}

test("the limit counts packet headers, whether they are set, or read from the line's counters", async () => {
  const set = await shareOf({ settings: { ...PLAN.settings, packetOverhead: 0.25 } });
  assert.ok(set * 1.25 > 0.96 && set * 1.25 < 1.01, `${set * 1.25} of the limit`);
  const counted = await shareOf({ countedShare: 0.25 });
  assert.ok(counted > 0.96 && counted < 1.01, `${counted} of the limit`);
});

test("a limit of 0 pauses the crawl until it is raised", async () => {
  const { tenths } = await crawlQueue({
    ...PLAN,
    attend: (handle, clock) => {
      clock.after(3000, () => handle.setLimit(0));
      clock.after(6000, () => handle.setLimit(LIMIT_BPS));
    },
  });
  const bytes = (from: number, to: number): number =>
    tenths.slice(from, to).reduce((sum, tenth) => sum + tenth, 0);
  assert.equal(bytes(25, 40), 0);
  assert.ok(bytes(45, 60) > 0.8 * 1.5 * LIMIT_BPS);
});

test("a part of a limit that processes share is held like a limit", async () => {
  const { tenths } = await crawlQueue({
    ...PLAN,
    attend: (handle) => handle.setLimit(LIMIT_BPS / 2, 4 * LIMIT_BPS),
  });
  const share = tenths.reduce((sum, bytes) => sum + bytes, 0) / (LIMIT_BPS * PLAN.seconds);
  assert.ok(share > 0.48 && share < 0.505, `${share} of twice the part`);
});
