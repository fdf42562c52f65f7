import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../base/random.ts";
import { END_OF_PAGE, HtmlScanner } from "./html-scanner.ts";
import { packText, unpackText, wordBytes } from "./packed-text.ts";
import { visibleText } from "./text.ts";

function packed(html: string, bytesMax = 1_000_000): string {
  const bytes = Buffer.from(html);
  const scanner = new HtmlScanner({ tellImages: false });
  scanner.start(bytes);
  while (scanner.next() !== END_OF_PAGE);
  return unpackText(packText(bytes, scanner.runs, bytesMax));
}

test("unpacked text has the words of all blocks, with references decoded", () => {
  const text = packed("<p>one <b>t</b>wo</p><script>no</script><p>caf\u00e9 &amp; t&eacute;</p>");
  assert.deepEqual(text.trim().split(/\s+/), ["one", "two", "caf\u00e9", "&", "t\u00e9"]);
  assert.equal(packed(""), "");
});

test("a text is cut at its limit", () => {
  assert.equal(packed(`<p>${"x".repeat(500)}</p><p>y</p>`, 100).trim().length, 99);
});

test("the words of any page are those of its visible text", () => {
  const pieces = ["<p>", "</p>", "<b>", "</b>", "a", "zwei", " ", "\n", "&amp;", "<br>", "\u6f22"];
  pieces.push("<script>x</script>", "word".repeat(40), "<!-- c -->", "<td>", "</table>");
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomFrom(seed);
    const html = Array.from({ length: below(random, 60) }, () => pick(random, pieces)).join("");
    const expected = visibleText(Buffer.from(html), 1_000_000);
    assert.deepEqual(wordsOf(packed(html)), wordsOf(expected), `seed ${seed}: ${html}`);
  }
});

test("for searching, references become letters or, if they stand for none, spaces", () => {
  assert.deepEqual(found("low&nbsp;dam &amp; &ldquo;weir&rdquo;"), ["low", "dam", "weir"]);
  assert.deepEqual(found("caf&eacute;&nbsp;&#119;eir"), ["caf\u00e9", "weir"]);
  assert.deepEqual(found("AT&T & so on"), ["AT&T", "&", "so", "on"]);
  assert.deepEqual(found(`${"&".repeat(100_000)};`).length, 1);
});

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

function found(text: string): string[] {
  return wordsOf(Buffer.from(wordBytes(Buffer.from(text))).toString());
}
