import assert from "node:assert/strict";
import { test } from "node:test";
import { Governor } from "../../bandwidth/paced/governor.ts";
import { Admission } from "../../bandwidth/papers/admission.ts";
import { OnOff } from "../../bandwidth/papers/on-off.ts";
import { defaultSettings } from "../../config/sources.ts";
import { crawlQueue } from "../../lab/experiments/queue-crawl.ts";
import { PAGE_MIXES } from "../../lab/world/mixes.ts";
import { controllerFor } from "./limiter.ts";

test("the setting chooses the controller", () => {
  const settings = defaultSettings();
  const kinds = (["paced", "predict", "onoff"] as const).map(
    (control) => controllerFor({ ...settings, control }, 0).constructor,
  );
  assert.deepEqual(kinds, [Governor, Admission, OnOff]);
});

test("a limit that is set during the crawl applies to downloads under way", async () => {
  const limitBps = 200_000;
  const { tenths } = await crawlQueue({
    seed: 1,
    queue: "sites",
    world: { siteCount: 4, ...PAGE_MIXES.large, speedBpsMin: 2e5, speedBpsMax: 2e5 },
    settings: { bodyBytesMax: 32_000_000 },
    pagesPerSite: 40,
    warmUpSeconds: 0,
    seconds: 12,
    attend: (handle, clock) => void clock.after(4000, () => handle.setLimit(limitBps)),
  });
  const share = (from: number, to: number): number =>
    (tenths.slice(from, to).reduce((sum, bytes) => sum + bytes, 0) * 10) / (to - from) / limitBps;
  assert.ok(share(20, 40) > 3, `${share(20, 40)} times the limit before it is set`);
  assert.ok(share(60, 120) > 0.95 && share(60, 120) < 1.02, `${share(60, 120)} of it afterwards`);
});
