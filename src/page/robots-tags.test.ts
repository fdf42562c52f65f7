import assert from "node:assert/strict";
import { test } from "node:test";
import { readRobotsHeaders, readRobotsWords, robotNameOf } from "./robots-tags.ts";

const YES = { noindex: true, nofollow: true };
const NO = { noindex: false, nofollow: false };

test("words count in any case and order", () => {
  assert.deepEqual(readRobotsWords("NOINDEX,NoFollow"), YES);
  assert.deepEqual(readRobotsWords("  none "), YES);
  assert.deepEqual(readRobotsWords("index, follow, max-snippet:-1"), NO);
});

test("headers for other robots are ignored, those for this one and for all add up", () => {
  assert.deepEqual(readRobotsHeaders(["googlebot: noindex, nofollow"], "weir"), NO);
  assert.deepEqual(readRobotsHeaders(["Weir: noindex, nofollow"], "weir"), YES);
  assert.deepEqual(readRobotsHeaders(["noindex", "otherbot: none, weir: nofollow"], "weir"), YES);
  assert.deepEqual(
    readRobotsHeaders(["unavailable_after: 25 Jun 2030 15:00:00 PST, none"], "weir"),
    YES,
  );
  assert.deepEqual(readRobotsHeaders([], "weir"), NO);
});

test("the robot is named by the product token of its user agent", () => {
  assert.equal(robotNameOf("Weir/0.1.0 (+you@example.org)"), "weir");
  assert.equal(robotNameOf("FooBot/1.0"), "foobot");
  assert.deepEqual(readRobotsHeaders(["FooBot: none", "weir: none"], "foobot"), YES);
  assert.deepEqual(readRobotsHeaders(["weir: none"], "foobot"), NO);
});
