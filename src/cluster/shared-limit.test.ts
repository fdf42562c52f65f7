import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultSettings } from "../config/sources.ts";
import { SimClock } from "../lab/sim-clock.ts";
import { SharedLimit, withoutShared } from "./shared-limit.ts";

test("bytes of all processes count once, also after a restart of one; earlier ones do not", async () => {
  const clock = new SimClock();
  const limit = new SharedLimit(clock, defaultSettings());
  limit.received("a", "1", 0);
  limit.received("b", "2", 7_000);
  limit.received("a", "1", 1_000);
  limit.received("b", "2", 7_500);
  limit.received("a", "1", 1_500);
  limit.received("a", "3", 200);
  assert.equal(limit.meter.bytes, 2_200);
});

test("the quota ends the crawl when all processes together have used it up", () => {
  const clock = new SimClock();
  const limit = new SharedLimit(clock, { ...defaultSettings(), timeZone: "UTC" });
  const date = new Date(clock.wallMs()).toISOString().slice(0, 10);
  const usage = JSON.stringify({ date, dayBytes: 600, monthBytes: 600 });
  assert.equal(limit.whyQuotaEnds([usage, usage]), undefined);
  limit.quota = { bytes: 1_000, per: "day" };
  assert.equal(limit.whyQuotaEnds([usage]), undefined);
  assert.match(limit.whyQuotaEnds([usage, usage]) ?? "", /quota/i);
});

test("a process gets no limit of the whole from its settings", () => {
  const settings = { ...defaultSettings(), limitBps: 5, pagesMax: 7, delayMs: 3 };
  const { limitBps, pagesMax, delayMs } = withoutShared(settings);
  assert.deepEqual([limitBps, pagesMax, delayMs], [undefined, undefined, 3]);
});
