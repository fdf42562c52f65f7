import assert from "node:assert/strict";
import { test } from "node:test";
import { readRobotsHeaders, readRobotsWords } from "./robots-tags.ts";

const YES = { noindex: true, nofollow: true };
const NO = { noindex: false, nofollow: false };

test("words count in any case and order", () => {
  assert.deepEqual(readRobotsWords("NOINDEX,NoFollow"), YES);
  assert.deepEqual(readRobotsWords("  none "), YES);
  assert.deepEqual(readRobotsWords("index, follow, max-snippet:-1"), NO);
});

test("headers for others are passed over, headers for us and for all add up", () => {
  assert.deepEqual(readRobotsHeaders(["googlebot: noindex, nofollow"]), NO);
  assert.deepEqual(readRobotsHeaders(["Weir: noindex, nofollow"]), YES);
  assert.deepEqual(readRobotsHeaders(["noindex", "otherbot: none, weir: nofollow"]), YES);
  assert.deepEqual(readRobotsHeaders(["unavailable_after: 25 Jun 2030 15:00:00 PST, none"]), YES);
  assert.deepEqual(readRobotsHeaders([]), NO);
});
