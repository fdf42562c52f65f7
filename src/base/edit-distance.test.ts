import assert from "node:assert/strict";
import { test } from "node:test";
import { editsBetween } from "./edit-distance.ts";

test("edits are letters inserted, deleted, replaced, or swapped with their neighbour", () => {
  assert.equal(editsBetween("weir", "weir"), 0);
  assert.equal(editsBetween("wier", "weir"), 1);
  assert.equal(editsBetween("profesor", "professor"), 1);
  assert.equal(editsBetween("admisions", "admission"), 2);
  assert.equal(editsBetween("", "dam"), 3);
  assert.equal(editsBetween("dam", "weir"), 4);
});
