import assert from "node:assert/strict";
import { test } from "node:test";
import { communicationOverhead, coverage, overlap, quality } from "./metrics.ts";

test("the paper's figures by hand", () => {
  // 150 downloads of 100 pages; 90 of 120 pages; 2 of the best 4; 50 URLs over 100 pages.
  assert.equal(overlap(150, 100), 0.5);
  assert.equal(coverage(90, 120), 0.75);
  assert.equal(quality(new Set([1, 2, 3, 4]), new Set([2, 4, 6, 8])), 0.5);
  assert.equal(communicationOverhead(50, 100), 0.5);
});

test("a crawl that got nothing has figures too", () => {
  assert.deepEqual(
    [overlap(0, 0), coverage(0, 0), quality(new Set(), new Set([1])), communicationOverhead(0, 0)],
    [0, 0, 0, 0],
  );
});
