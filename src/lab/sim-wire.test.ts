import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import { secondsOf, SimWire, windowsOf } from "./sim-wire.ts";

test("a piece is counted evenly over its transit time", () => {
  const wire = new SimWire(1_000);
  wire.carry(1_050, 1_050, 7);
  wire.carry(1_050, 1_350, 300);
  assert.deepEqual(wire.tenths, [57, 100, 100, 50]);
});

test("packet overhead is added", () => {
  const wire = new SimWire(0, 0.05);
  wire.carry(10, 90, 1_000);
  assert.deepEqual(wire.tenths, [1_050]);
});

test("only whole seconds count, and windows start at every tenth", () => {
  const tenths = Array.from({ length: 25 }, (_, at) => at);
  assert.deepEqual(secondsOf(tenths), [45, 145]);
  const windows = windowsOf(tenths);
  assert.deepEqual([windows.length, windows[0], windows[1], windows[15]], [16, 45, 55, 195]);
});

test("the counted bytes equal the bytes carried", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomFrom(seed);
    const wire = new SimWire(0);
    let sent = 0;
    for (let count = 0; count < 200; count++) {
      const fromMs = random.next() * 5_000;
      const bytes = Math.floor(random.next() * 65_536);
      wire.carry(fromMs, fromMs + random.next() * 700, bytes);
      sent += bytes;
    }
    const counted = wire.tenths.reduce((sum, bytes) => sum + bytes, 0);
    assert.ok(Math.abs(counted - sent) < 1e-3, `seed ${seed}: ${counted} of ${sent}`);
  }
});
