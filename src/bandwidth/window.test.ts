import assert from "node:assert/strict";
import { test } from "node:test";
import { overheadFor, Widening, windowFor } from "./window.ts";

test("windows widen while the line has room and nobody to use it, and are as usual after a spill", () => {
  const widening = new Widening();
  const hungry = { isHungry: true, share: 0.4 };
  const full = { isHungry: false, share: 0.99 };
  const looks = [
    full,
    hungry,
    hungry,
    hungry,
    hungry,
    hungry,
    full,
    { ...full, share: 1.04 },
    hungry,
  ];
  assert.deepEqual(
    looks.map((look) => widening.look(look)),
    [1, 1, 2, 4, 8, 8, 8, 1, 1],
  );
});

test("the narrower windows are, the more packets add", () => {
  const overheads = [1e5, 1e6, 5e7, 1e9].map((limitBps) => overheadFor(windowFor(limitBps)));
  assert.deepEqual(
    overheads,
    overheads.toSorted((a, b) => b - a),
  );
  assert.ok((overheads[0] ?? 0) > 2 * (overheads[1] ?? 0));
});
