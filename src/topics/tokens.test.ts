import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../base/random.ts";
import { visibleText } from "../page/text.ts";
import { TERMS_MAX, termOf, Tokens } from "./tokens.ts";

const tokens = new Tokens();

function ofText(text: string): number[] {
  tokens.takeText(Buffer.from(text));
  return [...tokens.terms.subarray(0, tokens.count)];
}

function ofHtml(html: string): number[] {
  tokens.takeHtml(Buffer.from(html));
  return [...tokens.terms.subarray(0, tokens.count)];
}

function terms(words: string): number[] {
  return words === "" ? [] : words.split(" ").map(termOf);
}

test("words end at white space and punctuation, are lower-cased, and exclude numbers", () => {
  assert.deepEqual(
    ofText("The quick-brown FOX, 42 times (in 2002)!"),
    terms("the quick brown fox times in"),
  );
  assert.deepEqual(ofText(""), []);
  assert.deepEqual(ofText("  12.5 % -- "), []);
});

test("tags and scripts are not words, and a tag inside a word does not split it", () => {
  const html = `<title>no</title><p>One <b>bo</b>ld&nbsp;word&mdash;caf&eacute; AT&amp;T<script>no()</script><br>end`;
  assert.deepEqual(ofHtml(html), terms("one bold word café at t end"));
});

test("non-ASCII letters belong to words, in lower case; non-ASCII punctuation does not", () => {
  assert.deepEqual(
    ofText("Ärger „über“ ÉTÉ… Καλημέρα ПРИВЕТ"),
    terms("ärger über été καλημέρα привет"),
  );
  assert.deepEqual(ofText("one\u00a0two\u2014three\ufffdfour"), terms("one two three four"));
});

test("in scripts without spaces each character is a term", () => {
  assert.deepEqual(ofText("中文，网页 a"), terms("中 文 网 页 a"));
});

test("a megabyte of one word gives at most TERMS_MAX terms", () => {
  assert.equal(ofText("word ".repeat(200_000)).length, TERMS_MAX);
  assert.equal(ofText("w".repeat(1_000_000)).length, 1);
});

test("HTML and its visible text have the same terms", () => {
  const pieces = [
    "<p>",
    "</p>",
    "<b>",
    "</b>",
    "<div class=x>",
    "<br>",
    " ",
    "\n",
    "word",
    "Ünder",
    "&amp;",
    "&eacute;",
    "&#233;",
    "&nbsp;",
    "&lt;",
    "&notanentity;",
    "& ",
    "12",
    "don't",
    "日本",
    "<!-- no -->",
    "x1y",
    "<script>if (a<b) no()</script>",
    "<style>no</style>",
    "<textarea>no</textarea>",
  ];
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomFrom(seed);
    const html = Array.from({ length: 1 + below(random, 40) }, () => pick(random, pieces)).join("");
    const text = visibleText(Buffer.from(html), 1e6);
    assert.deepEqual(ofHtml(html), ofText(text), `seed ${seed}: ${html}`);
  }
});

test("random bytes never throw", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomFrom(seed);
    const bytes = Uint8Array.from({ length: below(random, 400) }, () => below(random, 256));
    tokens.takeText(bytes);
    assert.ok(tokens.count <= bytes.length, `seed ${seed}`);
    tokens.takeHtml(bytes);
    assert.ok(tokens.count <= bytes.length, `seed ${seed}`);
  }
});
