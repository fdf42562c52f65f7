import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../base/random.ts";
import { foldedText, WordScanner } from "./search-words.ts";

const scanner = new WordScanner();

/** As they are kept: ASCII as it is, other letters in pieces; each of the latter is shown whole. */
function wordsOf(text: string): string[] {
  scanner.scan(Buffer.from(text));
  const room = new Uint8Array(64);
  return Array.from({ length: scanner.count }, (_, word) =>
    shown(room.subarray(0, scanner.letters(word, room, 64))),
  );
}

function shown(letters: Uint8Array): string {
  return String.fromCharCode(...letters);
}

function kept(text: string): string {
  const codes = Array.from(foldedText(text), (letter) => letter.codePointAt(0) ?? 0);
  return codes.map((code) => (code < 0x80 ? String.fromCharCode(code) : pieces(code))).join("");
}

function pieces(code: number): string {
  return code === 0 ? "" : String.fromCharCode(0x80 | (code & 0x7f)) + pieces(code >>> 7);
}

function namesOf(text: string): string[] {
  scanner.scan(Buffer.from(text));
  return Array.from({ length: scanner.count }, (_, at) => `${scanner.high[at]} ${scanner.low[at]}`);
}

test("words are letters and digits, without case and accents", () => {
  assert.deepEqual(wordsOf("The Weir's 2 low-dams!"), ["the", "weir", "s", "2", "low", "dams"]);
  assert.deepEqual(wordsOf("\u00c9t\u00e9 \u2013 \u201cCaf\u00e9\u201d\u00a0Gro\u00df"), [
    "ete",
    "cafe",
    kept("gro\u00df"),
  ]);
  assert.deepEqual(wordsOf("e\u0301t\u00e9"), ["ete"]);
  assert.deepEqual(wordsOf("\ud55c\uad6d\uc5b4 \u0440\u0415\u043a\u0410"), [
    kept("\ud55c\uad6d\uc5b4"),
    kept("\u0440\u0435\u043a\u0430"),
  ]);
  assert.deepEqual(
    wordsOf("\u5927\u962a castle\u57ce"),
    ["\u5927", "\u962a", "castle", "\u57ce"].map(kept),
  );
  assert.deepEqual(wordsOf(" \u2026 \ud83d\ude00 -- "), []);
});

test("one word has one name, however it is written, and others have others", () => {
  assert.deepEqual(namesOf("CAF\u00c9 cafe cafe\u0301").length, 3);
  assert.equal(new Set(namesOf("CAF\u00c9 cafe cafe\u0301")).size, 1);
  const many = Array.from({ length: 50_000 }, (_, number) => `w${number}`).join(" ");
  assert.equal(new Set(namesOf(many)).size, 50_000);
});

test("bytes that are no text are taken for what they are worth", () => {
  for (let seed = 1; seed <= 500; seed++) {
    const random = randomFrom(seed);
    const bytes = Uint8Array.from({ length: below(random, 60) }, () => below(random, 256));
    scanner.scan(bytes);
    assert.ok(scanner.count <= bytes.length, `seed ${seed}`);
    const room = new Uint8Array(64);
    for (let word = 0; word < scanner.count; word++)
      assert.ok(scanner.letters(word, room, 64) > 0, `seed ${seed}`);
  }
});

test("the words are those that Unicode says, over many texts", () => {
  const vocabulary = [
    "dam",
    "W\u00e9ir",
    " ",
    "-",
    "\u2014",
    "\u6c34",
    "7",
    "\u00df",
    "\u03a3",
    "\u0434",
    "\u3042",
  ];
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomFrom(seed);
    const text = Array.from({ length: below(random, 30) }, () => pick(random, vocabulary)).join("");
    const spaced = text.replace(/[\u6c34\u3042]/g, " $& ");
    const expected = spaced.match(/[\p{L}\p{N}]+/gu)?.map(kept) ?? [];
    assert.deepEqual(wordsOf(text), expected, `seed ${seed}: ${text}`);
  }
});
