import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../../base/random.ts";
import { checkRateLimit, type RateEvidence } from "./rate-limit.ts";

const EVIDENCE: RateEvidence = {
  tenths: [],
  limits: [{ fromMs: 0, limitBps: 1_000 }],
  settleMs: 2_000,
  burstSeconds: 0.05,
  secondShareMax: 1.05,
};

test("a line filled to the limit has no violations", () => {
  assert.deepEqual(rulesOf(tenths(100, () => 100)), []);
});

test("planted: one tenth with too much in a full line is caught by both rules", () => {
  const flood = tenths(100, (tenth) => (tenth === 57 ? 160 : 100));
  assert.deepEqual(checkRateLimit({ ...EVIDENCE, tenths: flood }), [
    { rule: "burst", detail: "10 bytes more than 50 at 5800 ms" },
    { rule: "second", detail: "106.0 % of the limit in the second from 4800 ms: 1060 bytes" },
  ]);
});

test("planted: a rate slightly above the limit is caught once the excess exceeds the burst", () => {
  assert.deepEqual(rulesOf(tenths(100, () => 101)), ["burst"]);
  assert.deepEqual(rulesOf(tenths(40, () => 101)), []);
});

test("planted: unused bandwidth is no credit for later", () => {
  assert.deepEqual(rulesOf(tenths(100, (tenth) => (tenth === 80 ? 500 : 0))), ["burst"]);
  assert.deepEqual(rulesOf(tenths(100, (tenth) => (tenth < 50 ? 0 : 110))), ["burst", "second"]);
});

test("after a change the higher limit applies only until the crawl has settled", () => {
  const limits = [
    { fromMs: 0, limitBps: 4_000 },
    { fromMs: 5_000, limitBps: 1_000 },
  ];
  const settled = (tenthsLate: number): string[] =>
    rulesOf(
      tenths(100, (tenth) => (tenth < 50 + tenthsLate ? 400 : 100)),
      { limits },
    );
  assert.deepEqual(settled(0), []);
  assert.deepEqual(settled(20), []);
  assert.deepEqual(settled(25), ["burst", "second"]);
});

test("without a limit there are no violations", () => {
  const limits = [{ fromMs: 0, limitBps: undefined }];
  assert.deepEqual(rulesOf([1e12, 1e12], { limits }), []);
});

test("the leaky bucket agrees with a check of every interval", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const line = tenths(60, () => Math.floor(random.next() * 210));
    const found = rulesOf(line).includes("burst");
    assert.equal(found, isAnyIntervalOver(line), `seed ${seed}`);
  }
});

function isAnyIntervalOver(line: readonly number[]): boolean {
  for (let from = 0; from < line.length; from++) {
    let sum = 0;
    for (let to = from; to < line.length; to++) {
      sum += line[to] ?? 0;
      if (sum > 50 + 100 * (to - from + 1)) return true;
    }
  }
  return false;
}

function rulesOf(line: readonly number[], more: Partial<RateEvidence> = {}): string[] {
  return checkRateLimit({ ...EVIDENCE, ...more, tenths: line }).map(({ rule }) => rule);
}

function tenths(count: number, bytesIn: (tenth: number) => number): number[] {
  return Array.from({ length: count }, (_, tenth) => bytesIn(tenth));
}
