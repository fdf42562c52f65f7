import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import {
  finishHigh,
  finishLow,
  fingerprintOf,
  LANE_A_START,
  LANE_B_START,
  stepA,
  stepB,
} from "./fingerprint.ts";

test("a URL hashed at once and its bytes hashed in two parts have the same fingerprint", () => {
  const url = "https://example.org/docs/a.html?x=1";
  const whole = fingerprintOf(url);
  let laneA = LANE_A_START;
  let laneB = LANE_B_START;
  for (const part of [url.slice(0, 20), url.slice(20)])
    for (const byte of Buffer.from(part)) {
      laneA = stepA(laneA, byte);
      laneB = stepB(laneB, byte);
    }
  const low = finishLow(laneA, laneB);
  assert.deepEqual({ high: finishHigh(laneA, laneB, low), low }, whole);
});

test("a fingerprint never changes from one version to the next, since stores keep it", () => {
  assert.deepEqual(fingerprintOf("http://example.org/"), { high: 3305998102, low: 98020644 });
});

test("changing a bit of the input flips about half of the output bits", () => {
  const random = randomFrom(7);
  const flipped = Array.from({ length: 64 }, () => 0);
  const trials = 4000;
  for (let trial = 0; trial < trials; trial++) {
    const bytes = Buffer.from(
      Array.from({ length: 1 + below(random, 60) }, () => below(random, 256)),
    );
    const before = fingerprintOf(bytes.toString("latin1"));
    const place = below(random, bytes.length);
    bytes[place] = (bytes[place] ?? 0) ^ (1 << below(random, 8));
    const after = fingerprintOf(bytes.toString("latin1"));
    for (let bit = 0; bit < 32; bit++) {
      flipped[bit] = (flipped[bit] ?? 0) + (((before.low ^ after.low) >>> bit) & 1);
      flipped[32 + bit] = (flipped[32 + bit] ?? 0) + (((before.high ^ after.high) >>> bit) & 1);
    }
  }
  for (const [bit, count] of flipped.entries())
    assert.ok(Math.abs(count / trials - 0.5) < 0.05, `bit ${bit} flipped in ${count} of ${trials}`);
});

test("halves of fingerprints collide as often as random numbers, whole fingerprints never", () => {
  const count = 300_000;
  const halves = [new Set<number>(), new Set<number>(), new Set<number>()];
  const whole = new Set<number>();
  for (let number = 0; number < count; number++) {
    const { high, low } = fingerprintOf(`https://example.org/item?id=${number}`);
    halves[0]?.add(high);
    halves[1]?.add(low);
    halves[2]?.add((high << 16) | (low >>> 16));
    whole.add((high & 0xfffff) * 2 ** 32 + low);
  }
  // Birthday problem: n²/2 pairs over 2³² values give 10.5 collisions, Poisson.
  for (const half of halves) assert.ok(count - half.size < 30, `${count - half.size} collisions`);
  assert.equal(whole.size, count);
});
