import { ok } from "node:assert/strict";
import { test } from "node:test";
import { fingerprintOf } from "../url/fingerprint.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { partitionFor } from "./partition.ts";
import { isInSample } from "./sample.ts";

const URLS = Array.from(
  { length: 20_000 },
  (_, page) => `http://site${page % 97}.example/page/${page}` as CanonicalUrl,
);

function sampled(urls: readonly CanonicalUrl[], share: number): CanonicalUrl[] {
  return urls.filter((url) => {
    const { high, low } = fingerprintOf(url);
    return isInSample(high, low, share);
  });
}

test("a sample has the requested share, all URLs at 1 and none at 0", () => {
  ok(sampled(URLS, 1).length === URLS.length);
  ok(sampled(URLS, 0).length === 0);
  for (const share of [0.01, 0.1, 0.5]) {
    const expected = share * URLS.length;
    const four = 4 * Math.sqrt(expected * (1 - share));
    const { length } = sampled(URLS, share);
    ok(Math.abs(length - expected) < four, `${length} instead of ${expected}`);
  }
});

test("a larger sample contains the smaller one, and samples all parts of the web equally", () => {
  const small = new Set(sampled(URLS, 0.05));
  ok(small.isSubsetOf(new Set(sampled(URLS, 0.2))));
  const partition = partitionFor("url-hash", { bucketCount: 8, rules: [] });
  const parts = Map.groupBy(sampled(URLS, 0.2), (url) => partition.bucketOf(url));
  const expected = (0.2 * URLS.length) / 8;
  for (const { length } of parts.values())
    ok(Math.abs(length - expected) < 5 * Math.sqrt(expected), `${length} instead of ${expected}`);
});
