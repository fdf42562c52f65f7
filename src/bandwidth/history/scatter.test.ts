import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../../base/random.ts";
import { Scatter } from "./scatter.ts";
import { SpeedTable } from "./speed-table.ts";

const NOON = { minuteOfDay: 720, kind: "working" } as const;

const LN2 = { mean: Math.fround(Math.LN2), most: Math.fround(Math.LN2) };

/** A stretch of eight downloads, predicted at 1000 bytes a second. */
function stretch(scatter: Scatter, measuredBps: number, countBefore: number, fromMs = 0): void {
  for (let at = 0; at < 8; at++)
    scatter.learn(0, {
      predictedBps: at === 0 ? 1000 : 5,
      measuredBps,
      nowMs: fromMs + at,
      countBefore: countBefore + at,
    });
}

test("eight downloads at twice what was predicted before them stray by ln 2, and so do eight at half", () => {
  for (const measuredBps of [2000, 500]) {
    const scatter = new Scatter(1);
    stretch(scatter, measuredBps, 1);
    assert.deepEqual(scatter.at(0), LN2);
  }
});

test("the greatest stray is kept however much calmer the server becomes", () => {
  const scatter = new Scatter(1);
  stretch(scatter, 8000, 1);
  for (let count = 9; count < 800; count += 8) stretch(scatter, 1000, count);
  assert.equal(scatter.at(0)?.most, Math.fround(Math.log(8)));
});

test("the second stretch weighs half, and one after many an eighth", () => {
  const scatter = new Scatter(1);
  stretch(scatter, 2000, 1);
  stretch(scatter, 1000, 9);
  assert.ok(Math.abs((scatter.at(0)?.mean ?? 0) - Math.LN2 / 2) < 1e-6);
  scatter.set(0, { mean: 0, most: 0 });
  stretch(scatter, 2000, 801);
  assert.ok(Math.abs((scatter.at(0)?.mean ?? 0) - Math.LN2 / 8) < 1e-6);
});

test("before eight downloads nothing is known, and a stretch that an hour cuts begins anew", () => {
  const scatter = new Scatter(1);
  const one = { predictedBps: 1000, measuredBps: 9000, nowMs: 0 };
  for (let count = 0; count < 8; count++) scatter.learn(0, { ...one, countBefore: count });
  assert.equal(scatter.at(0), undefined);
  stretch(scatter, 2000, 8, 3_600_001);
  assert.deepEqual(scatter.at(0), LN2);
});

test("room for more servers changes nothing, in the middle of a stretch either", () => {
  const scatter = new Scatter(1);
  const one = { predictedBps: 1000, measuredBps: 2000, nowMs: 0 };
  for (let count = 1; count <= 4; count++) scatter.learn(0, { ...one, countBefore: count });
  scatter.grow(3);
  for (let count = 5; count <= 8; count++) scatter.learn(0, { ...one, countBefore: count });
  assert.deepEqual(scatter.at(0), LN2);
  assert.equal(scatter.at(2), undefined);
});

test("a wild server scatters more than a calm one, and the table keeps both through its rows", () => {
  for (let seed = 1; seed <= 10; seed++) {
    const random = randomFrom(seed);
    const options = { gain: 0.3, spreadMinutes: 120, serversMax: 10 };
    const table = new SpeedTable(options);
    for (let step = 0; step < 800; step++) {
      table.learn("calm", NOON, 1e5 * 1.1 ** (random.next() - 0.5), step);
      table.learn("wild", NOON, 1e5 * 30 ** (random.next() - 0.5), step);
    }
    const before = [...table.rows()].map((row) => row.scatter);
    const [calm = 0, wild = 0] = before.map((strayed) => strayed?.mean);
    assert.ok(calm > 0 && calm < 0.05 && wild > 5 * calm, `seed ${seed}: ${calm} and ${wild}`);
    const restored = new SpeedTable(options);
    restored.restore(structuredClone([...table.rows()]));
    assert.deepEqual(
      [...restored.rows()].map((row) => row.scatter),
      before,
      `seed ${seed}`,
    );
  }
});
