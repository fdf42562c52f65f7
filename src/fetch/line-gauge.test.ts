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

test("a neighbour who keeps taking a tenth is noticed when our windows could not hold that, and forgotten when gone", () => {
  const line = new Line();
  const gauge = new LineGauge(line.read, () => HELD_BYTES);
  gauge.take(0, LIMIT_BPS);
  const second = (packets: number): number | undefined => {
    line.carry(packets);
    return gauge.take(100_000, LIMIT_BPS);
  };
  assert.equal(second(110), 117_260, "it may be what our windows took in");
  assert.equal(second(110), undefined);
  for (let busy = 0; busy < 100; busy++) second(110);
  assert.equal(second(100), undefined);
  for (let quiet = 0; quiet < 12; quiet++) second(100);
  assert.equal(second(100), 106_600);
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
