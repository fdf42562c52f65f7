import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { pack, unpack } from "./packing.ts";

const PACKING = {
  sender: "store-1",
  floor: 3,
  messages: [
    { seq: 4, body: Buffer.from("short"), part: 0, parts: 1 },
    { seq: 5, body: Buffer.from("a part of a long one"), part: 1, parts: 3 },
  ],
};

test("messages survive their packing", () => {
  assert.deepEqual(unpack(pack(PACKING)), PACKING);
  const none = { ...PACKING, messages: [] };
  assert.deepEqual(unpack(pack(none)), none);
});

test("a truncated parcel, or one with bytes at its end, is invalid", () => {
  const body = pack(PACKING);
  for (let bytes = 0; bytes < body.length; bytes++)
    assert.equal(unpack(body.subarray(0, bytes)), undefined, `${bytes} bytes`);
  assert.equal(unpack(Buffer.concat([body, Buffer.alloc(1)])), undefined);
});

test("a parcel with random bytes never throws, and yields messages within it only", () => {
  const random = randomFrom(1);
  for (let count = 0; count < 5_000; count++) {
    const body = Buffer.from(pack(PACKING));
    for (let flips = 0; flips < 3; flips++) body[below(random, body.length)] = below(random, 256);
    for (const { body: inside, part, parts } of unpack(body)?.messages ?? [])
      assert.ok(inside.length < body.length && part < parts);
  }
});
