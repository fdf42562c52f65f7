import assert from "node:assert/strict";
import { test } from "node:test";
import type { CanonicalUrl } from "../url/url.ts";
import { listLinks } from "./link-list.ts";

const PAGE = "https://example.org/a/" as CanonicalUrl;

test("every link is listed with its words, in page order", () => {
  const html = `<p>Read <a href="b.html">the <b>second</b>
    part</a>, <a rel="nofollow" href="/c">see</a> <iframe src="frame.html"></iframe>
    <a href="b.html">again</a> <a href="mailto:x@example.org">mail</a>`;
  const listed = listLinks(Buffer.from(html), PAGE).map(({ url, text, nofollow }) => {
    return { url, text, nofollow };
  });
  assert.deepEqual(listed, [
    { url: "https://example.org/a/b.html", text: "the second part", nofollow: false },
    { url: "https://example.org/c", text: "see", nofollow: true },
    { url: "https://example.org/a/frame.html", text: "", nofollow: false },
    { url: "https://example.org/a/b.html", text: "again", nofollow: false },
  ]);
});

test("links resolve against the first base, and an anchor left open ends with the page", () => {
  const html = `<a href="x">one <base href="/deep/"><base href="/other/"><a href="y">two`;
  assert.deepEqual(
    listLinks(Buffer.from(html), PAGE).map((link) => [link.url, link.text]),
    [
      ["https://example.org/deep/x", "one"],
      ["https://example.org/deep/y", "two"],
    ],
  );
});
