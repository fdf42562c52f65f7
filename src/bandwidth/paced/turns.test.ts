import assert from "node:assert/strict";
import { test } from "node:test";
import { pacedFlow, type PacedFlow } from "./paced-flow.ts";
import { Turns } from "./turns.ts";

const flowOf = (siteId: number): PacedFlow =>
  pacedFlow(
    0,
    { siteId, predictedBps: 1, expectedBytes: 1, expectedWaitMs: 0, passedOverMs: 0 },
    8192,
  );

test("who is in the middle of a turn goes on before those who came earlier", () => {
  const turns = new Turns<PacedFlow>();
  const [early, late, inTurn] = [flowOf(1), flowOf(2), flowOf(3)];
  turns.add(early, false);
  turns.add(late, false);
  turns.add(inTurn, true);
  assert.equal(turns.size, 3);
  assert.equal(turns.first(), inTurn);
  turns.delete(inTurn);
  assert.equal(turns.first(), early);
  assert.equal(turns.goesFirst(flowOf(4)), false);
});

test("ranks come before turns", () => {
  const turns = new Turns<PacedFlow>();
  const [first, inTurn] = [flowOf(1), flowOf(2)];
  turns.setOrder((siteId) => siteId);
  turns.add(inTurn, true);
  turns.add(first, false);
  assert.equal(turns.first(), first);
  assert.equal(turns.isBefore(2), true);
  assert.equal(turns.isBefore(1), false);
});
