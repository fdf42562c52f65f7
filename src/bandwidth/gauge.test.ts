import assert from "node:assert/strict";
import { test } from "node:test";
import { Gauge } from "./gauge.ts";

test("the first reading tells nothing, and every next one what came and what nobody believed", () => {
  const gauge = new Gauge();
  assert.equal(gauge.read(1_000_000, 40), undefined);
  assert.deepEqual(gauge.read(1_000_500, 340), { cameBytes: 500, missedBytes: 200 });
  assert.deepEqual(gauge.read(1_000_600, 940), { cameBytes: 100, missedBytes: -500 });
});

test("a line that cannot be read for a while is begun with anew", () => {
  const gauge = new Gauge();
  gauge.read(1_000, 0);
  assert.ok(gauge.isRead);
  assert.equal(gauge.read(undefined, 0), undefined);
  assert.ok(!gauge.isRead);
  assert.equal(gauge.read(9_000, 0), undefined);
  assert.deepEqual(gauge.read(9_100, 100), { cameBytes: 100, missedBytes: 0 });
});
