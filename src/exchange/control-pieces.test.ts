import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, deflateRawSync } from "node:zlib";
import { below, randomFrom } from "../base/random.ts";
import { MESSAGE_BYTES_MAX } from "./bus.ts";
import { MessageJoiner, textsOf } from "./control-pieces.ts";

const FROM_A = { from: "a", to: "z" };

/** Text that does not get shorter by packing. */
function noise(bytes: number, seed = 1): string {
  const random = randomFrom(seed);
  const all = Buffer.from(
    Array.from({ length: Math.ceil((bytes * 3) / 4) }, () => below(random, 256)),
  );
  return all.toString("base64").slice(0, bytes);
}

test("a control message within the limit is its JSON with a checksum, and no text is ever longer than the limit", () => {
  const [text = ""] = textsOf(FROM_A, { kind: "heard" });
  assert.match(text, /^[a-z0-9]+ {"kind":"heard"}$/);
  for (const bytes of [MESSAGE_BYTES_MAX, 3 * MESSAGE_BYTES_MAX, 12 * MESSAGE_BYTES_MAX]) {
    const texts = textsOf(FROM_A, { text: noise(bytes) });
    assert.ok(texts.length > 0);
    for (const text of texts) assert.ok(Buffer.byteLength(text) <= MESSAGE_BYTES_MAX);
  }
});

test("pieces are one control message again in any order and company, and not while one is missing", () => {
  const joiner = new MessageJoiner();
  const [one, two] = [{ text: noise(200_000, 1) }, { text: noise(200_000, 2) }];
  const texts = [
    ...textsOf(FROM_A, one).map((text) => ["a", text]),
    ...textsOf({ from: "b", to: "z" }, two).map((text) => ["b", text]),
  ];
  const whole = texts
    .toReversed()
    .flatMap(([from = "", text = ""]) => joiner.add({ from, to: "z" }, text) ?? []);
  assert.deepEqual(whole, [two, one]);
  const [, ...rest] = textsOf(FROM_A, one);
  assert.deepEqual(
    rest.map((text) => joiner.add(FROM_A, text)),
    rest.map(() => undefined),
  );
});

test("at most 32 unfinished control messages are kept, and a control message of more than 16 pieces is lost", () => {
  const joiner = new MessageJoiner();
  const [first = "", ...rest] = textsOf(FROM_A, { text: noise(100_000) });
  joiner.add(FROM_A, first);
  for (let count = 0; count < 31; count++) joiner.add({ from: `other ${count}`, to: "z" }, first);
  assert.notEqual(rest.map((text) => joiner.add(FROM_A, text)).at(-1), undefined);
  joiner.add(FROM_A, first);
  for (let count = 0; count < 32; count++) joiner.add({ from: `another ${count}`, to: "z" }, first);
  assert.equal(rest.map((text) => joiner.add(FROM_A, text)).at(-1), undefined);
  assert.deepEqual(textsOf(FROM_A, { text: noise(17 * MESSAGE_BYTES_MAX) }), []);
  assert.deepEqual(joiner.add(FROM_A, `~1 0 17 ${"A".repeat(8)}`), {});
});

test("what is no control message, or unpacks to more than 16 MiB, has no fields", () => {
  const joiner = new MessageJoiner();
  const packed = (length: number): string => {
    const text = JSON.stringify({ text: "x".repeat(length) });
    const base64 = deflateRawSync(text).toString("base64");
    return `~${crc32(`a\nz\n${base64}`).toString(36)} 0 1 ${base64}`;
  };
  assert.equal(Object.keys(joiner.add(FROM_A, packed(15 * 2 ** 20)) ?? {}).length, 1);
  for (const text of [
    "",
    "null",
    "[1]",
    '"a"',
    "{",
    "~",
    "~1 0 1 !",
    "~1 0 1 AAAA",
    packed(17 * 2 ** 20),
  ])
    assert.deepEqual(joiner.add(FROM_A, text), {}, text.slice(0, 20));
});

test("a control message that was altered on its way, or sent on to another node, has no fields", () => {
  const [text = ""] = textsOf(FROM_A, { kind: "heard", grant: 12 });
  assert.deepEqual(new MessageJoiner().add(FROM_A, text), { kind: "heard", grant: 12 });
  for (const other of [
    { from: "b", to: "z" },
    { from: "a", to: "y" },
  ])
    assert.deepEqual(new MessageJoiner().add(other, text), {});
  for (let at = 0; at < text.length; at++) {
    const altered = `${text.slice(0, at)}${text[at] === "1" ? "2" : "1"}${text.slice(at + 1)}`;
    assert.deepEqual(new MessageJoiner().add(FROM_A, altered), {}, altered);
  }
});
