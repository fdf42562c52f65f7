import assert from "node:assert/strict";
import { test } from "node:test";
import { candidateOf, fingerprintsOf } from "./candidate.ts";
import { urlOf } from "./small-crawl.suite.ts";

test("candidates of one URL have one fingerprint, however it is written", () => {
  const url = urlOf("http://a.example/%7Euser");
  const plain = candidateOf({ url, written: undefined });
  const written = candidateOf({ url, written: "http://a.example/%7euser" });
  assert.deepEqual([plain.high, plain.low], [written.high, written.low]);
  const other = candidateOf({ url: urlOf("http://a.example/"), written: undefined });
  assert.notDeepEqual([plain.high, plain.low], [other.high, other.low]);
  const { high, low, count } = fingerprintsOf([plain, other]);
  assert.deepEqual(
    [count, high[0], low[0], high[1], low[1]],
    [2, plain.high, plain.low, other.high, other.low],
  );
});
