import assert from "node:assert/strict";
import { test } from "node:test";
import { titleText, visibleText } from "./text.ts";

function title(text: string): string {
  const bytes = Buffer.from(text);
  return titleText(bytes, 0, bytes.length);
}

test("visible text is what a reader sees, block by block", () => {
  const html = `<title>T</title><h1>Big</h1><p>One <b>bo</b>ld &amp; <i>two</i>
    three<script>no()</script><ul><li>a<li>b</ul><textarea>no</textarea>`;
  assert.equal(visibleText(Buffer.from(html), 1000), "Big\nOne bold & two three\na\nb");
  assert.equal(visibleText(Buffer.from(html), 5), "Big\nO");
});

test("titles are one line without controls, at most 512 characters", () => {
  assert.equal(title(" a\n\tb\u0007\u202ec&eacute; "), "a bcé");
  assert.equal(title("\u0001\u0002"), "");
  assert.equal(title("x".repeat(5e6)).length, 512);
  assert.ok(title("💧".repeat(400)).isWellFormed());
});

test("a text of many pieces is put together in linear time", () => {
  assert.equal(visibleText(Buffer.from("<p>word ".repeat(500_000)), 1e6).slice(0, 9), "word\nword");
});
