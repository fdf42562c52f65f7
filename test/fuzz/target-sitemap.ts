/**
 * Sitemaps and feeds. Promises: only absolute URLs of http and https, at most 50,000, with dates and priorities in their
 * ranges, the same however the bytes are cut into pieces.
 */

import assert from "node:assert/strict";
import { below, type Random } from "../../src/base/random.ts";
import { type Sitemap, SitemapReader } from "../../src/fetch/sitemap.ts";
import type { Target } from "./target.ts";

const NOW_MS = Date.UTC(2026, 0, 1);

function check(input: Uint8Array, random: Random): string {
  const whole = read([input]);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < input.length;) {
    const bytes = 1 + below(random, 1 << (2 + below(random, 14)));
    pieces.push(input.subarray(at, at + bytes));
    at += bytes;
  }
  const inPieces = read(pieces);
  assert.deepEqual(inPieces, whole, "in pieces, it differs");
  assert.ok(whole.entries.length <= 50_000);
  for (const { url, modifiedAtMs, priority } of whole.entries) {
    assert.match(url, /^https?:\/\//i);
    assert.ok(url.length <= 2_048);
    assert.ok(priority >= 0 && priority <= 1);
    if (modifiedAtMs !== undefined)
      assert.ok(modifiedAtMs >= Date.UTC(1990) && modifiedAtMs <= NOW_MS + 86_400_000);
  }
  const dates = whole.entries.filter(({ modifiedAtMs }) => modifiedAtMs !== undefined).length;
  return `${whole.kind} ${whole.problem} ${Math.min(9, whole.entries.length)} ${Math.min(3, dates)}`;
}

function read(pieces: readonly Uint8Array[]): Sitemap {
  const reader = new SitemapReader(NOW_MS);
  for (const piece of pieces) if (!reader.push(piece)) break;
  return reader.finish();
}

const NAMES =
  "urlset sitemapindex rss feed url sitemap item entry loc lastmod link pubDate updated priority";

export const SITEMAP: Target = {
  name: "sitemap",
  samples: [
    '<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="x"><url><loc>http://h.example/a&amp;b</loc><lastmod>2025-01-02</lastmod><priority>0.9</priority></url></urlset>',
    "<sm:sitemapindex><sm:sitemap><sm:loc>https://h.example/1.xml</sm:loc></sm:sitemap></sm:sitemapindex>",
    "<rss><channel><item><link>http://h.example/</link><pubDate>Mon, 02 Jan 2025 10:00:00 GMT</pubDate></item></channel></rss>",
    '<feed><entry><link rel="alternate" href="http://h.example/e"/><updated>2025-01-02T03:04:05Z</updated></entry></feed>',
    "http://h.example/1\nhttp://h.example/2\r\n",
    "<urlset><url><loc><![CDATA[http://h.example/c]]></loc></url><!-- c --></urlset>",
  ].map((text) => Buffer.from(text)),
  words: [
    ...NAMES.split(" ").flatMap((name) => [
      `<${name}>`,
      `</${name}>`,
      `<${name} `,
      `<${name}/>`,
      `<x:${name}>`,
    ]),
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<!DOCTYPE x [",
    "<!ENTITY a 'b'>",
    "<?xml encoding='utf-16'?>",
    "<?",
    "?>",
    "&amp;",
    "&#x41;",
    "&#0;",
    "&#1114112;",
    "&lol;",
    "&",
    "http://h.example/",
    "2025-01-02T03:04:05",
    "\n",
    "<",
    ">",
    "href=",
    '"',
    "'",
    " ",
    "\0",
    "\ufeff",
    "1e9",
    "-0.5",
    "é",
    Buffer.from([0xff, 0xfe]),
    Buffer.from([0xe2, 0x82]),
  ],
  inputBytesMax: 128 * 1024,
  inputsPerTest: 8_000,
  check,
};
