import { deepEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import { MESSAGE_BYTES_MAX } from "../exchange/bus.ts";
import { readFingerprints, writeFingerprints } from "./fingerprint-codec.ts";

test("fingerprints survive their encoding, which leaves most of a message free", () => {
  const all = Array.from({ length: 1024 }, (_, index) => ({
    high: Math.imul(index, 0x9e3779b1) >>> 0,
    low: 2 ** 32 - 1 - index,
  }));
  const text = writeFingerprints(all);
  deepEqual(readFingerprints(text), all);
  ok(text.length < MESSAGE_BYTES_MAX / 5, `${text.length} characters`);
  deepEqual(readFingerprints(""), []);
  deepEqual(readFingerprints(text.slice(0, 20)), all.slice(0, 1));
});
