import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultSettings } from "../config/sources.ts";
import { SimClock } from "../lab/sim-clock.ts";
import type { Coordinator } from "./coordinator.ts";
import { SharedSettings } from "./shared-settings.ts";

function sharedSettings(): { shared: SharedSettings; calls: unknown[][] } {
  const calls: unknown[][] = [];
  const coordinator = {
    hold: (...words: unknown[]) => calls.push(["hold", ...words]),
    setLimit: (limitBps: number | undefined) => calls.push(["limit", limitBps]),
    setPages: (pages: number) => calls.push(["pages", pages]),
  } as unknown as Coordinator;
  const shared = new SharedSettings({
    clock: new SimClock(),
    settings: { ...defaultSettings(), timeZone: "UTC" },
    coordinator: () => coordinator,
    onStop: (why) => calls.push(["stop", why]),
  });
  return { shared, calls };
}

test("limit, pause, pages and stop reach the coordinator; each process makes the others", () => {
  const { shared, calls } = sharedSettings();
  assert.match(shared.apply("limit", "1MB/s"), /1.00 MB\/s/);
  shared.apply("pause", "true");
  shared.apply("pages", "12");
  shared.apply("delay", "3s");
  shared.apply("stop", "now");
  assert.deepEqual(calls, [
    ["limit", 1_000_000],
    ["hold", "paused by the operator", true],
    ["pages", 12],
    ["stop", "stopped by the operator"],
  ]);
  assert.equal(shared.because, "paused by the operator");
  assert.equal(shared.limitBps, 1_000_000);
});

test("a new coordinator is paused like the one before", () => {
  const { shared, calls } = sharedSettings();
  shared.apply("pause", "true");
  calls.length = 0;
  shared.attach();
  assert.deepEqual(calls, [["hold", "paused by the operator", true]]);
});

test("a wrong value is refused and changes nothing", () => {
  const { shared, calls } = sharedSettings();
  assert.throws(() => shared.apply("limit", "fast"), /limit/);
  assert.throws(() => shared.apply("colour", "red"), /cannot be changed/);
  assert.deepEqual(calls, []);
});
