import assert from "node:assert/strict";
import { test } from "node:test";
import { Gauge } from "./gauge.ts";

test("the first reading tells nothing, and every next one what came and what nobody believed", () => {
  const gauge = new Gauge();
  assert.equal(gauge.read(0, 1_000_000, 40), undefined);
  assert.deepEqual(gauge.read(25, 1_000_500, 340), { cameBytes: 500, missedBytes: 200 });
  assert.deepEqual(gauge.read(50, 1_000_600, 440), { cameBytes: 100, missedBytes: 0 });
});

test("what was believed and did not come is given back little by little, and what comes late is not paid for twice", () => {
  const gauge = new Gauge();
  gauge.read(0, 0, 0);
  const first = gauge.read(25, 0, 1_000)?.missedBytes ?? 0;
  assert.ok(first < 0 && first > -200, `${first} at once`);
  const late = gauge.read(25, 800, 1_000);
  assert.deepEqual(late, { cameBytes: 800, missedBytes: 0 });
  let givenBytes = first;
  for (let atMs = 50; atMs <= 2_000; atMs += 25)
    givenBytes += gauge.read(atMs, 800, 1_000)?.missedBytes ?? 0;
  assert.equal(Math.round(givenBytes), -200, "in the end all of it");
});

test("a line that cannot be read for a while is begun with anew", () => {
  const gauge = new Gauge();
  gauge.read(0, 1_000, 0);
  assert.ok(gauge.isRead);
  assert.equal(gauge.read(25, undefined, 0), undefined);
  assert.ok(!gauge.isRead);
  assert.equal(gauge.read(50, 9_000, 0), undefined);
  assert.deepEqual(gauge.read(75, 9_100, 100), { cameBytes: 100, missedBytes: 0 });
});
