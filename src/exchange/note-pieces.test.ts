import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { below, randomFrom } from "../base/random.ts";
import { NOTE_BYTES_MAX } from "./bus.ts";
import { NoteJoiner, textsOf } from "./note-pieces.ts";

/** Text that does not get shorter by packing. */
function noise(bytes: number, seed = 1): string {
  const random = randomFrom(seed);
  const all = Buffer.from(
    Array.from({ length: Math.ceil((bytes * 3) / 4) }, () => below(random, 256)),
  );
  return all.toString("base64").slice(0, bytes);
}

test("a note within the limit is its JSON, and no text is ever longer than the limit", () => {
  assert.deepEqual(textsOf({ kind: "heard" }), ['{"kind":"heard"}']);
  for (const bytes of [NOTE_BYTES_MAX, 3 * NOTE_BYTES_MAX, 12 * NOTE_BYTES_MAX]) {
    const texts = textsOf({ text: noise(bytes) });
    assert.ok(texts.length > 0);
    for (const text of texts) assert.ok(Buffer.byteLength(text) <= NOTE_BYTES_MAX);
  }
});

test("pieces are one note again in any order and company, and not while one is missing", () => {
  const joiner = new NoteJoiner();
  const [one, two] = [{ text: noise(200_000, 1) }, { text: noise(200_000, 2) }];
  const texts = [
    ...textsOf(one).map((text) => ["a", text]),
    ...textsOf(two).map((text) => ["b", text]),
  ];
  const whole = texts
    .toReversed()
    .flatMap(([from = "", text = ""]) => joiner.add(from, text) ?? []);
  assert.deepEqual(whole, [two, one]);
  const [, ...rest] = textsOf(one);
  assert.deepEqual(
    rest.map((text) => joiner.add("a", text)),
    rest.map(() => undefined),
  );
});

test("at most 32 unfinished notes are kept, and a note of more than 16 pieces is lost", () => {
  const joiner = new NoteJoiner();
  const [first = "", ...rest] = textsOf({ text: noise(100_000) });
  joiner.add("a", first);
  for (let count = 0; count < 31; count++) joiner.add(`other ${count}`, first);
  assert.notEqual(rest.map((text) => joiner.add("a", text)).at(-1), undefined);
  joiner.add("a", first);
  for (let count = 0; count < 32; count++) joiner.add(`another ${count}`, first);
  assert.equal(rest.map((text) => joiner.add("a", text)).at(-1), undefined);
  assert.deepEqual(textsOf({ text: noise(17 * NOTE_BYTES_MAX) }), []);
  assert.deepEqual(joiner.add("a", `~1 0 17 ${"A".repeat(8)}`), {});
});

test("what is no note, or unpacks to more than 16 MiB, has no fields", () => {
  const joiner = new NoteJoiner();
  const packed = (length: number): string => {
    const text = JSON.stringify({ text: "x".repeat(length) });
    return `~1 0 1 ${deflateRawSync(text).toString("base64")}`;
  };
  assert.equal(Object.keys(joiner.add("a", packed(15 * 2 ** 20)) ?? {}).length, 1);
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
    assert.deepEqual(joiner.add("a", text), {}, text.slice(0, 20));
});
