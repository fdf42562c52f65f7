import assert from "node:assert/strict";
import { test } from "node:test";
import { LineRate } from "./line-rate.ts";

const LIMIT_BPS = 3_000_000;

/** Seconds of four looks each, with bytes and whether requests waited throughout. */
function after(seconds: readonly (readonly [bps: number, isWaiting: boolean])[]): LineRate {
  const rate = new LineRate();
  rate.look(0, 0, seconds[0]?.[1] ?? false);
  for (const [second, [bps, isWaiting]] of seconds.entries())
    for (let look = 1; look <= 4; look++)
      rate.look(1000 * second + 250 * look, bps / 4, isWaiting || look < 4);
  return rate;
}

const START = [0, true] as const;

test("a line that gives a third of the limit for three seconds is what a plan counts on", () => {
  const third = [1_000_000, true] as const;
  assert.equal(after([START, third, third]).within(LIMIT_BPS), LIMIT_BPS, "two seconds are chance");
  assert.equal(after([START, third, third, third]).within(LIMIT_BPS), 1_000_000);
  assert.equal(after([START, third, third, third]).within(800_000), 800_000);
});

test("seconds in which no request waited at some look tell nothing", () => {
  const pause = [1_000_000, false] as const;
  assert.equal(after([START, pause, pause, pause, pause]).within(LIMIT_BPS), LIMIT_BPS);
});

test("the highest of the last ten seconds counts, and one that fills the limit shows that the line can", () => {
  const slow = [1_000_000, true] as const;
  const some = [slow, slow, slow];
  assert.equal(after([START, ...some, [1_500_000, true]]).within(LIMIT_BPS), 1_500_000);
  assert.equal(after([START, ...some, [2_800_000, true]]).within(LIMIT_BPS), LIMIT_BPS);
  const long = Array.from({ length: 10 }, () => slow);
  assert.equal(after([START, [2_800_000, true], ...long.slice(1)]).within(LIMIT_BPS), LIMIT_BPS);
  assert.equal(after([START, [2_800_000, true], ...long]).within(LIMIT_BPS), 1_000_000);
});

test("the first second, in which connections are made, is left out", () => {
  const slow = [1_000_000, true] as const;
  assert.equal(after([[9e6, true], slow, slow, slow]).within(LIMIT_BPS), 1_000_000);
});

test("ten silent seconds are an outage, and tell nothing of the line", () => {
  const silent = after(Array.from({ length: 12 }, () => [0, true] as const));
  assert.equal(silent.within(LIMIT_BPS), LIMIT_BPS);
});
