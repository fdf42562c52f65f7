import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { communicationOverhead, coverage, overlap, quality, qualityOfBest } from "./metrics.ts";

const isThere = (): boolean => true;

test("the paper's figures by hand", () => {
  // 150 downloads of 100 pages; 90 of 120 pages; 2 of the best 4; 50 URLs over 100 pages.
  assert.equal(overlap(150, 100), 0.5);
  assert.equal(coverage(90, 120), 0.75);
  assert.equal(quality(new Set([1, 2, 3, 4]), new Set([2, 4, 6, 8])), 0.5);
  assert.equal(communicationOverhead(50, 100), 0.5);
});

test("the figures of a crawl without pages are 0", () => {
  assert.deepEqual(
    [overlap(0, 0), coverage(0, 0), quality(new Set(), new Set([1])), communicationOverhead(0, 0)],
    [0, 0, 0, 0],
  );
});

test("among pages of equal worth, the downloaded share counts for the remaining places", () => {
  // The best is downloaded; of the three that share the second and third place, one.
  const worth = Float64Array.of(0.1, 0.4, 0.2, 0.2, 0.2);
  const got = new Set([1, 3]);
  assert.equal(
    qualityOfBest(worth, 3, (page) => got.has(page)),
    (1 + 2 / 3) / 3,
  );
  assert.equal(qualityOfBest(worth, 99, isThere), 1);
  assert.equal(
    qualityOfBest(new Float64Array(0), 3, isThere) + qualityOfBest(worth, 0, isThere),
    0,
  );
});

test("without ties, both functions give the same quality", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const worth = Float64Array.from({ length: 1 + below(random, 200) }, () => random.next());
    const count = 1 + below(random, worth.length);
    const order = [...worth.keys()].sort((a, b) => (worth[b] as number) - (worth[a] as number));
    const got = new Set(worth.keys().filter(() => random.next() < 0.5));
    const wanted = quality(new Set(order.slice(0, count)), got);
    assert.equal(
      qualityOfBest(worth, count, (page) => got.has(page)),
      wanted,
      `seed ${seed}`,
    );
  }
});
