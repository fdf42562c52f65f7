import assert from "node:assert/strict";
import { test } from "node:test";
import {
  agreedAddressDelayMs,
  agreedDelayMs,
  delaysInAdvance,
  errandsBefore,
} from "./agreed-delay.ts";

const SETTINGS = { addressDelayMs: undefined, ignoreRobots: false, userAgent: "weir" };
const ROBOTS = { status: 200, text: "User-agent: *\nCrawl-delay: 9", fetchedAtMs: 0 };

test("a public site has a delay of 1 s, and 250 ms for its IP address; loopback has none", () => {
  const none = { crawlDelayMs: undefined };
  assert.deepEqual(
    [agreedDelayMs(undefined, false, none), agreedDelayMs(undefined, true, none)],
    [1000, 0],
  );
  assert.deepEqual(
    [agreedAddressDelayMs(SETTINGS, false), agreedAddressDelayMs(SETTINGS, true)],
    [250, 0],
  );
});

test("the longer of the configured delay and the one of robots.txt applies, up to one minute", () => {
  assert.equal(agreedDelayMs(5000, false, { crawlDelayMs: 2000 }), 5000);
  assert.equal(agreedDelayMs(100, true, { crawlDelayMs: 2000 }), 2000);
  assert.equal(agreedDelayMs(undefined, false, { crawlDelayMs: 86_400_000 }), 60_000);
});

test("a plan uses the delays that the crawl will keep", () => {
  const delays = delaysInAdvance("a.example", undefined, ROBOTS, SETTINGS);
  assert.deepEqual(delays, { delayMs: 9000, addressDelayMs: 250 });
  const ignored = delaysInAdvance("a.example", undefined, ROBOTS, {
    ...SETTINGS,
    ignoreRobots: true,
  });
  assert.equal(ignored.delayMs, 1000);
  for (const host of ["localhost", "www.localhost", "127.1.2.3", "[::1]"])
    assert.equal(delaysInAdvance(host, undefined, undefined, SETTINGS).delayMs, 0, host);
  assert.equal(delaysInAdvance("localhost.example", undefined, undefined, SETTINGS).delayMs, 1000);
});

test("one request each for robots.txt and a sitemap comes before the first page", () => {
  assert.equal(errandsBefore({ ignoreRobots: false, sitemaps: true }), 2);
  assert.equal(errandsBefore({ ignoreRobots: true, sitemaps: false }), 0);
});
