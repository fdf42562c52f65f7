import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { fingerprintOf } from "../url/fingerprint.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { PARTITION_KINDS, type Partition, partitionFor, readPartitionRule } from "./partition.ts";

const NO_RULES = { bucketCount: 1000, rules: [] };

function bucketsOf(partition: Partition, ...urls: readonly string[]): number[] {
  return urls.map((url) => partition.bucketOf(url as CanonicalUrl));
}

test("with site-hash all URLs of a host are in one bucket, under both schemes and both usual ports", () => {
  const partition = partitionFor("site-hash", NO_RULES);
  const buckets = bucketsOf(
    partition,
    "http://example.org/",
    "https://example.org/a/b?c=d",
    "https://example.org:80/",
    "http://example.org:443/a:80/",
  );
  assert.equal(new Set(buckets).size, 1);
  assert.equal(partition.keepsSites, true);
});

test("with site-hash another port or host is another site, and hosts in the path are ignored", () => {
  const partition = partitionFor("site-hash", NO_RULES);
  const buckets = bucketsOf(
    partition,
    "http://example.org/",
    "http://example.org:8080/",
    "http://www.example.org/",
    "http://[2001:db8::1]/",
    "http://[2001:db8::1]:8080/",
  );
  assert.equal(new Set(buckets).size, buckets.length);
  assert.equal(
    new Set(bucketsOf(partition, "http://a.org/http://b.org/", "http://a.org/http://c.org/")).size,
    1,
  );
});

test("with url-hash the pages of a site are in several buckets", () => {
  const partition = partitionFor("url-hash", NO_RULES);
  const buckets = bucketsOf(
    partition,
    ...Array.from({ length: 10 }, (_, n) => `http://a.org/${n}`),
  );
  assert.ok(new Set(buckets).size > 5);
  assert.equal(partition.keepsSites, false);
});

test("buckets are the same in every version, so that crawls can be resumed", () => {
  const url = "https://www.example.org:8080/a?b";
  const of = (kind: (typeof PARTITION_KINDS)[number]): number =>
    partitionFor(kind, { bucketCount: 4096, rules: [] }).bucketOf(url as CanonicalUrl);
  assert.deepEqual(PARTITION_KINDS.map(of), [3654, 663, 663]);
});

test("hashes fill the buckets evenly", () => {
  for (const kind of ["url-hash", "site-hash"] as const) {
    for (const bucketCount of [2, 7, 64]) {
      const partition = partitionFor(kind, { bucketCount, rules: [] });
      const counts = new Float64Array(bucketCount);
      const urls = 200 * bucketCount;
      for (let n = 0; n < urls; n++) {
        const bucket = partition.bucketOf(`http://site${n}.example/page` as CanonicalUrl);
        counts[bucket] = (counts[bucket] as number) + 1;
      }
      // Pearson's test: the statistic has mean k − 1 and deviation √(2(k − 1)).
      const statistic = counts.reduce((sum, count) => sum + (count - 200) ** 2 / 200, 0);
      const most = bucketCount - 1 + 5 * Math.sqrt(2 * (bucketCount - 1));
      assert.ok(statistic < most, `${kind} into ${bucketCount}: ${statistic}`);
    }
  }
});

test("buckets are independent of the fingerprints in them", () => {
  for (const kind of ["url-hash", "site-hash"] as const) {
    const partition = partitionFor(kind, { bucketCount: 2, rules: [] });
    const halves = [0, 0];
    for (let n = 0; n < 10_000; n++) {
      const url = `http://site${n}.example/` as CanonicalUrl;
      const { high, low } = fingerprintOf(url);
      if (partition.bucketOf(url) !== 0) continue;
      if (high >= 2 ** 31) halves[0] = (halves[0] ?? 0) + 1;
      if (low >= 2 ** 31) halves[1] = (halves[1] ?? 0) + 1;
    }
    for (const count of halves) assert.ok(Math.abs(count - 2500) < 250, `${kind}: ${count}`);
  }
});

test("rules apply first, in order, and other URLs are divided by site among the other buckets", () => {
  const rules = ["uk=.uk", "docs=path:docs.example.org/guide/", "de=country:de", "uk=.ac"].map(
    (text) => readPartitionRule(text) ?? assert.fail(text),
  );
  const partition = partitionFor("hierarchical", { bucketCount: 10, rules });
  assert.deepEqual(partition.groups, ["uk", "docs", "de"]);
  assert.equal(partition.keepsSites, false);
  assert.deepEqual(
    bucketsOf(
      partition,
      "http://www.bbc.co.uk/",
      "https://docs.example.org/guide/1",
      "http://example.de/",
      "http://x.ac/",
    ),
    [0, 1, 2, 0],
  );
  for (let n = 0; n < 100; n++) {
    const [bucket = 0, same] = bucketsOf(partition, `http://h${n}.org/`, `https://h${n}.org/a`);
    assert.ok(bucket >= 3 && bucket < 10);
    assert.equal(same, bucket);
  }
});

test("every URL has one of the buckets", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomFrom(seed);
    const bucketCount = 1 + below(random, 5000);
    const port = below(random, 2) === 0 ? "" : `:${1 + below(random, 65_535)}`;
    const url = `https://h${below(random, 1e6)}.org${port}/${below(random, 1e6)}` as CanonicalUrl;
    for (const kind of PARTITION_KINDS) {
      const bucket = partitionFor(kind, { bucketCount, rules: [] }).bucketOf(url);
      assert.ok(
        Number.isInteger(bucket) && bucket >= 0 && bucket < bucketCount,
        `seed ${seed}, ${kind}: ${bucket} of ${bucketCount}`,
      );
    }
  }
});
