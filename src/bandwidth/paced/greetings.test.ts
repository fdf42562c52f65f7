import assert from "node:assert/strict";
import { test } from "node:test";
import type { Candidate } from "../controller.ts";
import { Greetings } from "./greetings.ts";

const KNOWN: Candidate = {
  siteId: 1,
  predictedBps: 1e6,
  expectedBytes: 10_000,
  expectedWaitMs: 5,
  passedOverMs: 0,
};
const NEW: Candidate = { ...KNOWN, expectedBytes: 2_500, expectedWaitMs: 0 };

test("a site of which nothing has come is expected to be greeted, whatever the others bring", () => {
  const greetings = new Greetings();
  assert.equal(greetings.expectedBytes(NEW), 0);
  greetings.learn({ ...NEW, greetingBytes: 2_400 });
  for (let request = 0; request < 50; request++) greetings.learn({ ...KNOWN, greetingBytes: 100 });
  assert.equal(greetings.expectedBytes(NEW), 2_400);
  assert.equal(
    greetings.answerBytes(NEW),
    100,
    "the size of a first answer has the greeting in it",
  );
});

test("of known sites the mean over requests is expected, and nothing where that is little", () => {
  const greetings = new Greetings();
  for (let request = 0; request < 200; request++)
    greetings.learn({ ...KNOWN, greetingBytes: request % 4 === 0 ? 4_000 : 0 });
  const expectedBytes = greetings.expectedBytes(KNOWN);
  assert.ok(expectedBytes > 700 && expectedBytes < 1_300, `${expectedBytes}`);
  for (let request = 0; request < 200; request++) greetings.learn({ ...KNOWN, greetingBytes: 0 });
  assert.equal(greetings.expectedBytes(KNOWN), 0);
  assert.equal(greetings.answerBytes(KNOWN), 10_000);
});

test("a greeting without an end is not let go on", () => {
  const greetings = new Greetings();
  assert.equal(greetings.mayGoOn({ ...NEW, greetingBytes: 5_000 }), true);
  assert.equal(greetings.mayGoOn({ ...NEW, greetingBytes: 50_000 }), false);
});
