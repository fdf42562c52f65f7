import assert from "node:assert/strict";
import { test } from "node:test";
import { fitLine } from "./line-fit.ts";

test("a fit of points on a line is that line", () => {
  const fit = fitLine([
    [0, 3],
    [1, 5],
    [2, 7],
  ]);
  assert.deepEqual(fit, { slope: 2, intercept: 3, explained: 1 });
});

test("a fit of points near a line explains a part of their variance", () => {
  // The best line is horizontal at 1 and explains nothing.
  const horizontal = fitLine([
    [0, 0],
    [1, 3],
    [2, 0],
  ]);
  assert.deepEqual(horizontal, { slope: 0, intercept: 1, explained: 0 });
  // Means 1 and 4/3; slope (1 · 4/3 + 1 · 5/3) / 2 = 3/2; residual 1/6 of a total of 14/3.
  const rising = fitLine([
    [0, 0],
    [1, 1],
    [2, 3],
  ]);
  assert.ok(Math.abs(rising.slope - 1.5) < 1e-12);
  assert.ok(Math.abs(rising.explained - (1 - 1 / 6 / (14 / 3))) < 1e-12);
});
