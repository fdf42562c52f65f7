import assert from "node:assert/strict";
import { test } from "node:test";
import type { Candidate } from "../controller.ts";
import { Handshakes } from "./tls-handshakes.ts";

const NEW: Candidate = {
  siteId: 1,
  predictedBps: 1e6,
  expectedBytes: 10_000,
  expectedWaitMs: 0,
  passedOverMs: 0,
};
const KNOWN: Candidate = { ...NEW, expectedWaitMs: 20 };

test("nothing is expected until a handshake was seen", () => {
  assert.equal(new Handshakes().expectedBytes(NEW), 0);
});

test("a new site needs a handshake like the others, a known one its mean share of them", () => {
  const handshakes = new Handshakes();
  handshakes.learn({ ...NEW, handshakeBytes: 4000 });
  handshakes.learn({ ...NEW, handshakeBytes: 5000 });
  assert.equal(handshakes.expectedBytes(NEW), 4100);
  assert.equal(handshakes.expectedBytes(KNOWN), 0);
  handshakes.learn({ ...KNOWN, handshakeBytes: 4000 });
  assert.equal(handshakes.expectedBytes(KNOWN), 400);
});

test("the expected size of a response does not include the handshake", () => {
  const handshakes = new Handshakes();
  handshakes.learn({ ...NEW, handshakeBytes: 4000 });
  assert.equal(handshakes.responseBytes(NEW), 6000);
  assert.equal(handshakes.responseBytes({ ...NEW, expectedBytes: 1000 }), 0);
});
