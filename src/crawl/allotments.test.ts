import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultsOf } from "../config/resolve.ts";
import { SITE_SETTINGS } from "../config/schema.ts";
import { defaultSettings } from "../config/sources.ts";
import { TRAP_DEFAULTS } from "../frontier/traps.ts";
import {
  entriesIn,
  NEAR,
  RANKS_SHARE,
  politenessLimits,
  settingsBySite,
  SIEVE,
  SITES,
  trapLimits,
  WAITING,
} from "./allotments.ts";

const GIB = 2 ** 30;
const PLAIN = defaultsOf(SITE_SETTINGS);

test("the parts use nine sixteenths of --memory, with ranks thirteen; none falls below its least", () => {
  const settings = { ...defaultSettings(), memoryBytes: GIB };
  let bytes = 0;
  for (const use of [SIEVE, WAITING, SITES, NEAR])
    bytes += entriesIn(settings, use) * use.entryBytes;
  assert.ok(Math.abs(bytes / GIB - 9 / 16) < 0.001, `${bytes} bytes`);
  assert.ok(bytes / GIB + RANKS_SHARE < 14 / 16);
  const small = { ...settings, memoryBytes: 1000 };
  for (const use of [SIEVE, WAITING, SITES, NEAR])
    assert.equal(entriesIn(small, use), use.entriesMin);
});

test("the longest configured delay bounds the growth of delays", () => {
  const site = { ...PLAIN, url: "http://a.example/", delayMs: 90_000_000 };
  const { delayMaxMs } = politenessLimits({ ...defaultSettings(), sites: [site] });
  assert.equal(delayMaxMs, 90_000_000);
});

test("a larger budget of URLs is larger for queries too, never above the whole", () => {
  const { queryShapeUrlsMax } = trapLimits({ ...defaultSettings(), patternUrlsMax: 3 });
  assert.equal(queryShapeUrlsMax, 3);
  const patternUrlsMax = 4 * TRAP_DEFAULTS.shapeUrlsMax;
  const large = trapLimits({ ...defaultSettings(), patternUrlsMax });
  assert.equal(large.queryShapeUrlsMax, 4 * TRAP_DEFAULTS.queryShapeUrlsMax);
});

test("settings of a site are found by its key, however its seed is written", () => {
  const own = settingsBySite([
    { ...PLAIN, url: "HTTP://A.example:80/start", delayMs: 7 },
    { ...PLAIN, url: "not a url" },
  ]);
  assert.deepEqual([...own.keys()], ["http://a.example"]);
  assert.equal(own.get("http://a.example")?.delayMs, 7);
});
