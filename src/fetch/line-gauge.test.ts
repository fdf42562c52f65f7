import assert from "node:assert/strict";
import { test } from "node:test";
import type { LineCounters } from "./line-counters.ts";
import { LineGauge } from "./line-gauge.ts";

const LIMIT_BPS = 100_000;
const HELD_BYTES = 5_000;

/** An interface that carries packets of a thousand bytes and their headers. */
class Line {
  bytes = 7_000_000;
  packets = 9_000;
  isPrompt = true;

  readonly read = (): LineCounters[] => {
    const { bytes, packets, isPrompt } = this;
    return [{ line: "eth0", bytes, packets, headerBytes: 66, isPrompt }];
  };

  carry(packets: number): void {
    this.bytes += packets * 1_066;
    this.packets += packets;
  }
}

test("of a line of our own all that came is told, read or not", () => {
  const line = new Line();
  const gauge = new LineGauge(line.read, () => HELD_BYTES);
  assert.equal(gauge.take(0, LIMIT_BPS), 0);
  line.carry(5);
  assert.equal(gauge.take(2_000, LIMIT_BPS), 5_330);
  assert.equal(gauge.take(3_000, LIMIT_BPS), 0);
});

test("where more came than we read and our windows hold, others use the line, until they no longer do", () => {
  const line = new Line();
  const gauge = new LineGauge(line.read, () => HELD_BYTES);
  gauge.take(0, LIMIT_BPS);
  line.carry(50);
  assert.equal(gauge.take(40_000, LIMIT_BPS), undefined);
  const told: (number | undefined)[] = [];
  for (let second = 0; second < 20; second++) {
    line.carry(100);
    told.push(gauge.take(100_000, LIMIT_BPS));
  }
  assert.equal(told.at(-1), 106_600);
});

test("what is counted late, or by nobody, tells nothing of a moment", () => {
  const line = new Line();
  const gauge = new LineGauge(line.read, () => HELD_BYTES);
  gauge.take(0, LIMIT_BPS);
  line.isPrompt = false;
  line.carry(5);
  assert.equal(gauge.take(5_000, LIMIT_BPS), undefined);
  assert.equal(
    new LineGauge(
      () => [],
      () => HELD_BYTES,
    ).take(0, LIMIT_BPS),
    undefined,
  );
});
